package catalog

import (
	"cmp"
	"slices"

	"tooldex/internal/flatfile"
	"tooldex/tool"
)

// nearTable finds documents by hashes, of names for example. It lies in an image as it lies in memory.
type nearTable struct {
	hash []uint64 // sorted
	doc  []int32  // of the hash at the same index; of equal hashes sorted
}

// newNearTable makes a table of n documents; hashes returns those of one.
func newNearTable(n int, hashes func(i int) []uint64) nearTable {
	const atOnce = 4096
	type row struct {
		hash uint64
		doc  int32
	}
	var all []row
	each := make([][]uint64, min(n, atOnce))
	for start := 0; start < n; start += atOnce {
		part := each[:min(atOnce, n-start)]
		inParallel(len(part), func() func(i int) { return func(i int) { part[i] = hashes(start + i) } })
		if start == 0 {
			all = make([]row, 0, len(part[0])*n)
		}
		for i, list := range part {
			for _, h := range list {
				all = append(all, row{h, int32(start + i)})
			}
		}
	}
	slices.SortFunc(all, func(a, b row) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.doc, b.doc)) })
	t := nearTable{make([]uint64, len(all)), make([]int32, len(all))}
	for k, r := range all {
		t.hash[k], t.doc[k] = r.hash, r.doc
	}
	return t
}

// find calls fn with the documents of a hash, in order, until it returns false.
func (t *nearTable) find(h uint64, fn func(doc int32) bool) {
	for k, _ := slices.BinarySearch(t.hash, h); k < len(t.hash) && t.hash[k] == h; k++ {
		if !fn(t.doc[k]) {
			return
		}
	}
}

// meeting returns which of n documents have a hash that one of the first most documents before them has, and which are
// among those first ones of others.
func (t *nearTable) meeting(n, most int) (later, first []bool) {
	later, first = make([]bool, n), make([]bool, n)
	for k := 0; k < len(t.hash); {
		end := k + 1
		for end < len(t.hash) && t.hash[end] == t.hash[k] {
			later[t.doc[end]] = true
			end++
		}
		for _, doc := range t.doc[k:min(k+most, end-1)] {
			first[doc] = true
		}
		k = end
	}
	return later, first
}

// nearTables find the tools that a tool may duplicate or copy.
type nearTables struct {
	names nearTable // by the names that are compared
	rows  nearTable // by what stands for their descriptions when copies are looked for
}

// newNearTables makes the tables of tools.
func newNearTables(tools []*tool.Tool) nearTables {
	return nearTables{
		names: newNearTable(len(tools), func(i int) (out []uint64) {
			for _, name := range comparableNames(tools[i]) {
				out = append(out, hashName(name))
			}
			return out
		}),
		rows: newNearTable(len(tools), func(i int) []uint64 { return sketchOf(tools[i]) }),
	}
}

// newSketches returns the table of nearTables.rows for the tools of some entries.
func newSketches(tools []entry) *nearTable {
	t := newNearTable(len(tools), func(i int) []uint64 { return sketchOf(tools[i].tool) })
	return &t
}

// sketchOf returns what stands for the description of a tool when copies are looked for; nil for a short one.
func sketchOf(t *tool.Tool) []uint64 {
	rows, _ := wordRows(t.Description)
	return rows[:min(sketchSize, len(rows))]
}

// hashName returns the hash of a name in a nearTable.
func hashName(name string) uint64 { return hashRow([]string{name}) }

// sections returns the memory of the tables, for an image.
func (t *nearTables) sections() [][]byte {
	return [][]byte{
		flatfile.Bytes(t.names.hash), flatfile.Bytes(t.names.doc), flatfile.Bytes(t.rows.hash), flatfile.Bytes(t.rows.doc),
	}
}

// openNearTables returns the tables whose sections these are. It reads nothing of them.
func openNearTables(sections [][]byte) (t nearTables, err error) {
	for k, into := range []*nearTable{&t.names, &t.rows} {
		if into.hash, err = flatfile.List[uint64](sections[2*k]); err != nil {
			return t, err
		}
		if into.doc, err = flatfile.List[int32](sections[2*k+1]); err != nil {
			return t, err
		}
		if len(into.hash) != len(into.doc) {
			return t, flatfile.ErrForeign
		}
	}
	return t, nil
}

// nearTables returns the tables of the base.
func (l *layering) nearTables() *nearTables {
	if l.near.names.hash == nil {
		l.near = newNearTables(l.base.Set().All())
	}
	return &l.near
}
