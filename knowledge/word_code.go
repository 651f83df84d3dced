package knowledge

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// wordCode is a code of the words of all archetypes' texts, in which whole words are symbols. The word after one of the
// commonest words is in a Huffman code of its own, since after "pull" comes "request". Each text can be read by itself.
type wordCode struct {
	words stringTable // sorted
	after []prefixCode
	codes []uint16 // of each word, the code in after for what follows it
	rest  prefixCode
}

// A code of after has the words that follow often, and an escape for all others, whose codes are in rest. The symbol of
// the escape is the number of words. The first code is for the beginning of a text, and for what follows a rarer word.
const (
	commonWords = 500 // words with a code of their own for what follows
	oftenAfter  = 5   // times that a word must follow to have a place in it
)

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

// wordCodes is a wordCode as it is written. The same texts give the same codes.
type wordCodes struct {
	sorted []string // all words
	places map[string]uint32
	common []uint32 // sorted; code 1+i of after is for what follows word i of them
	after  []*codeWriter
	rest   *codeWriter
}

// newWordCodes returns the code for texts.
func newWordCodes(texts []string) *wordCodes {
	times := map[string]int{}
	for _, text := range texts {
		eachWord(text, func(w string) { times[w]++ })
	}
	c := &wordCodes{sorted: slices.Sorted(maps.Keys(times)), places: map[string]uint32{}}
	for i, w := range c.sorted {
		c.places[w] = uint32(i)
		c.common = append(c.common, uint32(i))
	}
	slices.SortStableFunc(c.common, func(a, b uint32) int {
		return cmp.Compare(times[c.sorted[b]], times[c.sorted[a]])
	})
	c.common = c.common[:min(commonWords, len(c.common))]
	slices.Sort(c.common)
	following := make([]map[uint32]int, 1+len(c.common))
	for k := range following {
		following[k] = map[uint32]int{}
	}
	for _, text := range texts {
		c.eachPlace(text, func(code int, place uint32) { following[code][place]++ })
	}
	rest := map[uint32]int{}
	for _, m := range following {
		escapes := 1
		for place, n := range m {
			if n < oftenAfter {
				rest[place] += n
				escapes += n
				delete(m, place)
			}
		}
		m[c.escape()] = escapes
		c.after = append(c.after, newCodeWriter(m))
	}
	c.rest = newCodeWriter(rest)
	return c
}

// escape returns the symbol that is followed by one of rest.
func (c *wordCodes) escape() uint32 { return uint32(len(c.sorted)) }

// eachPlace calls f with the places of the words of a text and the code in after that each is written in.
func (c *wordCodes) eachPlace(text string, f func(code int, place uint32)) {
	code := 0
	eachWord(text, func(w string) {
		place := c.places[w]
		f(code, place)
		code = 0
		if at, ok := slices.BinarySearch(c.common, place); ok {
			code = 1 + at
		}
	})
}

// compile writes what openWordCode reads.
func (c *wordCodes) compile() ([]byte, error) {
	words, err := packStrings(c.sorted)
	if err != nil {
		return nil, err
	}
	codes := binary.AppendUvarint(nil, uint64(len(c.common)))
	for _, place := range c.common {
		codes = binary.AppendUvarint(codes, uint64(place))
	}
	for _, code := range append(c.after, c.rest) {
		codes = code.appendTo(codes)
	}
	if codes, err = compressBytes(codes); err != nil {
		return nil, err
	}
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(words))), words...), codes...), nil
}

// encode writes the number of words of a text, and their codes.
func (c *wordCodes) encode(text string) []byte {
	n := 0
	eachWord(text, func(string) { n++ })
	w := bitWriter{out: binary.AppendUvarint(nil, uint64(n))}
	c.eachPlace(text, func(code int, place uint32) {
		if s, ok := c.after[code].codes[place]; ok {
			w.write(s)
			return
		}
		w.write(c.after[code].codes[c.escape()])
		w.write(c.rest.codes[place])
	})
	return w.out
}

// openWordCode reads what compile wrote.
func openWordCode(b []byte) (*wordCode, error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, errCode
	}
	at := 4 + binary.LittleEndian.Uint32(b)
	words, err := unpackStrings(b[4:at])
	if err != nil {
		return nil, err
	}
	codes, err := decompressBytes(b[at:])
	if err != nil {
		return nil, err
	}
	common, read := binary.Uvarint(codes)
	if read <= 0 || common > uint64(min(words.n, math.MaxUint16)) {
		return nil, errCode
	}
	codes = codes[read:]
	c := &wordCode{words: words, codes: make([]uint16, words.n), after: make([]prefixCode, 1+common)}
	for k := range common {
		place, read := binary.Uvarint(codes)
		if read <= 0 || place >= uint64(words.n) {
			return nil, errCode
		}
		c.codes[place], codes = uint16(1+k), codes[read:]
	}
	const short, shortRest = 5, 10
	for k := range c.after {
		if c.after[k], codes, err = readCode(codes, words.n+1, short); err != nil {
			return nil, fmt.Errorf("code %d: %w", k, err)
		}
	}
	c.rest, _, err = readCode(codes, words.n, shortRest)
	return c, err
}

// decode reads a text that encode wrote.
func (c *wordCode) decode(b []byte) (string, error) {
	n, read := binary.Uvarint(b)
	if read <= 0 || n > uint64(8*len(b)) {
		return "", errCode
	}
	b = b[read:]
	end := 8 * len(b)
	b = append(slices.Clip(b), make([]byte, readAhead)...)
	var out strings.Builder
	at, code := 0, uint16(0) // bits read, and the code that the next word is in
	for range n {
		e := c.after[code].read(bitsAt(b, at))
		at += int(e & lengthMask)
		if e>>lengthBits == uint32(c.words.n) && e > 0 {
			e = c.rest.read(bitsAt(b, at))
			at += int(e & lengthMask)
		}
		if e == 0 || at > end || out.Len() > maxUnpacked {
			return "", errCode
		}
		out.Write(c.words.entryAt(int(e >> lengthBits)))
		code = c.codes[e>>lengthBits]
	}
	return out.String(), nil
}
