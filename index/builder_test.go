package index

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tooldex/internal/flatfile"
	"tooldex/tool"
)

// TestBuilderInFiles compares an image whose long lists never were in memory with one that was made there, to the bit:
// with many small parts of postings, documents without a vector, copies, and duplicates that are known only at the end.
func TestBuilderInFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, in one goroutine")
	}
	for _, n := range []int{0, 1, 700, leastCoarse} {
		docs, groups, copies := randomDocs(5, n, 64), make([]int32, n), make([]bool, n)
		for i := range docs {
			docs[i].Class = uint8(i % 3)
			docs[i].Landmarks = []Landmark{{Point: int32(i % 11), Like: .5}, {Point: int32(i % 7), Like: .25, Lent: 1}}[:i%3]
			if i%10 < 2 {
				docs[i].Vector = nil
			}
			groups[i], copies[i] = int32(i/2%5), i%9 == 0
		}
		path := filepath.Join(t.TempDir(), "image")
		var l Lengths
		for i := range docs {
			l.Add(&docs[i])
		}
		b, err := NewBuilder(setOf(n), l, Options{Model: "m"}, path)
		if err != nil {
			t.Fatal(err)
		}
		b.atOnce = max(1, uint32(l.marks/3)) // several rounds of postings and of landmarks
		for i := range docs {
			if err := b.Add(&docs[i]); err != nil {
				t.Fatal(err)
			}
		}
		b.MarkDuplicates(groups, copies)
		sections, err := b.Image()
		if err != nil {
			t.Fatal(err)
		}
		if err := flatfile.Write(path, nil, sections); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("%d files are left, %v", len(left), err)
		}
		for i := range docs {
			docs[i].DuplicateGroup, docs[i].Copy = groups[i], copies[i]
		}
		want, err := build(t, docs, Options{Model: "m"}).Image()
		if err != nil {
			t.Fatal(err)
		}
		got, err := flatfile.Open(path, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if !bytes.Equal(want[i], got[i]) {
				t.Errorf("%d documents: section %d differs", n, i)
			}
		}
	}
}

// TestBuilderCounts refuses more and fewer documents than there are tools, and a folder that cannot be written to.
func TestBuilderCounts(t *testing.T) {
	b, err := NewBuilder(setOf(2), Lengths{}, Options{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add(&Doc{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Snapshot(); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("one document too few: %v", err)
	}
	if err := b.Add(&Doc{}); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(&Doc{}); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("one document too many: %v", err)
	}
	if _, err := NewBuilder(setOf(2), Lengths{}, Options{}, filepath.Join(t.TempDir(), "none", "image")); err == nil {
		t.Error("a folder that is not there was written to")
	}
}
