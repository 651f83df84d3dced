package scan

import (
	"cmp"
	"slices"
	"strings"

	"tooldex/tool"
)

// matchPatterns looks for the patterns in each sentence of a text, and leaves the words of the text in w.words.
// Parameters that are named after secrets may speak of them, so w.param is set first.
func (w *work) matchPatterns(x text) {
	w.param = classes{}
	if x.place == parameter && w.nameOf(x.field).intersects(&lexicon().open) {
		w.param = lexicon().logs
	}
	said := x.text
	if x.place == key {
		said = spacedName(said)
	}
	w.words, w.before = splitWords(said, w.words), nil
	for words := range eachSentence(w.words) {
		w.matchSentence(x, said, words)
	}
}

// matchSentence looks for the patterns in one sentence. It asks the index only for patterns whose rarest class the
// sentence has; each of these is in turn tried by the cheapest conditions first.
func (w *work) matchSentence(x text, said string, words []token) {
	var has classes
	for _, t := range words {
		has.add(&t.classes)
	}
	w.sentences++
	g := lexicon()
	for bit := range has.bits {
		for _, c := range g.byKey[bit] {
			if has.isSuperset(&c.need) && c.places[x.place] && !has.intersects(&c.bar) && c.canMatch(&has) &&
				!c.off.intersects(w.subjectOf(c)) && !(has.intersects(&c.unless) && c.isCleared(words)) &&
				c.matchSteps(words) {
				w.weighMatch(c, x.field, said, words)
			}
		}
	}
	if x.place != key {
		w.findAddress(x, said, words, &has)
		w.scoreSentence(x, said, words, &has)
	}
}

// clue is wording that makes no finding by itself.
type clue struct {
	rule, field, excerpt string
	worth                int // below enough
	at                   int // the number of its sentence, counted over all texts of the tool
}

const (
	// enough is the sum that clues of different kinds must reach to make a finding, in percent.
	enough = 100
	// beside is how many sentences clues may be apart and still count together: a long page has a little of everything.
	beside = 12
)

// weighMatch notes the match of a pattern in a sentence, as a finding or as a clue. The match is worth two fifths where
// it concerns what the tool openly states as its purpose.
func (w *work) weighMatch(c *compiled, field, said string, words []token) {
	worth := cmp.Or(c.worth, enough)
	if c.off.intersects(&w.stated) || c.off.intersects(&w.param) || asksPerson(words) {
		worth = worth * 2 / 5
	}
	if w.hits != nil {
		w.hits = append(w.hits, hit{
			rule: c.rule, excerpt: sentenceOf(said, words), worth: worth, at: w.sentences, plain: c.plain && worth >= enough,
		})
		return
	}
	w.noteMatch(c.rule, field, sentenceOf(said, words), worth)
}

// noteMatch makes a finding of a match that is worth enough, and a clue of a weaker one. Once some clues were enough
// together they are kept, even when later sentences have others.
func (w *work) noteMatch(rule, field, sentence string, worth int) {
	if worth >= enough {
		w.addFinding(rule, field, sentence)
		return
	}
	if w.hits != nil {
		w.hits = append(w.hits, hit{rule: rule, excerpt: sentence, worth: worth, at: w.sentences})
		return
	}
	w.clues = slices.DeleteFunc(w.clues, func(o clue) bool { return w.sentences-o.at >= beside })
	w.clues = append(w.clues, clue{rule, field, sentence, worth, w.sentences})
	if w.summed == nil {
		w.summed = enoughOf(w.clues)
	}
}

// enoughOf returns the clues that are enough together, nil if they are not. Of each kind only the weightiest counts:
// once in what the tool says of itself and once in its parameters.
func enoughOf(clues []clue) []clue {
	var kinds []clue
	sum := 0
	for _, c := range clues {
		n := slices.IndexFunc(kinds, c.isSameKind)
		if n < 0 {
			n = len(kinds)
			kinds = append(kinds, clue{})
		}
		if c.worth > kinds[n].worth {
			sum += c.worth - kinds[n].worth
			kinds[n] = c
		}
	}
	if sum < enough {
		return nil
	}
	return kinds
}

// sumClues makes findings of the clues that were enough together. It does nothing if the tool has findings already:
// clues would add doubtful ones to certain ones.
func (w *work) sumClues() {
	if len(w.found) > 0 {
		return
	}
	for _, c := range w.summed {
		w.addFinding(c.rule, c.field, c.excerpt)
	}
}

// isSameKind reports whether two clues are of one kind: of the same rule, and both or neither in the input schema.
func (c clue) isSameKind(o clue) bool {
	return c.rule == o.rule && strings.HasPrefix(c.field, "inputSchema") == strings.HasPrefix(o.field, "inputSchema")
}

// subjectOf returns what the tool is about, as far as a pattern trusts it. A tool that names its subject in its
// description may ask for it in a parameter. Other patterns, and clues, trust only the name, since a hostile
// description can claim any subject.
func (w *work) subjectOf(c *compiled) *classes {
	if c.rule == "request" && c.worth == 0 {
		both := w.topic
		both.add(&w.param)
		return &both
	}
	return &w.named
}

// nameOf returns the classes in the name of the parameter that a field describes: a parameter called password asks for
// one openly. It overwrites w.words.
func (w *work) nameOf(field string) *classes {
	name := strings.TrimSuffix(field, ".description")
	name = name[strings.LastIndexByte(name, '.')+1:]
	var out classes
	w.words = splitWords(spacedName(name), w.words)
	for _, t := range w.words {
		out.add(&t.classes)
	}
	return &out
}

