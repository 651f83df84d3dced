package scan

import (
	"strings"

	"tooldex/tool"
)

// phrases looks for the patterns in each sentence of a text.
func (w *work) phrases(x text) {
	w.param = 0
	if x.place == parameter && w.nameOf(x.field)&secrets != 0 {
		w.param = logs
	}
	said := x.text
	if x.place == key {
		said = spaced(said)
	}
	w.words = split(said, w.words)
	for from, i := 0, 0; i < len(w.words); i++ {
		if !w.words[i].last {
			continue
		}
		w.sentence(x, said, w.words[from:i+1])
		from = i + 1
	}
	w.unspaced(x)
}

// sentence looks for the patterns in one sentence.
func (w *work) sentence(x text, said string, words []token) {
	var has classes
	for _, t := range words {
		has |= t.class
	}
	if has == 0 {
		return
	}
	for i := range program {
		c := &program[i]
		if !c.places[x.place] || w.about(c.rule)&c.off != 0 || !c.possible(has) || has&c.unless != 0 && c.cleared(said, words) {
			continue
		}
		if c.match(said, words) {
			w.add(c.rule, x.field, sentenceOf(said, words))
		}
	}
	if x.place != key {
		w.addressed(x, said, words, has)
	}
}

// about returns what the tool is about, as far as a rule believes it: a tool that names its subject in its description may ask for it in a
// parameter, but only its name lets it speak of sending it.
func (w *work) about(rule string) classes {
	if rule == "request" {
		return w.topic | w.param
	}
	return w.named
}

// nameOf returns what the name of the parameter says that a field describes: one that is called a password asks for it openly.
func (w *work) nameOf(field string) classes {
	name := strings.TrimSuffix(field, ".description")
	name = name[strings.LastIndexByte(name, '.')+1:]
	var out classes
	w.words = split(spaced(name), w.words)
	for _, t := range w.words {
		out |= t.class
	}
	return out
}

// possible reports whether a sentence with these classes can match.
func (c *compiled) possible(has classes) bool {
	for i := range c.steps {
		if s := &c.steps[i]; s.class&has == 0 && len(s.words) == 0 {
			return false
		}
	}
	return true
}

// cleared reports whether a word that makes the pattern harmless stands before all of it: what quotes an order comes first, and "for
// example" behind an order makes it none the less one.
func (c *compiled) cleared(said string, words []token) bool {
	for _, t := range words {
		if t.class&c.unless != 0 {
			return true
		}
		if c.steps[0].takes(said, t) {
			return false
		}
	}
	return false
}

// maxSteps is how many words the longest pattern has at most.
const maxSteps = 8

// match reports whether the words hold the pattern. Of all beginnings of it that end at some word the last one is kept, since what may
// follow depends on nothing else; so the time is that of words times steps.
func (c *compiled) match(said string, words []token) bool {
	var reached [maxSteps]int // one more than the position
	last := len(c.steps) - 1
	for i, t := range words {
		for k := last; k >= 0; k-- {
			s := &c.steps[k]
			if k > 0 && (reached[k-1] == 0 || i-reached[k-1] > s.gap) || !s.takes(said, t) {
				continue
			}
			if k == last {
				return true
			}
			reached[k] = i + 1
		}
	}
	return false
}

func (s *step) takes(said string, t token) bool {
	if t.class&s.class != 0 {
		return true
	}
	for _, w := range s.words {
		if len(w) == int(t.end-t.start) && strings.EqualFold(w, said[t.start:t.end]) {
			return true
		}
	}
	return false
}

// addressed finds words to the model itself: "assistant: …", "note to AI agents: …", "dear assistant, …".
func (w *work) addressed(x text, said string, words []token, has classes) {
	if has&ai == 0 || has&(ignores|tells|telling|covertly|sends|private|secrets|safety|consent|person|nothing|role) == 0 && (has&request == 0 || has&must == 0) {
		return
	}
	for i, t := range words {
		if t.class&model == 0 || int(t.end) >= len(said) {
			continue
		}
		opens := i == 0 || strings.IndexByte("([{*#>", before1(said, int(t.start))) >= 0
		if c := said[t.end]; (c == ',' || c == ':') && t.class&ai != 0 && (opens || spokenTo(said, words[:i])) || c == ':' && i > 0 && spokenTo(said, words[:i]) {
			w.add("addressed", x.field, sentenceOf(said, words))
			return
		}
	}
}

// spokenTo reports whether the words before a name call somebody: "dear", "note to", "NB for".
func spokenTo(said string, before []token) bool {
	for n := max(0, len(before)-4); n < len(before); n++ {
		switch strings.ToLower(said[before[n].start:before[n].end]) {
		case "dear", "note", "nb", "attention", "hey", "hint":
			return true
		}
	}
	return false
}

// before1 returns the last byte before i that is not a space; a line break counts as the beginning.
func before1(s string, i int) byte {
	for i--; i >= 0; i-- {
		if s[i] != ' ' {
			return s[i]
		}
	}
	return '('
}

// sentenceOf returns the sentence that words make.
func sentenceOf(said string, words []token) string {
	return said[words[0].start:words[len(words)-1].end]
}

// topicOf returns what a tool is about: by its name and title, and by these and its description.
func (w *work) topicOf(t *tool.Tool) (named, topic classes) {
	for i, s := range []string{spaced(t.Server), spaced(t.Name), t.Title, cut(t.Description, 600)} {
		if conceals(s) {
			s = unhide(s)
		}
		w.words = split(s, w.words)
		for _, word := range w.words {
			topic |= word.class
		}
		if i < 3 {
			named = topic
		}
	}
	return named, topic
}

// cut returns at most n bytes of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// spaced returns the words of a name: create_issue and createIssue are "create issue".
func spaced(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == '/':
			b.WriteByte(' ')
			lower = false
			continue
		case r >= 'A' && r <= 'Z' && lower:
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	return b.String()
}
