package scan

import (
	"slices"
	"strings"

	"tooldex/tool"
)

// findShadowing finds sentences that say how a tool of another server is to be used. It reads the words that phrases
// left in w.words.
func (w *work) findShadowing(x text) {
	if len(w.s.near.names) == 0 || x.place == key || x.place == output {
		return
	}
	for words := range eachSentence(w.words) {
		if whose := w.foreignServer(x.text, words); whose != "" {
			w.addFinding("shadow", x.field, sentenceOf(x.text, words)+" ("+whose+")")
			return
		}
	}
}

// foreignServer returns the server whose tool a sentence gives orders about, "" if there is none. A plain word such as
// "query" counts as the name of a tool only beside the name of its server.
func (w *work) foreignServer(said string, words []token) string {
	var has classes
	for _, t := range words {
		has.add(&t.classes)
	}
	if !has.intersects(&lexicon().ordering) {
		return ""
	}
	for i, t := range words {
		word := said[t.start:t.end]
		if !strings.Contains(word, "_") && !hasInnerCapital(word) && !w.serverNamedNear(said, words, i) ||
			!ordered(words, i) {
			continue
		}
		f := tool.Fold(word)
		owners := w.s.near.names[f]
		if owners == nil || f == tool.Fold(w.t.Name) || w.s.near.hasTool(w.t.Server, f) || w.hasParameter(word) ||
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
		if k != i && words[k].intersects(&lexicon().ordering) {
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

// hasInnerCapital reports whether a word has a capital inside, as createIssue does.
func hasInnerCapital(word string) bool {
	for i := 1; i < len(word); i++ {
		if word[i] >= 'A' && word[i] <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// serverNamedNear reports whether the name of a server that has a tool of this plain name stands within three words of
// it: "query of postgres".
func (w *work) serverNamedNear(said string, words []token, i int) bool {
	owners := w.s.near.names[tool.Fold(said[words[i].start:words[i].end])]
	if owners == nil {
		return false
	}
	for k := max(0, i-3); k < min(len(words), i+4); k++ {
		if k == i {
			continue
		}
		for _, server := range w.s.near.lower[strings.ToLower(said[words[k].start:words[k].end])] {
			if server != w.t.Server && owners.has(server) {
				return true
			}
		}
	}
	return false
}

// hasParameter reports whether the tool being scanned has a parameter of this name.
func (w *work) hasParameter(word string) bool {
	return slices.ContainsFunc(w.texts, func(x text) bool { return x.place == key && x.text == word })
}
