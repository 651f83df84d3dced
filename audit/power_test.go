package audit

import (
	"bytes"
	"path/filepath"
	"testing"

	"tooldex/internal/faultfs"
)

// TestPowerLoss loses power before each operation of a writer that brings each record to the disk, and after its end:
// the acknowledged records are there, and the chain holds.
func TestPowerLoss(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("runs a hundred processes")
	}
	const calls = 6
	for n := 1; ; n++ {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		p := faultfs.Plan{Dir: dir, N: n, Fault: faultfs.Power}
		out, err := faultfs.Run(writerCommand(t, dir, synced, calls), p)
		if err != nil {
			t.Fatal(err)
		}
		acknowledged := bytes.Count(out.Stdout, []byte("\n"))
		if got := len(records(t, dir)); got < acknowledged {
			t.Fatalf("before operation %d, %s: %d records are there, %d were acknowledged", n, out.Op(p), got, acknowledged)
		}
		verified(t, dir)
		fill(t, closing(t, New(Options{Dir: dir})), 1)
		verified(t, dir)
		if !out.Hit {
			if acknowledged != calls || n < 30 {
				t.Errorf("%d calls of %d in %d operations: %s", acknowledged, calls, n, out.Stderr)
			}
			return
		}
	}
}
