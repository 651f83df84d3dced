package scan

import (
	"hash/fnv"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// classes is a set of meanings that words can have, one bit each: the classes of the vocabulary, and one for each
// choice of quoted words in a pattern. The build of the lexicon panics when there are more than 512.
type classes [8]uint64

// intersects reports whether two sets have a meaning in common.
func (c *classes) intersects(o *classes) bool {
	for i := range c {
		if c[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// isSuperset reports whether o is a subset of c.
func (c *classes) isSuperset(o *classes) bool {
	for i := range c {
		if o[i]&^c[i] != 0 {
			return false
		}
	}
	return true
}

// intersection returns the intersection of two sets.
func (c *classes) intersection(o *classes) (both classes) {
	for i := range c {
		both[i] = c[i] & o[i]
	}
	return both
}

// add makes c the union of both sets.
func (c *classes) add(o *classes) {
	for i := range c {
		c[i] |= o[i]
	}
}

// entry is what the lexicon has about a word. Entries are shared by all scans and read-only.
type entry struct {
	classes
	next   map[*entry]*entry // by the entry of the word behind it: what both mean together, as in "no need"
	hashes []uint64          // of the names of its classes, without choices of quoted words; for the trained model
}

// unknown is the entry of all words that have no meaning to a pattern. It is compared by address.
var unknown = &entry{}

// stem is the beginning of inflected words, written with a * in the vocabulary.
type stem struct {
	text string
	*entry
}

// step is one word of a compiled pattern.
type step struct {
	class classes
	gap   int // how many words may lie between the previous step and this one
}

// compiled is a pattern ready to be matched. Matching goes from cheap to expensive: first need against the classes of
// the whole sentence, then unless and bar, and only then the order of the steps.
type compiled struct {
	pattern
	steps            []step
	need             classes // all of them must be in the sentence: those of steps without a choice
	unless, bar, cut classes
	off              classes
	within           int // the steps may come in any order within so many words; 0 means in order
	places           [output + 1]bool
}

// grammar is the vocabulary and the patterns over it.
type grammar struct {
	named   map[string]classes // by the name of a class, or by the quoted words of a choice
	words   map[string]*entry  // by the folded word
	stems   map[[3]byte][]stem // by their first three bytes
	heads   [1 << 14]bool      // a filter before stems, by the hash of three bytes: most words have no stem
	program []compiled
	byKey   [len(classes{}) * 64][]*compiled // patterns by the meanings of their rarest step

	subjects classes // that excuse some pattern where they are what the tool is about
	asked
}

// lexicon returns the one grammar. It is built on first use, since most commands need none, and is read-only from then
// on.
var lexicon = sync.OnceValue(newGrammar)

// asked holds the sets that code refers to by itself, outside of patterns.
type asked struct {
	ai, model, logs        classes
	private, rotated       classes
	denial, sans           classes
	orderly, ordering      classes
	spoken, open, asking   classes
	inspects, attacks      classes
	consults, persons      classes
	veiled                 []classes // topics of hidden words that address the model
	aSecret, aRulebook     *entry
	privatePath, anAddress *entry
}

// resolveAsked resolves the sets of asked. It comes after all patterns were compiled, when each class has its bit.
func (g *grammar) resolveAsked() asked {
	a := asked{
		ai: g.meaningsOf("ai"), model: g.meaningsOf("model"), logs: g.meaningsOf("logs"),
		private: g.meaningsOf("private"),
		rotated: g.meaningsOf("rotated"), denial: g.meaningsOf("denial"), sans: g.meaningsOf("sans"),
		orderly:  g.meaningsOf("ignores|tells|telling|covertly|sends|private|secrets|safety|consent|person|nothing|role"),
		ordering: g.meaningsOf("must|before|after|instead|not|only"), spoken: g.meaningsOf("ai|person"),
		open: g.meaningsOf("secrets|keyish"), asking: g.meaningsOf("must|request"),
		inspects: g.meaningsOf("inspects"), attacks: g.meaningsOf("attacks"),
		consults: g.meaningsOf("consults"), persons: g.meaningsOf("persons"),
	}
	for _, names := range []string{
		"model", "person", "must|not", "sends|passes|calls", "ignores", "tells|covertly",
		"private|secrets", "prior", "orders",
	} {
		a.veiled = append(a.veiled, g.meaningsOf(names))
	}
	a.aSecret, a.aRulebook = &entry{classes: g.meaningsOf("keyish")}, &entry{classes: g.meaningsOf("rulebook")}
	a.privatePath, a.anAddress = &entry{classes: a.private}, &entry{classes: g.meaningsOf("address")}
	return a
}

// newGrammar builds the lexicon from the vocabulary, the meanings and the patterns. The order matters: classes get
// their bits first, then words their classes, then patterns add their quoted words. What words inherit (from stems,
// from the words that they end a compound with, from shorter words in scripts without spaces) comes last, once all are
// known. It panics on a mistake in the tables.
func newGrammar() *grammar {
	g := &grammar{named: map[string]classes{}, words: map[string]*entry{}, stems: map[[3]byte][]stem{}}
	all := slices.Concat(vocabulary, meanings)
	for _, v := range all {
		g.classNamed(v.class)
	}
	for _, v := range all {
		c := g.named[v.class]
		for w := range strings.FieldsSeq(v.words) {
			if text, is := strings.CutSuffix(w, "*"); is {
				g.addBeginning(foldWord(text), &c)
			} else {
				g.addCompound(w, &c)
			}
		}
	}
	orders := slices.Concat(orderPatterns(), greedPatterns())
	for i, p := range slices.Concat(orders, intentPatterns()) {
		p.plain = p.plain || i < len(orders) && !p.common && p.rule != "priority"
		c := g.compilePattern(p)
		g.subjects.add(&c.off)
		g.program = append(g.program, c)
	}
	for w, e := range g.words {
		if s := g.longestStem([]byte(w)); s != unknown {
			e.add(&s.classes)
		}
	}
	for w, e := range g.words {
		e.inheritMeanings()
		for i, r := range w { // the longest word is taken where words stand together
			if p := g.words[w[:i]]; i > 0 && p != nil && joinsWords(r) {
				e.add(&p.classes)
			}
		}
	}
	// Both need the final classes of all words.
	g.indexPatterns()
	g.asked = g.resolveAsked()
	g.hashClasses(all)
	return g
}

// hashClasses sets the hashes of all entries. They are those of the names of classes, so that they stay the same when
// classes are added.
func (g *grammar) hashClasses(all []wordList) {
	var hashes [len(classes{}) * 64]uint64
	for _, v := range all {
		c := g.named[v.class]
		for bit := range c.bits {
			h := fnv.New64a()
			_, _ = h.Write([]byte(v.class)) // a hash takes everything
			hashes[bit] = h.Sum64()
		}
	}
	var hash func(e *entry)
	hash = func(e *entry) {
		if e.hashes != nil {
			return
		}
		e.hashes = []uint64{}
		for bit := range e.classes.bits {
			if hashes[bit] != 0 {
				e.hashes = append(e.hashes, hashes[bit])
			}
		}
		for _, both := range e.next {
			hash(both)
		}
	}
	for _, e := range g.words {
		hash(e)
	}
	for _, list := range g.stems {
		for _, s := range list {
			hash(s.entry)
		}
	}
	for _, e := range []*entry{g.aSecret, g.aRulebook, g.privatePath, g.anAddress} {
		hash(e)
	}
}

// frequent lists words of nearly every description. Patterns are indexed by other steps than these where they have any.
const frequent = `a all and any as before by call each every first for from has have if in is it list must no not ` +
	`of off on one or other over read required server set should than that
	the this to tool tools true use user what when with without you your name data file get add include create api ` +
	`id message return results output content parameter`

// indexPatterns lists each pattern under the classes of the step that the fewest words have, so that a sentence is
// compared with few patterns.
func (g *grammar) indexPatterns() {
	var count [len(classes{}) * 64]int
	tally := func(e *entry, n int) {
		for bit := range e.bits {
			count[bit] += n
		}
	}
	for _, e := range g.words {
		tally(e, 1)
	}
	for w := range strings.FieldsSeq(frequent) {
		if e := g.words[w]; e != nil {
			tally(e, 500)
		}
	}
	for i := range g.program {
		c := &g.program[i]
		// A step with several classes is found under each of them, so their counts add up.
		best, least := 0, 1<<30
		for k := range c.steps {
			n := 0
			for bit := range c.steps[k].class.bits {
				n += count[bit]
			}
			if n < least {
				best, least = k, n
			}
		}
		for bit := range c.steps[best].class.bits {
			g.byKey[bit] = append(g.byKey[bit], c)
		}
	}
}

// bits yields the indexes of the meanings in a set, in ascending order.
func (c *classes) bits(yield func(int) bool) {
	for i, word := range c {
		for ; word != 0; word &= word - 1 {
			if !yield(i*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// inheritMeanings adds to the entries of compounds what their last words mean by themselves.
func (e *entry) inheritMeanings() {
	for word, both := range e.next {
		both.add(&word.classes)
		both.inheritMeanings()
	}
}

// classNamed returns the set of one class, and gives the class the next free bit when it is new.
func (g *grammar) classNamed(class string) classes {
	c, known := g.named[class]
	if n := len(g.named); !known {
		c[n/64] = 1 << (n % 64)
		g.named[class] = c
	}
	return c
}

// wordEntry returns the entry of a folded word, and makes it if there is none.
func (g *grammar) wordEntry(folded string) *entry {
	e := g.words[folded]
	if e == nil {
		e = &entry{}
		g.words[folded] = e
	}
	return e
}

// addCompound adds a meaning to a word, or to several words in a row, which are written with + as in no+need.
func (g *grammar) addCompound(words string, c *classes) {
	var e *entry
	for w := range strings.SplitSeq(words, "+") {
		part := g.wordEntry(foldWord(w))
		if e == nil {
			e = part
			continue
		}
		// a word that begins a compound has a table of what may follow
		if e.next == nil {
			e.next = map[*entry]*entry{}
		}
		if e.next[part] == nil {
			e.next[part] = &entry{}
		}
		e = e.next[part]
	}
	e.add(c)
}

// headIndex returns the index of a beginning in grammar.heads. Collisions only cost a lookup in stems.
func headIndex(key [3]byte) uint32 {
	return (uint32(key[0])*131 + uint32(key[1])*31 + uint32(key[2])*7) & (1<<14 - 1)
}

// addBeginning adds a meaning to all words with a beginning. It panics if the beginning has fewer than three bytes.
func (g *grammar) addBeginning(text string, c *classes) {
	key := [3]byte([]byte(text))
	g.heads[headIndex(key)] = true
	i := slices.IndexFunc(g.stems[key], func(s stem) bool { return s.text == text })
	if i < 0 {
		i = len(g.stems[key])
		g.stems[key] = append(g.stems[key], stem{text, &entry{}})
	}
	g.stems[key][i].add(c)
}

// longestStem returns the entry of the longest stem that a word begins with, unknown if there is none.
func (g *grammar) longestStem(word []byte) *entry {
	if len(word) < 3 || !g.heads[headIndex([3]byte(word))] {
		return unknown
	}
	best, most := unknown, 0
	for _, s := range g.stems[[3]byte(word)] {
		if len(s.text) > most && len(s.text) <= len(word) && string(word[:len(s.text)]) == s.text {
			best, most = s.entry, len(s.text)
		}
	}
	return best
}

// findEntry returns the entry of a folded word of any script. Arabic writes some prepositions and articles as part of
// the word, so these are cut off one after the other until the rest is found.
func (g *grammar) findEntry(word string) *entry {
	if e, ok := g.words[word]; ok {
		return e
	}
	e := g.longestStem([]byte(word))
	for _, p := range []string{"و", "ال", "ف", "ب", "ل"} { // Arabic "and", "the", "so", "with", "to"
		if rest, cut := strings.CutPrefix(word, p); cut && e == unknown {
			word = rest
			if e = g.words[word]; e == nil {
				e = g.longestStem([]byte(word))
			}
		}
	}
	return e
}

// maxRun is the most characters that a word of a script without spaces has.
const maxRun = 8

// findUnspaced returns the entry of the longest known word at the beginning of a text without spaces between words, and
// its length in bytes. It returns nil and 0 if none is known.
func (g *grammar) findUnspaced(text string) (best *entry, end int) {
	n := 0
	for i, r := range text {
		if n++; n > maxRun || !joinsWords(r) {
			break
		}
		if e := g.words[text[:i+utf8.RuneLen(r)]]; e != nil {
			best, end = e, i+utf8.RuneLen(r)
		}
	}
	return best, end
}

// joinsWords reports whether a letter is of a script that sets no spaces between words, or joins endings to them:
// Japanese, Chinese or Korean.
func joinsWords(r rune) bool { return r >= 0x3040 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 }

// meaningsOf returns the meanings that one element of a pattern names: classes, or words in quotes, separated by |. It
// panics if there is no such class.
func (g *grammar) meaningsOf(choices string) (out classes) {
	if choices == "" {
		return out
	}
	var quoted []string
	for choice := range strings.SplitSeq(choices, "|") {
		c, known := g.named[choice]
		if word, ok := strings.CutPrefix(choice, "'"); ok {
			quoted = append(quoted, strings.TrimSuffix(word, "'"))
		} else if !known {
			panic("scan: no class is called " + choice)
		}
		out.add(&c)
	}
	if len(quoted) > 0 { // they share one bit, since bits are scarce
		c := g.classNamed("'" + strings.Join(quoted, "'"))
		for _, word := range quoted {
			g.addCompound(word, &c)
		}
		out.add(&c)
	}
	return out
}

// compilePattern parses a pattern. In order, classes alternate with the number of words that may lie between them.
// After ~N there are only classes.
func (g *grammar) compilePattern(p pattern) compiled {
	c := compiled{
		pattern: p, unless: g.meaningsOf(p.unless), bar: g.meaningsOf(p.bar), cut: g.meaningsOf(p.cut),
		off: g.meaningsOf(p.off),
	}
	// Without places of its own a pattern applies everywhere but in keys of schemas.
	for at := range c.places {
		c.places[at] = p.at == nil && place(at) != key || slices.Contains(p.at, place(at))
	}
	// The first step has no gap before it; each number sets the gap of the step that follows.
	next, fields := step{}, strings.Fields(p.steps)
	if n, found := strings.CutPrefix(fields[0], "~"); found {
		c.within, fields = parseNumber(n), fields[1:]
	}
	for i, f := range fields {
		if c.within == 0 && i%2 == 1 {
			next = step{gap: parseNumber(f)}
			continue
		}
		next.class = g.meaningsOf(f)
		if !strings.Contains(f, "|") {
			c.need.add(&next.class)
		}
		c.steps = append(c.steps, next)
	}
	return c
}

// parseNumber parses a number in a pattern, and panics if it is none.
func parseNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("scan: pattern: " + err.Error())
	}
	return n
}
