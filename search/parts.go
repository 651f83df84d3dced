package search

import (
	"context"
	"regexp"
	"strings"

	"tooldex/knowledge"
)

// separators may stand between the parts of a request for several things.
var separators = regexp.MustCompile(`(?i)(?:[,;:.!?]+\s+|\n+)(?:` + joints + `\s+)?|\s+` + joints + `\s+`)

const joints = `(?:and then|after that|afterwards|and also|then|and|plus|also)`

// fillers may precede the verb of a part and carry no meaning.
var fillers = map[string]bool{
	"please": true, "can": true, "could": true, "would": true, "you": true, "i": true, "we": true, "want": true,
	"need": true, "to": true, "then": true, "and": true,
	"also": true, "first": true, "finally": true, "next": true, "lastly": true, "let's": true, "lets": true,
	"help": true, "me": true, "now": true, "so": true, "just": true, "like": true, "should": true, "id": true,
}

// toMe are verbs that only ask for an answer when the asker is their object ("tell me").
var toMe = map[string]bool{
	"tell": true, "show": true, "give": true, "let": true, "send": true, "inform": true,
	"remind": true,
}

// maxParts bounds the parts of one request that are scored alone, leastTerms is how many words of meaning a part needs.
const (
	maxParts   = 6
	leastTerms = 2
)

// splitRequest returns what a request for several things asks for, one by one; nil for a request for one thing. A part
// begins where a clause begins with a verb that tools' names begin with; other clauses belong to the part before them.
func (e *Engine) splitRequest(text string, an *knowledge.Analyzer) []string {
	if e.o.Base == nil {
		return nil
	}
	clauses := separators.Split(text, maxParts*4)
	if len(clauses) < 2 {
		return nil
	}
	var out []string
	// What precedes the first imperative clause, such as a greeting or a condition, is part of the first need.
	preface := ""
	for _, c := range clauses {
		c = strings.TrimSpace(c)
		switch {
		case c == "":
		case e.isImperative(c, an):
			out = append(out, strings.TrimSpace(preface+" "+c))
			preface = ""
		case len(out) == 0:
			preface += " " + c
		default:
			out[len(out)-1] += ", " + c
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out[:min(len(out), maxParts)]
}

// trimFillers returns the words of a clause in lower case, from the first that says something.
func trimFillers(clause string) []string {
	words := strings.Fields(strings.ToLower(clause))
	for len(words) > 0 && fillers[strings.Trim(words[0], ",.!")] {
		words = words[1:]
	}
	return words
}

// isImperative reports whether a clause begins with a verb that tools' names begin with, and has an object.
func (e *Engine) isImperative(clause string, an *knowledge.Analyzer) bool {
	words := trimFillers(clause)
	if len(words) < 2 || toMe[words[0]] && (words[1] == "me" || words[1] == "us") {
		return false
	}
	terms := an.Terms(nil, strings.Join(words, " "))
	if len(terms) < leastTerms {
		return false
	}
	first := an.Terms(nil, words[0])
	// The verb must be the first word of meaning, not a filler.
	return len(first) > 0 && first[0] == terms[0] && e.o.Base.IsVerb(first[0])
}

// splitClauses returns the clauses of a request that say enough to be searched alone; nil if there are not several.
func splitClauses(text string, an *knowledge.Analyzer) []string {
	var out []string
	for _, c := range separators.Split(text, maxParts*4) {
		if len(an.Terms(nil, c)) >= leastTerms && len(out) < maxParts {
			out = append(out, c)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// sentenceEnd stands between the sentences of a request.
var sentenceEnd = regexp.MustCompile(`[.!?;]+\s+|\n+`)

const (
	maxSentences = 6
	// share of the best sentence's score in that of the whole request, as measured on sets of long requests
	sentenceShare = .5
)

// splitSentences returns the sentences of a request that say enough to be scored alone; nil if there are not several.
func (s *scratch) splitSentences(text string) []string {
	var out []string
	for _, c := range sentenceEnd.Split(text, 4*maxSentences) {
		if s.terms = s.analyzer.Terms(s.terms[:0], c); len(s.terms) >= leastTerms && len(out) < maxSentences {
			out = append(out, c)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// scoreSentences fills s.best with each tool's score for the sentence that it serves best, since the words of the
// others would hide it. s.best stays empty for a request of one sentence, and for a part of a request.
func (e *Engine) scoreSentences(ctx context.Context, a request, s *scratch) error {
	s.best = s.best[:0]
	if a.whole != nil || e.o.Base == nil {
		return nil
	}
	for k, c := range s.splitSentences(a.text) {
		// Each sentence is scored like a request, over the same buffers; the whole request is scored after this and
		// overwrites them.
		if _, err := e.scoreTools(ctx, a.snap, a.query.Mode, e.expandText(c), s); err != nil {
			return err
		}
		if k == 0 {
			s.best = append(s.best, s.fused...)
		}
		for i, f := range s.fused {
			s.best[i] = max(s.best[i], f)
		}
	}
	return nil
}

// addSentenceScores mixes what scoreSentences found into the scores of the whole request.
func (s *scratch) addSentenceScores() {
	for i, f := range s.best {
		s.fused[i] += sentenceShare * (f - s.fused[i])
	}
}
