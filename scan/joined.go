package scan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// joined finds what is said piece by piece: a sentence that begins in one text of the tool and ends in the next.
func (w *work) joined() {
	var b strings.Builder
	n := 0
	for _, x := range w.texts {
		if x.place != described && x.place != parameter || b.Len()+len(x.text) > maxText {
			continue
		}
		s := x.text
		if conceals(s) {
			s = unhide(s)
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
	sub.phrases(text{output, "", b.String()}) // where lists of parameters say the least by chance
	for _, f := range sub.found {
		if !w.has(f.Rule) && splits(f.Rule) && !w.whole(f.Excerpt) {
			w.add("split", "inputSchema", f.Excerpt)
		}
	}
}

// goesOn reports whether a text reads like the rest of a sentence: it does not begin with a capital, or a digit.
func goesOn(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsUpper(r) && !unicode.IsDigit(r)
}

// splits reports whether a rule is looked for across texts: those whose words seldom stand beside one another by
// chance.
func splits(rule string) bool {
	return isAny(rule, "override", "conceal", "secrets", "exfiltrate")
}

func (w *work) has(rule string) bool {
	for _, f := range w.found {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

// whole reports whether one text holds all of an excerpt.
func (w *work) whole(excerpt string) bool {
	for _, x := range w.texts {
		if strings.Contains(x.text, excerpt) {
			return true
		}
	}
	return false
}
