package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tooldex/internal/faultfs"
)

// makeBelow opens a store in folders that do not exist, as another process.
func makeBelow(dir string, _ int) error {
	_, err := Open(filepath.Join(dir, "a", "b"), Options{})
	return err
}

// TestPowerLossInNewFolders loses power before each operation by which a store and its folders come to be, and after
// the last: there is nothing, or a sound store, and a sound store when it was acknowledged. A store can be made then.
func TestPowerLossInNewFolders(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	for _, fault := range []faultfs.Fault{faultfs.Power, faultfs.PowerPart} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				p := faultfs.Plan{Dir: folder(t), N: n, Fault: fault, Seed: 1}
				out, err := faultfs.Run(child(t, "make below", p.Dir, 0), p)
				if err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(p.Dir, "a", "b")
				_, err = os.Stat(filepath.Join(dir, FileName))
				switch {
				case err == nil:
					if err := newStore(dir, Options{}).Check(context.Background()); err != nil {
						t.Fatalf("before operation %d, %s: %v", n, out.Op(p), err)
					}
				case !errors.Is(err, os.ErrNotExist) || !out.Killed:
					t.Fatalf("before operation %d, %s: it was acknowledged, and is not there: %v", n, out.Op(p), err)
				}
				write(t, open(t, dir), &Batch{Records: records(0, 1)})
				if !out.Hit {
					if n < 15 {
						t.Errorf("only %d operations", n-1)
					}
					return
				}
			}
		})
	}
}
