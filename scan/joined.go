package scan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// findAcrossTexts finds what is said piece by piece: a sentence that begins in one text of the tool and ends in the
// next. It reports only rules that found nothing in any text alone.
func (w *work) findAcrossTexts() {
	var b strings.Builder
	n := 0
	for _, x := range w.texts {
		if x.place != described && x.place != parameter || b.Len()+len(x.text) > maxText {
			continue
		}
		s := x.text
		if hasUnusualByte(s) {
			s = removeInvisible(s)
		}
		if s = strings.TrimSpace(s); b.Len() > 0 && !goesOn(s) {
			b.WriteByte('.')
		}
		b.WriteByte(' ')
		b.WriteString(s)
		n++
	}
	if n < 2 {
		return
	}
	sub := &work{s: w.s, t: w.t, topic: w.topic, named: w.named, stated: w.stated, words: w.words}
	// The place with the fewest patterns: descriptions of parameters in a row match few of these by chance.
	sub.matchPatterns(text{output, "", b.String()})
	for _, f := range sub.found {
		if !w.hasFinding(f.Rule) && spansTexts(f.Rule) && !w.inOneText(f.Excerpt) {
			w.addFinding("split", "inputSchema", f.Excerpt)
		}
	}
}

// goesOn reports whether a text reads like the rest of a sentence: it begins with neither a capital nor a digit.
func goesOn(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsUpper(r) && !unicode.IsDigit(r)
}

// spansTexts reports whether joined looks for a rule across texts. It does so for rules whose words seldom stand beside
// one another by chance.
func spansTexts(rule string) bool {
	return isAny(rule, "override", "conceal", "secrets", "exfiltrate")
}

// hasFinding reports whether the tool already has a finding of a rule, in any field.
func (w *work) hasFinding(rule string) bool {
	for _, f := range w.found {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

// inOneText reports whether a single text contains all of an excerpt.
func (w *work) inOneText(excerpt string) bool {
	for _, x := range w.texts {
		if strings.Contains(x.text, excerpt) {
			return true
		}
	}
	return false
}
