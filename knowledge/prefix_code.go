package knowledge

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// prefixCode is a Huffman code as it is read. It is canonical: the codes of one length are consecutive numbers, in the
// order of their symbols. So the symbols and the lengths of their codes determine the code.
type prefixCode struct {
	symbols []uint32 // in the order of their codes
	count   []uint32 // of the codes of each length
	short   []uint32 // by the first 64-shift bits: the symbol and the length of its code, or 0 for a longer code
	shift   uint8
}

// maxCodeBits bounds the length of a code. The code of n symbols in all has at most 1.44 log2(n) bits.
const maxCodeBits = 48

// A symbol and the length of its code are kept in one number, the length in the lowest bits.
const (
	lengthBits = 6
	lengthMask = 1<<lengthBits - 1
)

// errCode is the error for texts, lists or a code that are damaged.
var errCode = errors.New("knowledge: damaged code")

// readCode reads a code that codeWriter.appendTo wrote, for symbols below limit, and returns the bytes after it. Codes
// of at most short bits are looked up at once, the others length by length.
func readCode(b []byte, limit int, short uint8) (c prefixCode, rest []byte, err error) {
	n, read := binary.Uvarint(b)
	if read <= 0 || n > uint64(len(b)) {
		return c, nil, errCode
	}
	b = b[read:]
	symbols, next := make([]uint32, n), uint64(0)
	for i := range symbols {
		distance, read := binary.Uvarint(b)
		if read <= 0 || distance >= uint64(limit) || next+distance >= uint64(limit) {
			return c, nil, errCode
		}
		next, b = next+distance+1, b[read:]
		symbols[i] = uint32(next - 1)
	}
	if n > uint64(len(b)) {
		return c, nil, errCode
	}
	lengths := b[:n]
	order, count, ok := codeOrder(lengths)
	if !ok {
		return c, nil, errCode
	}
	if n == 0 {
		short = 1
	}
	c = prefixCode{make([]uint32, n), count, make([]uint32, 1<<short), 64 - short}
	code, last := uint64(0), byte(0)
	for k, i := range order {
		c.symbols[k] = symbols[i]
		code <<= lengths[i] - last
		if last = lengths[i]; last <= short {
			from := code << (short - last)
			for at := range uint64(1) << (short - last) {
				c.short[from+at] = symbols[i]<<lengthBits | uint32(last)
			}
		}
		code++
	}
	return c, b[n:], nil
}

// codeOrder returns the places of symbols in the order of their codes, by length and then by symbol, and how many codes
// have each length. It returns ok false for lengths that cannot form a code, since there are not enough short ones.
func codeOrder(lengths []byte) (order []int, count []uint32, ok bool) {
	for _, n := range lengths {
		if n == 0 || n > maxCodeBits {
			return nil, nil, false
		}
		for int(n) >= len(count) {
			count = append(count, 0)
		}
		count[n]++
	}
	next, free := make([]int, len(count)), uint64(1)
	for n := 1; n < len(count); n++ {
		if free *= 2; free < uint64(count[n]) {
			return nil, nil, false
		}
		free -= uint64(count[n])
		next[n] = next[n-1] + int(count[n-1])
	}
	order = make([]int, len(lengths))
	for i, n := range lengths {
		order[next[n]] = i
		next[n]++
	}
	return order, count, true
}

// read returns the symbol whose code bits begin with, and in the low lengthBits the length of the code: 0 if there is
// none.
func (c *prefixCode) read(bits uint64) uint32 {
	if e := c.short[bits>>(c.shift&63)]; e != 0 {
		return e
	}
	return c.readLong(bits)
}

//go:noinline
func (c *prefixCode) readLong(bits uint64) uint32 {
	// The codes of a length begin where those of the length before end, with a zero after it.
	var first, index uint64
	for n := 1; n < len(c.count); n++ {
		of := uint64(c.count[n])
		if code := bits >> (64 - n); code-first < of {
			return c.symbols[index+code-first]<<lengthBits | uint32(n)
		}
		index += of
		first = (first + of) << 1
	}
	return 0
}

// readAhead is how many bytes must follow texts and lists, so that bitsAt needs no checks. A reader that looks for the
// end after each symbol reads fewer bytes behind it, also where the code is damaged.
const readAhead = 24

// bitsAt returns 57 bits or more of b from bit at, as the highest. Eight bytes of b must begin there.
func bitsAt(b []byte, at int) uint64 { return binary.BigEndian.Uint64(b[at>>3:]) << (at & 7) }

// codeWriter is a Huffman code as it is written.
type codeWriter struct {
	symbols []uint32 // sorted
	lengths []byte   // of their codes
	codes   map[uint32]bitString
}

// bitString is the lowest bits of value.
type bitString struct {
	value uint64
	bits  byte
}

// newCodeWriter returns the code for symbols that occur so many times. The same symbols give the same code.
func newCodeWriter(times map[uint32]int) *codeWriter {
	c := &codeWriter{symbols: slices.Sorted(maps.Keys(times)), codes: map[uint32]bitString{}}
	rarest := slices.Clone(c.symbols)
	slices.SortStableFunc(rarest, func(a, b uint32) int { return cmp.Compare(times[a], times[b]) })
	weights := make([]int, len(rarest))
	for i, s := range rarest {
		weights[i] = times[s]
	}
	for i, n := range huffmanLengths(weights) {
		c.codes[rarest[i]] = bitString{bits: n}
	}
	for _, s := range c.symbols {
		c.lengths = append(c.lengths, c.codes[s].bits)
	}
	order, _, _ := codeOrder(c.lengths)
	code, last := uint64(0), byte(0)
	for _, i := range order {
		code <<= c.lengths[i] - last
		last = c.lengths[i]
		c.codes[c.symbols[i]] = bitString{code, last}
		code++
	}
	return c
}

// appendTo writes the code, for readCode.
func (c *codeWriter) appendTo(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(c.symbols)))
	next := uint32(0)
	for _, s := range c.symbols {
		out = binary.AppendUvarint(out, uint64(s-next))
		next = s + 1
	}
	return append(out, c.lengths...)
}

// huffmanLengths returns the lengths of the codes of symbols whose weights are sorted from the least.
func huffmanLengths(weights []int) []byte {
	n := len(weights)
	if n < 2 {
		return []byte{1}[:n]
	}
	// Nodes after the n leaves join two each. Those are made from the lightest, so both kinds are queues.
	total := append(slices.Clone(weights), make([]int, n-1)...)
	parent := make([]int, 2*n-1)
	leaf, inner := 0, n
	for made := n; made < 2*n-1; made++ {
		for range 2 {
			lightest := inner
			if leaf < n && (inner == made || total[leaf] <= total[inner]) {
				lightest = leaf
				leaf++
			} else {
				inner++
			}
			total[made] += total[lightest]
			parent[lightest] = made
		}
	}
	depth := make([]byte, 2*n-1)
	for i := 2*n - 3; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
	}
	return depth[:n]
}

// bitWriter writes bits, the first highest.
type bitWriter struct {
	out  []byte
	free byte // bits of the last byte that are not written
}

func (w *bitWriter) write(s bitString) {
	for s.bits > 0 {
		if w.free == 0 {
			w.out, w.free = append(w.out, 0), 8
		}
		take := min(s.bits, w.free)
		s.bits -= take
		w.free -= take
		w.out[len(w.out)-1] |= byte(s.value>>s.bits&(1<<take-1)) << w.free
	}
}
