package knowledge

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// wordCode is a Huffman code of the words of all archetypes' texts. Texts are short and have words in common rather
// than sentences, so that whole words as symbols take a fifth less room than deflate does, and any text can be read by
// itself. The code is canonical: codes of one length are consecutive, in the order of their words.
type wordCode struct {
	words stringTable // in the order of their codes
	count [maxCodeBits + 1]uint64
}

// maxCodeBits bounds the length of a code. The code of a text of n words has at most 1.44 log2(n) bits.
const maxCodeBits = 48

// errWords is the error for texts or a code that are damaged.
var errWords = errors.New("knowledge: damaged texts")

// wordLength returns the length of the first word of s, which is not empty: letters of a to z with the space before
// them, or any other single character.
func wordLength(s string) int {
	n := 0
	if s[0] == ' ' && len(s) > 1 && isLetter(s[1]) {
		n = 1
	}
	for n < len(s) && isLetter(s[n]) {
		n++
	}
	if n > 0 {
		return n
	}
	_, n = utf8.DecodeRuneInString(s)
	return n
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// eachWord calls f with the words of a text, in order.
func eachWord(text string, f func(string)) {
	for len(text) > 0 {
		n := wordLength(text)
		f(text[:n])
		text = text[n:]
	}
}

// wordCodes assigns a code to each word that occurs in the texts. The same texts give the same codes.
type wordCodes struct {
	sorted  []string // all words
	lengths []byte   // of their codes, in bits
	codes   map[string]uint64
	bits    map[string]byte
}

// newWordCodes returns the code for texts.
func newWordCodes(texts []string) *wordCodes {
	times := map[string]int{}
	for _, text := range texts {
		eachWord(text, func(w string) { times[w]++ })
	}
	c := &wordCodes{sorted: slices.Sorted(maps.Keys(times)), codes: map[string]uint64{}, bits: map[string]byte{}}
	rarest := slices.Clone(c.sorted)
	slices.SortStableFunc(rarest, func(a, b string) int { return cmp.Compare(times[a], times[b]) })
	weights := make([]int, len(rarest))
	for i, w := range rarest {
		weights[i] = times[w]
	}
	for i, n := range huffmanLengths(weights) {
		c.bits[rarest[i]] = n
	}
	for _, w := range c.sorted {
		c.lengths = append(c.lengths, c.bits[w])
	}
	code, last := uint64(0), byte(0)
	for _, i := range codeOrder(c.lengths) {
		code <<= c.lengths[i] - last
		last = c.lengths[i]
		c.codes[c.sorted[i]] = code
		code++
	}
	return c
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

// codeOrder returns the places of sorted words in the order of their codes: by length, then by word.
func codeOrder(lengths []byte) []int {
	order := make([]int, len(lengths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lengths[a], lengths[b]) })
	return order
}

// compile writes the words and the lengths of their codes, from which openWordCode makes the codes again.
func (c *wordCodes) compile() ([]byte, error) {
	words, err := packStrings(c.sorted)
	if err != nil {
		return nil, err
	}
	lengths, err := compressBytes(c.lengths)
	if err != nil {
		return nil, err
	}
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(words))), words...), lengths...), nil
}

// encode writes the number of words of a text, and their codes, the first bits highest.
func (c *wordCodes) encode(text string) []byte {
	n := 0
	eachWord(text, func(string) { n++ })
	out := binary.AppendUvarint(nil, uint64(n))
	var held uint64
	var bits byte
	eachWord(text, func(w string) {
		for left := c.bits[w]; left > 0; {
			take := min(left, 8-bits)
			left -= take
			held = held<<take | c.codes[w]>>left&(1<<take-1)
			if bits += take; bits == 8 {
				out = append(out, byte(held))
				held, bits = 0, 0
			}
		}
	})
	if bits > 0 {
		out = append(out, byte(held<<(8-bits)))
	}
	return out
}

// openWordCode reads what compile wrote.
func openWordCode(b []byte) (*wordCode, error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, errWords
	}
	n := 4 + binary.LittleEndian.Uint32(b)
	sorted, err := unpackStrings(b[4:n])
	if err != nil {
		return nil, err
	}
	lengths, err := decompressBytes(b[n:])
	if err != nil {
		return nil, err
	}
	if len(lengths) != sorted.n || slices.ContainsFunc(lengths, func(l byte) bool { return l > maxCodeBits }) {
		return nil, errWords
	}
	c := new(wordCode)
	words := make([]string, 0, sorted.n)
	for _, i := range codeOrder(lengths) {
		words = append(words, string(sorted.entryAt(i)))
		c.count[lengths[i]]++
	}
	c.words, err = openStringTable(encodeStringTable(words))
	return c, err
}

// decode reads a text that encode wrote.
func (c *wordCode) decode(b []byte) (string, error) {
	n, read := binary.Uvarint(b)
	if read <= 0 || n > uint64(8*len(b)) {
		return "", errWords
	}
	b = b[read:]
	var out strings.Builder
	at := 0 // bits read
	for range n {
		// The codes of a length begin where those of the length before end, with a zero after it.
		var code, first, index uint64
		for bits := 1; ; bits++ {
			if bits > maxCodeBits || at >= 8*len(b) {
				return "", errWords
			}
			code = code<<1 | uint64(b[at/8]>>(7-at%8)&1)
			at++
			if code-first < c.count[bits] {
				out.Write(c.words.entryAt(int(index + code - first)))
				break
			}
			index += c.count[bits]
			first = (first + c.count[bits]) << 1
		}
		if out.Len() > maxUnpacked {
			return "", errWords
		}
	}
	return out.String(), nil
}
