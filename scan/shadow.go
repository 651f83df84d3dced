package scan

import (
	"slices"
	"strings"

	"tooldex/tool"
)

// shadows finds sentences that tell how a tool of another server is to be used. It reads the words that phrases left in
// w.words.
func (w *work) shadows(x text) {
	if len(w.s.near.names) == 0 || x.place == key || x.place == output {
		return
	}
	for words := range sentences(w.words) {
		if whose := w.foreign(x.text, words); whose != "" {
			w.add("shadow", x.field, sentenceOf(x.text, words)+" ("+whose+")")
			return
		}
	}
}

// foreign returns the server whose tool a sentence gives orders about, "" if there is none. A plain word such as
// "query" counts as the name of a tool only beside the name of its server.
func (w *work) foreign(said string, words []token) string {
	var has classes
	for _, t := range words {
		has.add(&t.classes)
	}
	if !has.meets(&lexicon().ordering) {
		return ""
	}
	for i, t := range words {
		word := said[t.start:t.end]
		if !strings.Contains(word, "_") && !inner(word) && !w.beside(said, words, i) || !ordered(words, i) {
			continue
		}
		f := tool.Fold(word)
		owners := w.s.near.names[f]
		if owners == nil || f == tool.Fold(w.t.Name) || w.s.near.has(w.t.Server, f) || w.argument(word) ||
			w.product(word) {
			continue
		}
		return owners.refs[0].server
	}
	return ""
}

// reach is how many words may stand between an order and the tool that it is about.
const reach = 4

// ordered reports whether an order stands beside the word at i: "before using create_issue", "create_issue must". To
// name a tool is no order about it.
func ordered(words []token, i int) bool {
	for k := max(0, i-reach); k < min(len(words), i+reach+1); k++ {
		if k != i && words[k].meets(&lexicon().ordering) {
			return true
		}
	}
	return false
}

// product reports whether a word names a server, as GitHub does, rather than a tool: the tool's own server, or one of
// the others. Else a server could have the tools of GitHub suspected by calling one of its own GitHub.
func (w *work) product(word string) bool {
	f := tool.Fold(word)
	if strings.Contains(word, "_") {
		return false
	}
	return slices.Contains(w.s.near.slips[f], f) || strings.Contains(tool.Fold(w.t.Server), f) || strings.Contains(tool.Fold(w.t.Title), f)
}

// inner reports whether a word has a capital inside, as createIssue does.
func inner(word string) bool {
	for i := 1; i < len(word); i++ {
		if word[i] >= 'A' && word[i] <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// beside reports whether the name of a server that has a tool of this plain name stands within three words of it:
// "query of postgres".
func (w *work) beside(said string, words []token, i int) bool {
	owners := w.s.near.names[tool.Fold(said[words[i].start:words[i].end])]
	if owners == nil {
		return false
	}
	for k := max(0, i-3); k < min(len(words), i+4); k++ {
		if k == i {
			continue
		}
		for _, server := range w.s.near.lower[strings.ToLower(said[words[k].start:words[k].end])] {
			if server != w.t.Server && owners.servers[server] {
				return true
			}
		}
	}
	return false
}

// argument reports whether the tool being scanned has a parameter of this name.
func (w *work) argument(word string) bool {
	return slices.ContainsFunc(w.texts, func(x text) bool { return x.place == key && x.text == word })
}
