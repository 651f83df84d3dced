package catalog

import (
	"errors"
	"testing"
)

// TestEachChunk wants parts in their order with what was read for them, and nothing read on after the end.
func TestEachChunk(t *testing.T) {
	entries := make([]entry, 3*buildChunk+7)
	bad := errors.New("bad")
	for _, tt := range []struct {
		name              string
		n, failRead, fail int // the place of the entry at which reading or working fails; -1 for none
		parts             int // that are worked on
	}{
		{"nothing", 0, -1, -1, 0},
		{"less than a part", 5, -1, -1, 1},
		{"several parts", len(entries), -1, -1, 4},
		{"the first read fails", len(entries), 0, -1, 0},
		{"a later read fails", len(entries), 2 * buildChunk, -1, 2},
		{"the work fails", len(entries), -1, buildChunk, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var made []*derived
			running, read := false, 0
			from := func(part []entry) (*derived, error) {
				running = true
				defer func() { running = false }()
				if read == tt.failRead {
					return nil, bad
				}
				read += len(part)
				made = append(made, newDerived())
				return made[len(made)-1], nil
			}
			var starts []int
			var got []*derived
			err := eachChunk(entries[:tt.n], from, func(start int, part []entry, have *derived) error {
				starts, got = append(starts, start), append(got, have)
				if start == tt.fail {
					return bad
				}
				return nil
			})
			if failed := tt.fail >= 0 || tt.failRead >= 0; (err != nil) != failed || failed && !errors.Is(err, bad) {
				t.Errorf("error %v", err)
			}
			if running {
				t.Error("it still reads")
			}
			if len(starts) != tt.parts {
				t.Errorf("parts begin at %v, want %d of them", starts, tt.parts)
			}
			for i, start := range starts {
				if start != i*buildChunk || got[i] != made[i] {
					t.Errorf("part %d begins at %d, and has what was read for another: %v", i, start, got[i] != made[i])
				}
			}
		})
	}
}
