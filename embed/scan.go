package embed

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxRun bounds the bytes of one run; a longer one is read as several. It is 64 so that camel and digits, with a bit
// for each byte, fit a word.
const maxRun = 64

// scanner cuts text into runs: maximal stretches of letters and digits, normalised. It allocates nothing. The zero
// value with text set is ready; next moves on, and the fields from buf on describe the current run.
//
// Normalisation decomposes by compatibility (full-width forms, ligatures), lowers case and drops marks above and below
// letters where they distinguish little: accents of Latin, Greek and Cyrillic, vowel points of Arabic and Hebrew, the
// nukta. Vowel signs of Indic scripts stay. That й becomes и does no harm, because rows are learned from text that
// was normalised in the same way.
type scanner struct {
	text string
	at   int

	// buf has room for one more character, so that the bound is checked before and not within a character.
	buf    [maxRun + utf8.UTFMax]byte
	n      int
	camel  uint64 // bit i: a case boundary lies before buf[i]
	digits uint64 // bit i: a letter meets a digit before buf[i]
	dense  bool   // the run is of a script without spaces between words
}

// class is what a normalised rune means to the scanner.
type class uint8

const (
	gap     class = iota // separates runs
	drop                 // leaves no trace and separates nothing
	letter               // of a script that spaces its words
	digit                // any decimal digit
	compact              // of a script without spaces between words
)

// nextRun reads the next run into s.buf[:s.n] and reports whether there is one. The bytes are valid until it is called
// again. ASCII takes a short way through tables; other runes go through wide. A run ends at a gap, where dense and
// spaced scripts meet, or at maxRun bytes.
func (s *scanner) nextRun() bool {
	s.n, s.camel, s.digits, s.dense = 0, 0, 0, false
	var last shape
	for s.at < len(s.text) {
		c := s.text[s.at]
		if c < utf8.RuneSelf {
			sh := asciiShape[c]
			if sh == shapeGap {
				if s.n > 0 {
					return true
				}
				s.at++
				continue
			}
			if s.n > 0 && s.dense || s.n >= maxRun {
				return true
			}
			s.dense = false // a voice mark that stood alone left no trace
			s.markBoundary(last, sh)
			s.buf[s.n] = c | asciiLower[c]
			s.n++
			s.at++
			last = sh
			continue
		}
		more, sh := s.readWideRune(last)
		if !more {
			return true
		}
		last = sh
	}
	return s.n > 0
}

// shape is the kind of a rune that decides boundaries inside a run.
type shape uint8

const (
	shapeGap shape = iota
	shapeLower
	shapeUpper
	shapeDigit
)

// markBoundary marks a place where a part of a name begins at the end of the run: fooBar, HTTPServer, page2.
func (s *scanner) markBoundary(last, now shape) {
	if s.n == 0 {
		return
	}
	bit := uint64(1) << (s.n & 63)
	switch {
	case last == shapeLower && now == shapeUpper, last == shapeDigit && now == shapeUpper:
		s.camel |= bit
	case last == shapeUpper && now == shapeUpper && s.upperThenLower():
		s.camel |= bit
	}
	if (last == shapeDigit) != (now == shapeDigit) {
		s.digits |= bit
	}
}

// upperThenLower reports whether the ASCII capital at s.at is the first of a capitalised word after an abbreviation.
func (s *scanner) upperThenLower() bool {
	i := s.at + 1
	return i < len(s.text) && s.text[i] < utf8.RuneSelf && asciiShape[s.text[i]] == shapeLower
}

// readWideRune reads one rune that is not ASCII, with the shape of the rune before it, and returns its own shape. It
// returns false if the run ends before the rune.
func (s *scanner) readWideRune(last shape) (bool, shape) {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	var one [utf8.UTFMax]byte
	parts := one[:utf8.EncodeRune(one[:], r)]
	if !keepsWhole(r) {
		if d := norm.NFKD.PropertiesString(s.text[s.at:]).Decomposition(); d != nil {
			parts = d
		}
	}
	sh := last
	for i := 0; i < len(parts); {
		p, n := utf8.DecodeRune(parts[i:])
		low := foldRune(p)
		kind := classifyRune(low)
		switch kind {
		case drop:
		case gap:
			if s.n > 0 && i == 0 {
				return false, 0 // the run ends; the rune is skipped when the next one begins
			}
			if s.n > 0 { // a gap inside a ligature: the rest of it is not worth a run
				s.at += size
				return false, 0
			}
		default:
			if s.n > 0 && s.dense != (kind == compact) && i == 0 || s.n >= maxRun {
				return false, 0
			}
			sh = shapeLower
			if kind == digit {
				sh = shapeDigit
			} else if low != p && unicode.IsUpper(p) {
				sh = shapeUpper
			}
			s.dense = kind == compact
			s.markBoundary(last, sh)
			s.appendFolded(low)
			last = sh
		}
		i += n
	}
	s.at += size
	return true, sh
}

