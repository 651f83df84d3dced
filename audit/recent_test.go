package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tooldex/tool"
)

// numbersOf returns the Seqs of records.
func numbersOf(records []Record) []uint64 {
	var out []uint64
	for _, r := range records {
		out = append(out, r.Seq)
	}
	return out
}

// TestRecent reads the end of a log of several files, with lines that are no records, and follows it.
func TestRecent(t *testing.T) {
	dir := t.TempDir()
	if got, last, err := Recent(dir, Filter{}, 10, 0); got != nil || last != 0 || err != nil {
		t.Errorf("of nothing: %v, %d, %v", got, last, err)
	}
	l := closing(t, New(Options{Dir: dir, MaxSize: 2000, MaxFiles: 100, Arguments: true}))
	fill(t, l, 60)
	for _, most := range []int{1, 7, 60, 100} {
		got, last, err := Recent(dir, Filter{}, most, 0)
		all := records(t, dir)
		if want := all[len(all)-min(most, 60):]; err != nil || last != 60 || !slices.Equal(numbersOf(got), numbersOf(want)) {
			t.Errorf("the last %d: %v, %d, %v", most, numbersOf(got), last, err)
		}
	}
	// A torn line, and one that is being written.
	numbers, err := listFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	newest := filepath.Join(dir, fileName(numbers[len(numbers)-1]))
	b, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	put(t, newest, append(b, []byte("torn\n{\"seq\":61")...))
	got, last, err := Recent(dir, Filter{}, 2, 0)
	if err != nil || last != 60 || !slices.Equal(numbersOf(got), []uint64{59, 60}) {
		t.Errorf("before a torn line: %v, %d, %v", numbersOf(got), last, err)
	}
	put(t, newest, b)
	got, last, err = Recent(dir, Filter{}, 100, 57)
	if err != nil || last != 60 || !slices.Equal(numbersOf(got), []uint64{58, 59, 60}) {
		t.Errorf("after 57: %v, %d, %v", numbersOf(got), last, err)
	}
	got, last, err = Recent(dir, Filter{Kind: Change}, 100, 57)
	if err != nil || last != 60 || got != nil {
		t.Errorf("of another kind: %v, %d, %v", got, last, err)
	}
}

// TestRecentOfLongLines has lines of more than a block, which are put together from several.
func TestRecentOfLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	var want []string
	for _, n := range []int{0, 1, blockSize - 1, blockSize, blockSize + 1, 3 * blockSize, 5} {
		want = append(want, strings.Repeat("x", n)+"\n")
	}
	put(t, path, []byte(strings.Join(want, "")+"unfinished"))
	var got []string
	stopped, err := eachLineBackward(path, func(text []byte) bool {
		got = append(got, string(text))
		return true
	})
	slices.Reverse(got)
	if err != nil || stopped || !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d; stopped %v, %v", len(got), len(want), stopped, err)
	}
}

func TestFilter(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r := Record{
		Time: at, Kind: Call, Tool: tool.ID("files/read"), Outcome: Failed, Arguments: "abc",
		Who: Who{Client: "editor", Principal: "token ci"},
	}
	for i, c := range []struct {
		f    Filter
		want bool
	}{
		{Filter{}, true},
		{Filter{Since: at, Tool: "files/*", Outcome: Failed, Kind: Call, Client: "editor", Arguments: "abc"}, true},
		{Filter{Client: "token ci"}, true},
		{Filter{Since: at.Add(1)}, false},
		{Filter{Tool: "files"}, false},
		{Filter{Outcome: OK}, false},
		{Filter{Kind: Change}, false},
		{Filter{Client: "other"}, false},
		{Filter{Arguments: "abd"}, false},
		{Filter{Tool: "["}, false},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if c.f.Matches(&r) != c.want {
				t.Errorf("%+v: %v", c.f, !c.want)
			}
		})
	}
	if (&Filter{Tool: "["}).Check() == nil || (&Filter{Tool: "a/*"}).Check() != nil {
		t.Error("patterns are not checked")
	}
}
