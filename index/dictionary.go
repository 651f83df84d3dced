package index

import "math/bits"

// dictionary numbers terms from 0. It is a hash table over flat arrays, so that it can be used where it lies in a file.
type dictionary struct {
	at    []uint32 // of text, by number; one more than there are terms
	text  []byte
	slots []uint32 // a number plus one, and 0 where there is none; a power of two of them
}

// newDictionary returns the dictionary of terms that are numbered from 0.
func newDictionary(terms map[string]int32) dictionary {
	d := dictionary{at: make([]uint32, len(terms)+1), slots: make([]uint32, 1<<bits.Len(uint(2*len(terms))))}
	byNumber, size := make([]string, len(terms)), 0
	for t, id := range terms {
		byNumber[id] = t
		size += len(t)
	}
	d.text = make([]byte, 0, size)
	for id, t := range byNumber {
		d.text = append(d.text, t...)
		d.at[id+1] = uint32(len(d.text))
		slot := d.firstSlot(t)
		for d.slots[slot] != 0 {
			slot = d.nextSlot(slot)
		}
		d.slots[slot] = uint32(id + 1)
	}
	return d
}

// find returns the number of a term.
func (d *dictionary) find(term string) (int, bool) {
	if len(d.slots) == 0 {
		return 0, false
	}
	for slot := d.firstSlot(term); d.slots[slot] != 0; slot = d.nextSlot(slot) {
		id := int(d.slots[slot] - 1)
		if string(d.text[d.at[id]:d.at[id+1]]) == term {
			return id, true
		}
	}
	return 0, false
}

// firstSlot returns where the search for a term begins, by its FNV-1a hash.
func (d *dictionary) firstSlot(term string) uint32 {
	h := uint32(2166136261)
	for i := range len(term) {
		h = (h ^ uint32(term[i])) * 16777619
	}
	return (h ^ h>>15) & uint32(len(d.slots)-1)
}

func (d *dictionary) nextSlot(slot uint32) uint32 { return (slot + 1) & uint32(len(d.slots)-1) }
