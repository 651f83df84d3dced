package search

import (
	"context"
	"regexp"
)

// sentenceEnd stands between the sentences of a request.
var sentenceEnd = regexp.MustCompile(`[.!?;]+\s+|\n+`)

const (
	maxSentences = 6
	// of the best sentence's score in that of the whole request, as measured on sets of long requests
	sentenceShare = .4
)

// sentences returns the sentences of a request that say enough to be scored alone; nil if there are not several.
func (s *scratch) sentences(text string) []string {
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

// scoreSentences fills s.best with each tool's score for the sentence that it serves best: what one of them asks for is
// drowned by the words of the others. It is left empty for a request of one sentence, and for a part of a request.
func (e *Engine) scoreSentences(ctx context.Context, a ask, s *scratch) error {
	s.best = s.best[:0]
	if a.whole != nil || e.o.Base == nil {
		return nil
	}
	for k, c := range s.sentences(a.text) {
		if _, err := e.score(ctx, a.snap, a.q.Mode, e.enrich(c), s); err != nil {
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

// addSentences mixes what scoreSentences found into the scores of the whole request.
func (s *scratch) addSentences() {
	for i, f := range s.best {
		s.fused[i] += sentenceShare * (f - s.fused[i])
	}
}
