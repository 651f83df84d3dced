package embed

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"
)

// charsMap is the replacement table of a SentencePiece model: a trie in two arrays, laid out as by the library
// darts-clone, and the replacement strings, which end with NUL. It is read-only.
type charsMap struct {
	units []uint32
	texts []byte
}

// parseCharsMap reads a table: the size of the trie in bytes (32 bits, little endian), the trie, and the strings. An
// empty table replaces nothing. The content of the trie is not checked here; lookups check every index instead.
func parseCharsMap(b []byte) (normalizer, error) {
	if len(b) == 0 {
		return func(s string) string { return s }, nil
	}
	if len(b) < 4 {
		return nil, unreadableModel("tokenizer: a table of characters of %d bytes", len(b))
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n%4 != 0 || n == 0 || n > int64(len(b)-4) {
		return nil, unreadableModel("tokenizer: a table of characters whose trie has %d of %d bytes", n, len(b))
	}
	m := &charsMap{units: make([]uint32, n/4), texts: b[4+n:]}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(b[4+4*i:])
	}
	return m.normalizeChars, nil
}

// normalizeChars replaces what the table lists. A character with its marks is looked up as a whole if it has fewer than
// 6 bytes, as SentencePiece does; otherwise, or if it is not listed, each code point is looked up alone.
func (m *charsMap) normalizeChars(s string) string {
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

// findEntry returns the replacement for the shortest prefix of s that the table lists. The bits of a unit: 0-7 are the
// byte that leads to it, 8 says that a value follows, 9 scales the offset by 256, and 10-30 are the offset to its
// children. Bit 31 marks a unit that is a value.
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

// entryText returns the string that begins at a place in texts and ends with NUL or the table.
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

// graphemeLen returns the length in bytes of the first character with the marks that belong to it. It knows only the
// clusters that matter here: of all others, none is short enough to be replaced as one, except CR LF.
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
