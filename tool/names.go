package tool

import (
	"math/bits"
	"strings"
)

// nameTable finds the tools of a set by a key that is made of their names. It is a hash table of positions, which costs
// a fraction of a map of the keys. The zero nameTable finds nothing.
type nameTable struct {
	slots  []uint32                       // position of the first tool of a hash, plus one; 0 where there is none
	next   []uint32                       // by position: that of the next tool of the same hash, plus one
	hashes []uint32                       // of keys, by position
	key    func(dst []byte, i int) []byte // appends the key of a tool
}

// newNameTable returns the table of n tools. It makes each key once.
func newNameTable(n int, key func(dst []byte, i int) []byte) *nameTable {
	t := &nameTable{
		slots: make([]uint32, 1<<bits.Len(uint(2*n))), next: make([]uint32, n), hashes: make([]uint32, n), key: key,
	}
	var own []byte
	for i := n - 1; i >= 0; i-- { // backwards, so that the first comes first
		own = key(own[:0], i)
		t.hashes[i] = hashKey(own)
		slot := t.slotOf(t.hashes[i])
		t.next[i], t.slots[slot] = t.slots[slot], uint32(i+1)
	}
	return t
}

// hashKey returns the FNV-1a hash of a key, folded.
func hashKey(key []byte) uint32 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return uint32(h ^ h>>32)
}

// restoreNameTable returns the table of n tools that has these lists, and false if they have other lengths.
func restoreNameTable(lists [][]uint32, n int, key func(dst []byte, i int) []byte) (*nameTable, bool) {
	t := &nameTable{slots: lists[0], next: lists[1], hashes: lists[2], key: key}
	slots := len(t.slots)
	return t, slots > n && slots&(slots-1) == 0 && len(t.next) == n && len(t.hashes) == n
}

// slotOf returns the slot of a hash, or the free one where it belongs. The lists may come from a file that the disk has
// spoilt, so slotOf and find check every number in them, and visit no more slots or tools than there are.
func (t *nameTable) slotOf(hash uint32) int {
	mask := len(t.slots) - 1
	slot := int(hash) & mask
	for range t.slots {
		at := t.slots[slot]
		if at == 0 || int(at) > len(t.hashes) || t.hashes[at-1] == hash {
			break
		}
		slot = (slot + 1) & mask
	}
	return slot
}

// find returns the positions of the tools of a key, in order.
func (t *nameTable) find(key string) (out []int) {
	var buf []byte
	at := t.slots[t.slotOf(hashKey([]byte(key)))]
	for range t.next {
		if at == 0 || int(at) > len(t.next) {
			break
		}
		if buf = t.key(buf[:0], int(at-1)); string(buf) == key { // other keys may have the same hash
			out = append(out, int(at-1))
		}
		at = t.next[at-1]
	}
	return out
}

// appendFolded appends Fold(s) for a string of valid UTF-8.
func appendFolded(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			dst = append(dst, c)
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
