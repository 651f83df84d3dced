package embed

import (
	"iter"
	"math/bits"
	"unicode/utf8"
)

// maxTokens bounds the rows that one text is read for. A sum of that many rows at full weight fits 32 bits.
const maxTokens = 256

// tokenBag is the rows of one text, in order. Numbers fit 16 bits, since maxRows does.
type tokenBag struct {
	rows [maxTokens]uint16
	n    int
}

// addRow drops the row if the bag is full.
func (g *tokenBag) addRow(row uint32) {
	if g.n < maxTokens {
		g.rows[g.n] = uint16(row)
		g.n++
	}
}

// readText fills g with the first limit rows that spell text.
func (s *Static) readText(g *tokenBag, text string, limit int) {
	g.n = 0
	sc := scanner{text: text}
	for g.n < limit && sc.nextRun() {
		s.readRun(g, &sc)
	}
	g.n = min(g.n, limit)
}

// readRun appends the rows of one run: the whole of it if it is a known word, else the parts of a camel-case name, else
// letters apart from digits, else pieces. The order prefers the longest meaning: "github" as a word, then "Git" and
// "Hub", then pieces.
func (s *Static) readRun(g *tokenBag, sc *scanner) {
	b := sc.buf[:sc.n]
	if sc.dense {
		s.addPieces(g, b, true)
		return
	}
	// the masks lose the bits of what was trimmed
	b = trimMarks(b)
	shift := sc.n - len(b)
	if s.addWord(g, b) {
		return
	}
	s.addParts(g, b, sc.camel>>shift, sc.digits>>shift)
}

// addParts cuts b at the camel boundaries, and each part that is unknown at its digit boundaries. Bit i of a mask
// stands for a boundary before b[i]; the masks are shifted along with b.
func (s *Static) addParts(g *tokenBag, b []byte, camel, digits uint64) {
	if camel|digits == 0 {
		s.addPieces(g, b, false)
		return
	}
	cuts := camel
	if cuts == 0 {
		cuts = digits
	}
	for len(b) > 0 {
		end := len(b)
		if next := cuts &^ 1; next != 0 {
			end = min(end, bits.TrailingZeros64(next))
		}
		if !s.addWord(g, b[:end]) {
			inner := digits &^ 1
			// inside a part that was cut at digits, there are none left to cut at
			if camel == 0 {
				inner = 0
			}
			inner &= 1<<min(end, 63) - 1
			s.addParts(g, b[:end], 0, inner)
		}
		b = b[end:]
		cuts, digits = cuts>>end, digits>>end
	}
}

// trimMarks removes the Arabic article from a word with at least three more letters; dictionaries list words without
// it.
func trimMarks(b []byte) []byte {
	const article = "ال"
	if len(b) >= len(article)+6 && string(b[:len(article)]) == article {
		return b[len(article):]
	}
	return b
}

// addWord appends the row of b if b is a word of the table.
func (s *Static) addWord(g *tokenBag, b []byte) bool {
	if len(b) > maxPiece {
		return false
	}
	row, ok := s.findRow(hashBytes(hashBasis, b), 0, b)
	if ok {
		g.addRow(row)
	}
	return ok
}

// addPieces spells b by the longest pieces from the left. After the first, pieces that continue a word are preferred to
// words of the same length; where words are not spaced (dense), every piece is a word. A character without a piece gets
// one of the buckets, by its hash.
func (s *Static) addPieces(g *tokenBag, b []byte, dense bool) {
	for first := true; len(b) > 0; first = false {
		n, row := s.nextPiece(b, first || dense)
		if n == 0 {
			_, n = utf8.DecodeRune(b)
			_, tag := slotOf(hashBytes(hashBasis, b[:n]))
			// characters that share a bucket share a row, which is rarely noticed
			row = uint32(s.count) - s.buckets + tag%s.buckets
		}
		g.addRow(row)
		b = b[n:]
	}
}

// nextPiece returns the length and row of the longest piece that b begins with; n is 0 if there is none. word is true
// where only pieces that are words count.
func (s *Static) nextPiece(b []byte, word bool) (n int, row uint32) {
	n, row = s.longestPiece(b, 0)
	if !word {
		if m, r := s.longestPiece(b, continues); m > 0 && m >= n {
			return m, r
		}
	}
	return n, row
}

// longestPiece returns the longest prefix of b that is in the table behind lead, and its row. It extends one hash, so
// each length costs one step.
func (s *Static) longestPiece(b []byte, lead byte) (n int, row uint32) {
	h := uint32(hashBasis)
	if lead != 0 {
		h = (h ^ uint32(lead)) * hashPrime
	}
	for i := 0; i < len(b) && i < maxPiece-1; {
		_, size := utf8.DecodeRune(b[i:])
		for _, c := range b[i : i+size] {
			h = (h ^ uint32(c)) * hashPrime
		}
		i += size
		if r, ok := s.findRow(h, lead, b[:i]); ok {
			n, row = i, r
		}
	}
	return n, row
}

// AppendTokens appends to dst the rows that spell text, limit of them at most, and returns the extended slice. Queries
// are read with limit 128, and the fields of a document with 24, 96 and 64; more than 256 are never read.
func (s *Static) AppendTokens(dst []int32, text string, limit int) []int32 {
	var g tokenBag
	s.readText(&g, text, min(limit, maxTokens))
	for _, r := range g.rows[:g.n] {
		dst = append(dst, int32(r))
	}
	return dst
}

// Words yields the words of a text as a vocabulary should list them: normalised, with the parts of names apart, and the
// runs of scripts that do not space words whole, marked by dense. The bytes are valid until the next word is asked for.
func Words(text string) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		sc := scanner{text: text}
		for sc.nextRun() {
			b := sc.buf[:sc.n]
			if sc.dense {
				if !yield(b, true) {
					return
				}
				continue
			}
			bared := trimMarks(b)
			cuts := sc.camel >> (len(b) - len(bared))
			b = bared
			for len(b) > 0 {
				end := len(b)
				if next := cuts &^ 1; next != 0 {
					end = min(end, bits.TrailingZeros64(next))
				}
				if !yield(b[:end], false) {
					return
				}
				b, cuts = b[end:], cuts>>end
			}
		}
	}
}

// AppendSpelling appends the rows of the pieces that would spell a word of the table if it were none, for training
// them.
func (s *Static) AppendSpelling(dst []int32, word string) []int32 {
	var g tokenBag
	sc := scanner{text: word}
	if sc.nextRun(); sc.n < 2 {
		return dst
	}
	b := sc.buf[:sc.n]
	n, row := s.longestPiece(b[:len(b)-1], 0)
	if n == 0 {
		return dst
	}
	g.addRow(row)
	for b = b[n:]; len(b) > 0; b = b[n:] {
		if n, row = s.nextPiece(b, false); n == 0 {
			return dst
		}
		g.addRow(row)
	}
	for _, r := range g.rows[:g.n] {
		dst = append(dst, int32(r))
	}
	return dst
}
