package selection

import (
	"slices"
	"strings"
	"unicode"

	"tooldex/tool"
)

// Vocabulary holds the words by which the names of tools differ. Vectors place "delete the branch" near to "create the
// branch", and "storage accounts" near to "storage containers": two messages mean the same only if they agree in those
// words, too. It is immutable.
type Vocabulary struct{ words map[string]bool }

// NewVocabulary returns the vocabulary of a set of tools.
func NewVocabulary(set *tool.Set) *Vocabulary {
	v := &Vocabulary{words: map[string]bool{}}
	for _, t := range set.All() {
		for _, w := range splitWords(t.Name) {
			v.words[w] = true
		}
	}
	return v
}

// asking are words that only ask for an answer. Tools with the same effect use different ones in their names.
// The last few hold names and sentences together.
var asking = []string{
	"get", "list", "show", "display", "view", "fetch", "retrieve", "tell", "give", "all", "the",
	"and", "for", "with",
}

// Key returns the words of a text that names of tools have: texts of equal keys may mean the same.
func (v *Vocabulary) Key(text string) string {
	var out []string
	for _, w := range splitWords(text) {
		if v.words[w] && !slices.Contains(asking, w) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// shortest is the length from which on a word says something: shorter ones hold names together.
const shortest = 3

// splitWords splits a text or a name into words in lower case, without the s of plurals, and leaves out numbers.
func splitWords(text string) []string {
	var out []string
	start, lower := -1, false
	flush := func(end int) {
		if start >= 0 {
			w := strings.ToLower(text[start:end])
			if len(w) > shortest {
				w = strings.TrimSuffix(w, "s")
			}
			if len(w) >= shortest {
				out = append(out, w)
			}
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && lower: // readFile
			flush(i)
			start = i
		}
		lower = unicode.IsLower(r)
	}
	flush(len(text))
	return out
}