// canMatch reports whether a sentence with these classes can match: each step needs one of them.
func (c *compiled) canMatch(has *classes) bool {
	for i := range c.steps {
		if !c.steps[i].class.intersects(has) {
			return false
		}
	}
	return true
}

// isCleared reports whether a word that makes the pattern harmless stands before the first step. What quotes an order
// comes before it; "for example" behind an order leaves it an order.
func (c *compiled) isCleared(words []token) bool {
	for _, t := range words {
		if t.intersects(&c.unless) {
			return true
		}
		if t.intersects(&c.steps[0].class) {
			return false
		}
	}
	return false
}

// maxSteps bounds how many steps a pattern has, so that a match needs no allocation. A longer pattern panics when it is
// matched.
const maxSteps = 8

// matchSteps reports whether the words contain the steps in order, no further apart than their gaps. For each step it
// keeps the last word at which a beginning of the pattern ended: what may follow depends on nothing else. The time is
// therefore the number of words times that of steps, without backtracking.
func (c *compiled) matchSteps(words []token) bool {
	if c.within > 0 {
		return c.matchNear(words)
	}
	var reached [maxSteps]int // by step: one more than the index of the word; 0 where it was not reached
	last := len(c.steps) - 1
	for i, t := range words {
		if t.intersects(&c.cut) {
			reached[0] = 0
		}
		for k := last; k >= 0; k-- {
			s := &c.steps[k]
			if k > 0 && (reached[k-1] == 0 || i-reached[k-1] > s.gap) || !t.intersects(&s.class) {
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

// matchNear reports whether the words contain all steps near one another, in any order, each step by another word.
func (c *compiled) matchNear(words []token) bool {
	var at [maxSteps]int // by step: one more than the index of its last word; 0 for none yet
	for i, t := range words {
		fresh := false
		for k := range c.steps {
			// A word that fits two steps is left to the one that has waited longer.
			if t.intersects(&c.steps[k].class) && (!fresh || at[k] == 0) {
				if fresh = true; k > 0 && at[k-1] == i+1 && at[k] != 0 {
					continue
				}
				at[k] = i + 1
			}
		}
		if fresh && c.stepsNear(&at, i) {
			return true
		}
	}
	return false
}

// stepsNear reports whether all steps were met at most c.within words before i, by different words.
func (c *compiled) stepsNear(at *[maxSteps]int, i int) bool {
	for k := range c.steps {
		if at[k] == 0 || i-at[k] >= c.within {
			return false
		}
		for o := range k {
			if at[o] == at[k] {
				return false
			}
		}
	}
	return true
}

// findAddress finds words to the model itself: "assistant: …", "note to AI agents: …", "dear assistant, …". A
// pattern cannot express it, since it depends on punctuation.
func (w *work) findAddress(x text, said string, words []token, has *classes) {
	g := lexicon()
	if !has.intersects(&g.ai) || !has.intersects(&g.orderly) && !has.isSuperset(&g.asking) {
		return
	}
	for i, t := range words {
		if !t.intersects(&g.model) || int(t.end) >= len(said) {
			continue
		}
		opens := i == 0 || strings.IndexByte("([{*#>", byteBefore(said, int(t.start))) >= 0
		if c := said[t.end]; (c == ',' || c == ':') && t.intersects(&g.ai) && (opens || spokenTo(said, words[:i])) ||
			c == ':' && i > 0 && spokenTo(said, words[:i]) {
			w.addFinding("addressed", x.field, sentenceOf(said, words))
			return
		}
	}
}

// spokenTo reports whether one of the last four words before a name addresses somebody: "dear", "note to", "NB for".
func spokenTo(said string, before []token) bool {
	for n := max(0, len(before)-4); n < len(before); n++ {
		switch strings.ToLower(said[before[n].start:before[n].end]) {
		case "dear", "note", "nb", "attention", "hey", "hint":
			return true
		}
	}
	return false
}

// byteBefore returns the last byte before i that is not a space, and an opening bracket at the beginning of s.
func byteBefore(s string, i int) byte {
	for i--; i >= 0; i-- {
		if s[i] != ' ' {
			return s[i]
		}
	}
	return '('
}

// sentenceOf returns the part of a text from the first of words to the last. There must be at least one.
func sentenceOf(said string, words []token) string {
	return said[words[0].start:words[len(words)-1].end]
}

// longName is how many words a name has, at the least, that is a sentence rather than a subject.
const longName = 7

// topicOf returns what a tool is about: named by its server, name and title, topic by these and the first 600 bytes of
// its description. It also sets w.stated. Only the beginning of a description counts, so that a long one cannot claim
// every subject.
func (w *work) topicOf(t *tool.Tool) (named, topic classes) {
	name := spacedName(t.Name)
	if strings.Count(name, " ") >= longName-1 {
		name = "" // a sentence: it is read as one, and does not excuse what it says
	}
	for i, s := range []string{spacedName(t.Server), name, t.Title, cutText(t.Description, 600)} {
		if hasUnusualByte(s) {
			s = removeInvisible(s)
		}
		w.words = splitWords(s, w.words)
		first := len(s)
		if n := strings.IndexAny(s, ".!?。！？।\n"); n >= 0 && i == 3 {
			first = n
		}
		for _, word := range w.words {
			topic.add(&word.classes)
			if int(word.end) <= first {
				w.stated.add(&word.classes)
			}
		}
		if i < 3 {
			named = topic
		}
	}
	return named, topic
}

// cutText returns at most n bytes of s, and valid UTF-8 where it cuts.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// spacedName returns the words of a name, separated by spaces: create_issue and createIssue become "create issue" and
// "create Issue".
func spacedName(name string) string {
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
