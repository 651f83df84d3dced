package tool

import (
	"math/bits"
	"strings"
)

// nameTable finds the tools of a set by a key that is made of their names. It is a hash table of positions, which costs
// a fraction of a map of the keys. The zero nameTable finds nothing.
type nameTable struct {
	slots []int32                        // position of the first tool of a key, plus one; 0 where there is none
	next  []int32                        // by position: that of the next tool of the same key, plus one
	key   func(dst []byte, i int) []byte // appends the key of a tool
}

// newNameTable returns the table of n tools.
func newNameTable(n int, key func(dst []byte, i int) []byte) *nameTable {
	t := &nameTable{slots: make([]int32, 1<<bits.Len(uint(2*n))), next: make([]int32, n), key: key}
	var own, other []byte
	for i := n - 1; i >= 0; i-- { // backwards, so that the first comes first
		own = key(own[:0], i)
		slot := t.slotOf(own, &other)
		t.next[i], t.slots[slot] = t.slots[slot], int32(i+1)
	}
	return t
}

// slotOf returns the slot of a key, or the free one where it belongs.
func (t *nameTable) slotOf(key []byte, buf *[]byte) int {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	mask := len(t.slots) - 1
	slot := int(h^h>>32) & mask
	for ; t.slots[slot] != 0; slot = (slot + 1) & mask {
		*buf = t.key((*buf)[:0], int(t.slots[slot]-1))
		if string(*buf) == string(key) {
			break
		}
	}
	return slot
}

// find returns the positions of the tools of a key, in order.
func (t *nameTable) find(key string) (out []int) {
	var buf []byte
	for at := t.slots[t.slotOf([]byte(key), &buf)]; at != 0; at = t.next[at-1] {
		out = append(out, int(at-1))
	}
	return out
}

// appendFolded appends Fold(s) for a string of valid UTF-8.
func appendFolded(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		case strings.IndexByte(foldedAway, c) < 0:
			dst = append(dst, c)
		}
	}
	return dst
}

// compareID compares the ID of t with id, as strings.Compare does, without making it.
func (t *Tool) compareID(id string) int {
	n := min(len(t.Server), len(id))
	if c := strings.Compare(t.Server[:n], id[:n]); c != 0 {
		return c
	}
	switch {
	case n == len(id):
		return 1 // the slash and the name follow
	case id[n] != '/':
		return int('/') - int(id[n])
	}
	return strings.Compare(t.Name, id[n+1:])
}

// compareTools orders tools by their IDs.
func compareTools(a, b *Tool) int {
	if a.Server == b.Server {
		return strings.Compare(a.Name, b.Name)
	}
	return a.compareID(string(b.ID()))
}