// keepsWhole reports whether r is kept as it stands: decomposing it would take a syllable or a voiced kana apart, or is
// known to change nothing, which spares looking it up.
func keepsWhole(r rune) bool {
	switch {
	case r < 0x0400:
		return false
	case r <= 0x044f:
		return r >= 0x0410 && r != 'Й' && r != 'й'
	case r >= 0x0900 && r <= 0x0dff, r >= 0x3041 && r <= 0x30ff, r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return true
	}
	return false
}

// foldRune lowers case and merges letters that writers exchange freely.
func foldRune(r rune) rune {
	switch r {
	case 'ı':
		return 'i'
	case 'ς':
		return 'σ'
	case 'ة':
		return 'ه'
	case 'ى', 'ی':
		return 'ي'
	case 'ک':
		return 'ك'
	case 'ł', 'Ł':
		return 'l'
	case 'ø', 'Ø':
		return 'o'
	case 'đ', 'Đ', 'ð', 'Ð':
		return 'd'
	}
	switch {
	case r < utf8.RuneSelf:
		return r | rune(asciiLower[r])
	case r >= 0x0410 && r <= 0x042f: // А to Я
		return r + 0x20
	case r >= 0x0430 && r <= 0x044f, r >= 0x4e00 && r <= 0x9fff:
		return r
	}
	return unicode.ToLower(r)
}

// appendFolded writes a folded rune at the end of the run, spelling out the letters that stand for two, and merging
// marks of voice with the kana before them, as they are when typed full width.
func (s *scanner) appendFolded(r rune) {
	b := s.buf[:s.n]
	switch r {
	case 'ß':
		b = append(b, "ss"...)
	case 'æ':
		b = append(b, "ae"...)
	case 'œ':
		b = append(b, "oe"...)
	case 'þ':
		b = append(b, "th"...)
	case voiceMark, halfVoiceMark:
		kana, n := utf8.DecodeLastRune(b)
		if n > 0 && kana >= 'か' && kana <= 'ホ' {
			b = utf8.AppendRune(b[:len(b)-n], kana+1+(r-voiceMark))
		}
	default:
		b = utf8.AppendRune(b, r)
	}
	s.n = len(b)
}

// The marks that turn か into が and は into ぱ, each the next or the next but one in the order of code points.
const (
	voiceMark     = '\u3099'
	halfVoiceMark = '\u309a'
)

// classifyRune says what a folded rune is.
func classifyRune(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		switch asciiShape[r] {
		case shapeGap:
			return gap
		case shapeDigit:
			return digit
		}
		return letter
	case r >= 0x0430 && r <= 0x044f: // а to я
		return letter
	case r >= 0x0300 && r <= 0x036f, // accents
		r >= 0x0591 && r <= 0x05c7,              // Hebrew points
		r >= 0x064b && r <= 0x065f, r == 0x0670, // Arabic vowels
		r == 0x0640, r == 0x093c, r == 0x200c, r == 0x200d, r == 0xfe0f, r == 0x00ad:
		return drop
	// Thai, Lao, Burmese, Khmer
	case r >= 0x0e00 && r <= 0x0eff, r >= 0x1000 && r <= 0x109f, r >= 0x1780 && r <= 0x17ff,
		r >= 0x3041 && r <= 0x30ff && r != 0x30fb, r == 0x3005,
		r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0x20000 && r <= 0x3ffff:
		return compact
	case unicode.IsLetter(r), unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	}
	return gap
}

// asciiShape and asciiLower are read-only tables: the shape of each ASCII byte, and the bit that lowers it.
var asciiShape, asciiLower = func() (sh [utf8.RuneSelf]shape, low [utf8.RuneSelf]byte) {
	for c := range sh {
		switch {
		case c >= 'a' && c <= 'z':
			sh[c] = shapeLower
		case c >= 'A' && c <= 'Z':
			sh[c], low[c] = shapeUpper, 0x20
		case c >= '0' && c <= '9':
			sh[c] = shapeDigit
		}
	}
	return sh, low
}()
