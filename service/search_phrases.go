package service

import (
	"cmp"
	"math"

	"tooldex/search"
	"tooldex/tool"
)

// SearchPhrases lists the phrases that find a tool, beside its name, description and parameters.
type SearchPhrases struct {
	Borrows bool     `json:"borrows"` // false if archetypes lend nothing to this tool, or to any
	Phrases []Phrase `json:"sayings"` // the tool's own first
	Lenders []Lender `json:"lenders,omitempty"`
}

// Phrase is a request or a synonym that finds a tool.
type Phrase struct {
	Kind   string          `json:"kind"` // utterance or synonym
	From   tool.Provenance `json:"from"`
	Text   string          `json:"text"`
	Lender string          `json:"lender,omitempty"` // the archetype that lends it
}

// Lender is an archetype that lends to a tool.
type Lender struct {
	Archetype string  `json:"archetype"`
	Title     string  `json:"title"`
	Like      float64 `json:"like"`   // its likeness to the tool, 0 to 1
	Weight    float64 `json:"weight"` // of what it lends; that of the most similar has 1
}

// Phrases returns the phrases that find a tool. A phrase of several sources is listed once, with the first: the tool
// itself comes before archetypes. The service must be opened ToSearch.
func (s *Service) Phrases(t *tool.Tool) (*SearchPhrases, error) {
	lenders, err := s.Engine.Lenders(t.ID())
	if err != nil {
		return nil, err
	}
	return newSearchPhrases(t, s.Config().Borrow, lenders), nil
}

// newSearchPhrases lists what finds a tool: its own phrases first, then the borrowed ones, each text once.
func newSearchPhrases(t *tool.Tool, lending bool, lenders []search.Lender) *SearchPhrases {
	out := &SearchPhrases{Borrows: lending && !t.NoBorrow, Phrases: []Phrase{}}
	seen := map[string]bool{}
	add := func(p Phrase) {
		if !seen[p.Text] {
			seen[p.Text] = true
			out.Phrases = append(out.Phrases, p)
		}
	}
	const utterance, synonym = "utterance", "synonym"
	for _, u := range t.Utterances {
		add(Phrase{Kind: utterance, From: cmp.Or(u.From, tool.Declared), Text: u.Text})
	}
	for _, text := range t.Synonyms {
		add(Phrase{Kind: synonym, From: tool.Declared, Text: text})
	}
	for _, l := range lenders {
		out.Lenders = append(out.Lenders, Lender{
			l.Archetype, l.Title, roundHundredths(l.Like),
			roundHundredths(l.Weight),
		})
		for _, u := range l.Utterances {
			add(Phrase{utterance, tool.Borrowed, u, l.Archetype})
		}
		for _, text := range l.Synonyms {
			add(Phrase{synonym, tool.Borrowed, text, l.Archetype})
		}
	}
	return out
}

// roundHundredths rounds to two decimals.
func roundHundredths(x float64) float64 { return math.Round(100*x) / 100 }
