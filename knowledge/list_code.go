package knowledge

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
)

// entry is what the list of a stem has for an archetype: how much the stem adds to its score, and how often its
// requests and synonyms have the stem.
type entry struct {
	archetype     int32
	impact, times uint8
}

// wordLists holds the list of each stem in Huffman codes. Lists are divided into classes by their lengths, and each
// class has codes of its own, because in a long list archetypes lie close together and impacts are small.
//
// A list begins at a full byte, with its class. Each entry has the number of bits of the distance from the archetype
// before, then these bits without the highest, then the impact with the times. The number 0 ends the list.
type wordLists struct {
	stems    stringTable // sorted
	lists    stringTable // of each stem
	classes  prefixCode
	distance []prefixCode               // by class
	weight   []prefixCode               // by class: the impact, and in the lowest timesBits how often
	kept     []atomic.Pointer[[]uint32] // of each stem that was asked for, what impacts returns
}

const (
	timesBits    = 4
	manyTimes    = 1<<timesBits - 1 // the times follow in a byte of their own
	numClasses   = 32               // the class of a list is the number of bits of its length
	numDistances = 32               // so has an archetype fewer than 32
	numWeights   = 1 << (8 + timesBits)
)

// weightOf returns the symbol of an entry in wordLists.weight.
func weightOf(e entry) uint32 { return uint32(e.impact)<<timesBits | uint32(min(e.times, manyTimes)) }

// encodeLists writes lists for openLists: the codes, the lengths of the lists, and the lists.
func encodeLists(lists [][]entry) []byte {
	classes := map[uint32]int{}
	var distances, weights [numClasses]map[uint32]int
	for class := range numClasses {
		distances[class], weights[class] = map[uint32]int{}, map[uint32]int{}
	}
	for _, list := range lists {
		class, last := bits.Len(uint(len(list))), int32(-1)
		classes[uint32(class)]++
		distances[class][0]++
		for _, e := range list {
			distances[class][uint32(bits.Len(uint(e.archetype-last)))]++
			weights[class][weightOf(e)]++
			last = e.archetype
		}
	}
	codes := newCodeWriter(classes)
	var distance, weight [numClasses]*codeWriter
	head := codes.appendTo(nil)
	for class := range numClasses {
		distance[class], weight[class] = newCodeWriter(distances[class]), newCodeWriter(weights[class])
		head = weight[class].appendTo(distance[class].appendTo(head))
	}
	var data []byte
	for _, list := range lists {
		class, last := bits.Len(uint(len(list))), int32(-1)
		var w bitWriter
		w.write(codes.codes[uint32(class)])
		for _, e := range list {
			n := bits.Len(uint(e.archetype - last))
			w.write(distance[class].codes[uint32(n)])
			w.write(bitString{uint64(e.archetype - last), byte(n - 1)})
			w.write(weight[class].codes[weightOf(e)])
			if e.times >= manyTimes {
				w.write(bitString{uint64(e.times), 8})
			}
			last = e.archetype
		}
		w.write(distance[class].codes[0])
		head = binary.AppendUvarint(head, uint64(len(w.out)))
		data = append(data, w.out...)
	}
	out := append(binary.LittleEndian.AppendUint32(nil, uint32(len(head))), head...)
	return append(append(out, data...), make([]byte, readAhead)...)
}

