package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/internal/faultfs"
)

// TestPowerLoss loses power before each operation of a writer, and after its end. What is acknowledged is there and can
// be compared by its arguments, the chain holds, and the next writer continues it. The writers begin in folders that do
// not exist.
func TestPowerLoss(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("runs hundreds of processes")
	}
	const calls = 6
	for _, writer := range []string{synced, late} {
		for _, fault := range []faultfs.Fault{faultfs.Power, faultfs.PowerPart} {
			t.Run(fmt.Sprintf("%s, %s", writer, fault), func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n++ {
					root, err := filepath.EvalSymlinks(t.TempDir())
					if err != nil {
						t.Fatal(err)
					}
					p := faultfs.Plan{Dir: root, N: n, Fault: fault, Seed: 1}
					dir := filepath.Join(root, "data", "audit")
					out, err := faultfs.Run(writerCommand(t, dir, writer, calls), p)
					if err != nil {
						t.Fatal(err)
					}
					acknowledged := bytes.Count(out.Stdout, []byte("\n"))
					if writer == late && (out.Killed || out.Code != 0) {
						acknowledged = 0 // only the end is
					}
					at := fmt.Sprintf("before operation %d, %s", n, out.Op(p))
					checkSurvivors(t, at, dir, acknowledged)
					checkBreaks(t, at, dir, fault)
					fill(t, closing(t, New(Options{Dir: dir})), 1)
					checkBreaks(t, at, dir, fault)
					if !out.Hit {
						if acknowledged != calls || n < 30 {
							t.Errorf("%d calls of %d in %d operations: %s", acknowledged, calls, n, out.Stderr)
						}
						return
					}
					if err := os.RemoveAll(root); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// checkSurvivors requires the last of some acknowledged calls, numbered from zero, and that their arguments are known by
// their hashes.
func checkSurvivors(t *testing.T, at, dir string, acknowledged int) {
	t.Helper()
	key := closing(t, New(Options{Dir: dir}))
	found := -1
	for _, r := range records(t, dir) {
		if r.Kind != Call {
			continue
		}
		for i := range acknowledged {
			if r.Arguments == key.Fingerprint(json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))) {
				found = i
			}
		}
	}
	if found != acknowledged-1 {
		t.Fatalf("%s: %d calls were acknowledged, and the last of them is number %d", at, acknowledged, found+1)
	}
}

// checkBreaks requires that the chain holds. Where a part of what was not synced survives, the head may have survived
// the records that it names: these are missing or spoiled then, and said to be. They were not acknowledged, which
// checkSurvivors has shown.
func checkBreaks(t *testing.T, at, dir string, fault faultfs.Fault) {
	t.Helper()
	report, err := Verify(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range report.Breaks {
		lost := b.Fault == Deleted || b.Fault == Altered || b.Fault == Shortened && !strings.Contains(b.Text, "head file")
		if fault != faultfs.PowerPart || !lost {
			t.Fatalf("%s: %v", at, b)
		}
	}
}
