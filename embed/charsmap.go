package embed

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"
)

// charsMap is the table of replacements of a SentencePiece model: a trie in two arrays, laid out as the library
// darts-clone does, and the strings that it points into.
type charsMap struct {
	units []uint32
	texts []byte
}

// parseCharsMap reads a table.
func parseCharsMap(b []byte) (normalizer, error) {
	if len(b) == 0 {
		return func(s string) string { return s }, nil
	}
	if len(b) < 4 {
		return nil, unreadable("tokenizer: a table of characters of %d bytes", len(b))
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n%4 != 0 || n == 0 || n > int64(len(b)-4) {
		return nil, unreadable("tokenizer: a table of characters whose trie has %d of %d bytes", n, len(b))
	}
	m := &charsMap{units: make([]uint32, n/4), texts: b[4+n:]}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(b[4+4*i:])
	}
	return m.normalize, nil
}

// normalize replaces what the table knows: small clusters of characters as one, else each character for itself.
func (m *charsMap) normalize(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for len(s) > 0 {
		n := graphemeLen(s)
		c := s[:n]
		s = s[n:]
		if n < 6 {
			if to, ok := m.findEntry(c); ok {
				out.WriteString(to)
				continue
			}
		}
		for len(c) > 0 {
			_, n := utf8.DecodeRuneInString(c)
			if to, ok := m.findEntry(c[:n]); ok {
				out.WriteString(to)
			} else {
				out.WriteString(c[:n])
			}
			c = c[n:]
		}
	}
	return out.String()
}

// findEntry looks a string up: what the table has for the shortest beginning of it.
func (m *charsMap) findEntry(s string) (string, bool) {
	at := uint32(0)
	unit := m.units[0]
	offset := func(u uint32) uint32 { return (u >> 10) << ((u & (1 << 9)) >> 6) }
	at ^= offset(unit)
	for i := range len(s) {
		if s[i] == 0 {
			return "", false
		}
		at ^= uint32(s[i])
		if int64(at) >= int64(len(m.units)) {
			return "", false
		}
		unit = m.units[at]
		if unit&(1<<31|0xff) != uint32(s[i]) {
			return "", false
		}
		at ^= offset(unit)
		if unit>>8&1 == 1 {
			if int64(at) >= int64(len(m.units)) {
				return "", false
			}
			return m.entryText(m.units[at] & (1<<31 - 1))
		}
	}
	return "", false
}

// entryText is the string that begins at a place and ends with NUL.
func (m *charsMap) entryText(at uint32) (string, bool) {
	if int64(at) >= int64(len(m.texts)) {
		return "", false
	}
	rest := m.texts[at:]
	if end := bytes.IndexByte(rest, 0); end >= 0 {
		rest = rest[:end]
	}
	return string(rest), true
}

// graphemeLen is the length of the first character with the marks that belong to it. Of what else can make a cluster,
// nothing is short enough to be replaced as one, but a line break of two characters.
func graphemeLen(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	first, n := utf8.DecodeRuneInString(s)
	if unicode.IsControl(first) {
		return n
	}
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !unicode.IsMark(r) && r != 0x200c && r != 0x200d && r != 0xe33 && r != 0xeb3 { // joiners, and the vowel am
			break
		}
		n += size
	}
	return n
}