// openLists reads what encodeLists wrote, and the stems. The lists share memory with b.
func openLists(stems, b []byte) (*wordLists, error) {
	if len(b) < 4+readAhead || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4-readAhead) {
		return nil, errShort
	}
	l := new(wordLists)
	var err error
	if l.stems, err = unpackStrings(stems); err != nil {
		return nil, err
	}
	l.stems.countPrefixes()
	at := 4 + binary.LittleEndian.Uint32(b)
	head := b[4:at]
	const shortClass, shortDistance, shortWeight = 4, 6, 10
	if l.classes, head, err = readCode(head, numClasses, shortClass); err != nil {
		return nil, err
	}
	l.distance, l.weight = make([]prefixCode, numClasses), make([]prefixCode, numClasses)
	for class := range numClasses {
		if l.distance[class], head, err = readCode(head, numDistances, shortDistance); err != nil {
			return nil, err
		}
		if l.weight[class], head, err = readCode(head, numWeights, shortWeight); err != nil {
			return nil, err
		}
	}
	l.lists = stringTable{offs: make([]byte, 4, 4+4*len(head)), data: b[at:]}
	for end := uint64(0); len(head) > 0; l.lists.n++ {
		n, read := binary.Uvarint(head)
		if end += n; read <= 0 || n > math.MaxInt32 || end > uint64(len(l.lists.data)-readAhead) {
			return nil, errShort
		}
		l.lists.offs = binary.LittleEndian.AppendUint32(l.lists.offs, uint32(end))
		head = head[read:]
	}
	if l.lists.n != l.stems.n {
		return nil, errShort
	}
	l.kept = make([]atomic.Pointer[[]uint32], l.stems.n)
	return l, nil
}

// impacts returns the archetypes below limit that have a stem, each with the impact in its lowest 8 bits. It remembers
// what it returns, since requests have many stems in common. All lists together then take four bytes an entry.
func (l *wordLists) impacts(stem string, limit int) []uint32 {
	k, ok := l.stems.indexOf(stem)
	if !ok {
		return nil
	}
	if kept := l.kept[k].Load(); kept != nil {
		return *kept
	}
	var out []uint32
	var buf [64]entry
	list := l.read(k)
	for some := list.next(buf[:]); len(some) > 0; some = list.next(buf[:]) {
		for _, e := range some {
			if int(e.archetype) < limit {
				out = append(out, uint32(e.archetype)<<8|uint32(e.impact))
			}
		}
	}
	out = slices.Clone(out) // without room for more
	l.kept[k].Store(&out)
	return out
}

// listReader reads one list. It ends where the list is damaged.
type listReader struct {
	distance, weight *prefixCode
	bytes            []byte
	at, end          int // bits
	archetype        int // of the entry before
}

// of returns a reader of the list of a stem, which has no entries for one that is not known.
func (l *wordLists) of(stem string) listReader {
	k, ok := l.stems.indexOf(stem)
	if !ok {
		return listReader{}
	}
	return l.read(k)
}

// read returns a reader of list k.
func (l *wordLists) read(k int) listReader {
	from, to := l.lists.bounds(k)
	bytes := l.lists.data[from:]
	class := l.classes.read(bitsAt(bytes, 0))
	if class == 0 || from == to {
		return listReader{}
	}
	return listReader{
		distance: &l.distance[class>>lengthBits], weight: &l.weight[class>>lengthBits],
		bytes: bytes, at: int(class & lengthMask), end: 8 * int(to-from), archetype: -1,
	}
}

// next reads the next entries into buf, as many as it takes, and returns those: none behind the last.
func (r *listReader) next(buf []entry) []entry {
	at, archetype := r.at, r.archetype
	for i := range buf {
		if at >= r.end {
			r.end = 0
			return buf[:i]
		}
		ahead := bitsAt(r.bytes, at)
		code := r.distance.read(ahead)
		n, width := code&lengthMask, code>>lengthBits
		archetype += int(1<<(width-1) | ahead<<n>>1>>(64-width))
		at += int(n + width - 1)
		if width == 0 || archetype > math.MaxInt32 {
			r.end = 0
			return buf[:i]
		}
		ahead = bitsAt(r.bytes, at)
		if code = r.weight.read(ahead); code == 0 {
			r.end = 0
			return buf[:i]
		}
		n, code = code&lengthMask, code>>lengthBits
		times := uint8(code & manyTimes)
		if times == manyTimes {
			times = uint8(ahead << n >> 56)
			n += 8
		}
		at += int(n)
		buf[i] = entry{int32(archetype), uint8(code >> timesBits), times}
	}
	r.at, r.archetype = at, archetype
	return buf
}
