package scan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// trace counts the hidden characters of a text by kind.
type trace struct {
	tags, selectors, bidi, zero, soft, control, ansi, filler int
	at                                                       int // the byte offset of the first; -1 for none
}

// isSuspicious reports whether the counts are worth a finding. A single soft hyphen is not.
func (t *trace) isSuspicious() bool {
	return t.tags+t.selectors+t.bidi+t.zero+t.control+t.ansi+t.filler > 0 || t.soft > 1
}

// isInvisible reports whether r shows nothing by itself: joiners, marks of direction, fillers, selectors and tags.
// Control characters are not among them.
func isInvisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e,
		r == 0x3164, r == 0xfeff, r == 0xffa0, r == 0x2800,
		r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0x180b && r <= 0x180d,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// hasUnusualByte reports whether text has a byte that is neither printable ASCII nor usual white space. Most texts have
// none, so that they need no closer look.
func hasUnusualByte(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return true
		}
	}
	return false
}

// countHidden counts what a text hides. It accepts what has an honest use: joiners and marks of direction beside
// scripts that need them, one selector behind a character, and tags in the flag of a region.
func countHidden(text string) trace {
	t := trace{at: -1}
	rtl := strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
	})
	prev, selectors, flag := rune(0), 0, false
	for i, r := range text {
		before := t
		switch {
		case r == 0x1b:
			t.ansi++
		case unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r':
			t.control++
		case r == 0x1f3f4:
			flag = true
		case r >= 0xe0000 && r <= 0xe007f:
			if !flag {
				t.tags++
			}
			prev = 0
			if r == 0xe007f {
				flag = false
			}
			continue
		case r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef:
			if selectors++; selectors > 1 {
				t.selectors++
			}
			noteFirst(&t, before, i)
			continue
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			if !rtl || r == 0x202d || r == 0x202e {
				t.bidi++
			}
		case r == 0x200e || r == 0x200f || r == 0x61c:
			if !rtl {
				t.bidi++
			}
		case r == 0x200c || r == 0x200d:
			next, _ := utf8.DecodeRuneInString(text[i+3:])
			if isLatin(prev) || isLatin(next) {
				t.zero++
			}
		case r == 0x200b || r == 0x2060 || r == 0xfeff && i > 0:
			if !unicode.In(prev, unicode.Thai, unicode.Khmer, unicode.Lao, unicode.Myanmar) {
				t.zero++
			}
		case r == 0xad:
			t.soft++
		case r != 0xfeff && r != 0x2800 && isInvisible(r) || r == 0x2800 && prev == 0x2800:
			t.filler++
		}
		flag = flag && r == 0x1f3f4
		noteFirst(&t, before, i)
		prev, selectors = r, 0
	}
	if t.tags > 0 || t.selectors > 0 || t.soft > 1 || t.isSuspicious() {
		t.at = max(t.at, 0)
	}
	return t
}

// noteFirst sets t.at to i if a count has changed since before and none had earlier.
func noteFirst(t *trace, before trace, i int) {
	if t.at < 0 && *t != before {
		t.at = i
	}
}

// isLatin reports whether r is printable ASCII or a Latin letter, beside which joiners have no use.
func isLatin(r rune) bool { return r < 0x80 && r > ' ' || unicode.Is(unicode.Latin, r) }

// removeInvisible returns text without its invisible characters, as a model reads it that ignores them. What tags and
// selectors spell is appended as a sentence of its own, for models that do read them.
func removeInvisible(text string) string {
	var b, spelt strings.Builder
	for _, r := range text {
		switch {
		case r >= 0xe0020 && r <= 0xe007e:
			spelt.WriteRune(r - 0xe0000) // each tag stands for an ASCII character
		case r >= 0xe0100 && r <= 0xe01ef:
			spelt.WriteByte(byte(r - 0xe0100 + 16)) // the 256 selectors stand for bytes
		case r >= 0xfe00 && r <= 0xfe0e:
			spelt.WriteByte(byte(r - 0xfe00))
		case isInvisible(r):
		case unicode.IsControl(r) && r != '\n' && r != '\t':
		default:
			b.WriteRune(r)
		}
	}
	if spelt.Len() > 0 && utf8.ValidString(spelt.String()) {
		b.WriteString(". " + spelt.String())
	}
	return b.String()
}

// findHidden reports what a text hides, by the gravest kind only, and returns the text as removeInvisible does.
func (w *work) findHidden(x text) string {
	tr := countHidden(x.text)
	plain := removeInvisible(x.text)
	switch {
	case tr.ansi > 0:
		w.addFinding("terminal", x.field, x.text[max(0, tr.at-20):])
	case tr.control > 0:
		w.addFinding("control", x.field, x.text[max(0, tr.at-20):])
	case tr.isSuspicious():
		w.addFinding("hidden", x.field, strings.ToValidUTF8(x.text[max(0, tr.at-20):], ""))
	}
	for word := range strings.FieldsFuncSeq(plain, func(r rune) bool { return !inWord(r) || r == '_' }) {
		if hasUnusualByte(word) && mixesScripts(word) {
			w.addFinding("mixed", x.field, word+" in: "+plain)
			break
		}
	}
	return plain
}
