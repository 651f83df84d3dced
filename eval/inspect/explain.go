package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tooldex/tool"
)

// Explanation shows why the tools for a request rank where they do.
type Explanation struct {
	ID        string     `json:"id,omitempty"` // of the request, if it has one
	Query     string     `json:"query"`
	Confident bool       `json:"confident"`
	Parts     []string   `json:"parts,omitempty"` // the needs that the request was taken apart into
	Depth     int        `json:"depth"`           // how many tools were ranked
	Wanted    []Standing `json:"wanted"`
	First     *Standing  `json:"first,omitempty"` // what was found first, where nothing is wanted
}

// Standing is the place of one tool, with the figures that decide it.
type Standing struct {
	Tool  tool.ID `json:"tool"`
	Place int     `json:"place"` // from 1; 0 if it is beyond Depth, and then the figures are those it would have
	// Behind is the same tool on another server, which holds the place for this one; the figures are that tool's.
	Behind tool.ID `json:"behind,omitempty"`
	Score  float64 `json:"score"`
	Words  float64 `json:"words"`  // BM25F
	Like   float64 `json:"cosine"` // of the tool's vector and the request's
	// Weight is that of the cosine beside 1 for the words; both are brought to the range that they span first.
	Weight   float64     `json:"weight"`
	Exact    bool        `json:"exact,omitempty"`    // the request is the tool's name
	Contrary bool        `json:"contrary,omitempty"` // it does another thing than the request asks for
	Disabled bool        `json:"disabled,omitempty"` // it can never be found
	Terms    []Part      `json:"terms,omitempty"`    // most first
	Loans    []tool.Loan `json:"loans,omitempty"`    // which archetypes lent it words
	Above    []Rival     `json:"above,omitempty"`    // the tools before it, at most three
}

// Part is what one word added to the words' part of a score.
type Part struct {
	Word  string  `json:"word"` // as in the request; the index's own form for one that is not in it
	Added float64 `json:"added"`
	// From says whose word it is: the tool's "own", or "lent" by archetypes. One that stands for a word of the request,
	// from the thesaurus or the lexicon, has "for" before it.
	From string `json:"from"`
}

// Rival is a tool that ranks before another, with the differences.
type Rival struct {
	Tool  tool.ID `json:"tool"`
	Place int     `json:"place"`
	Score float64 `json:"score"`
	Words float64 `json:"words"`  // how much more it has of each than the tool that it stands before
	Like  float64 `json:"cosine"` //
	Terms []Lead  `json:"terms,omitempty"`
}

// Lead is how much more one word adds to a rival than to the tool.
type Lead struct {
	Word string  `json:"word"`
	More float64 `json:"more"`
}

const (
	depth      = 50 // as deep as a report ranks
	mostRivals = 3
	mostLeads  = 4
)

// Explain puts a request to the search and says why each of the wanted tools stands where it does, by its words, its
// cosine and what was lent to it, against the tools before it. The errors are those of the Searcher, and NotFound for a
// tool that the catalogue does not have.
func (in *Inspector) Explain(ctx context.Context, query string, wanted []tool.ID) (*Explanation, error) {
	// One search serves all wanted tools that are among its hits.
	res, err := in.o.Searcher.Search(ctx, tool.Query{Text: query, Limit: depth, Detail: tool.DetailName, Explain: true})
	if err != nil {
		return nil, fmt.Errorf("explain %q: %w", query, err)
	}
	x := &Explanation{Query: query, Confident: res.Confident, Depth: depth}
	for _, g := range res.Groups {
		x.Parts = append(x.Parts, g.Query)
	}
	spelled := in.spelledWords(query)
	for _, id := range wanted {
		s, err := in.standingOf(ctx, query, id, res.Tools, spelled)
		if err != nil {
			return nil, err
		}
		x.Wanted = append(x.Wanted, *s)
	}
	slices.SortStableFunc(x.Wanted, func(a, b Standing) int {
		return cmp.Compare(placeOrLast(a.Place), placeOrLast(b.Place))
	})
	if len(wanted) == 0 && len(res.Tools) > 0 {
		s := in.describeHit(&res.Tools[0], 1, spelled)
		x.First = &s
	}
	return x, nil
}

// coversTool reports whether a hit is the tool id, or lists it as a duplicate.
func coversTool(h *tool.Hit, id tool.ID) bool { return h.ID == id || slices.Contains(h.Duplicates, id) }

// placeOrLast returns place, with 0 (not found) after all others.
func placeOrLast(place int) int {
	if place == 0 {
		return math.MaxInt
	}
	return place
}

// spelledWords returns, by term, how the request spells it first.
func (in *Inspector) spelledWords(query string) map[string]string {
	out := map[string]string{}
	in.o.Words(query, func(w, term string) {
		if _, ok := out[term]; !ok {
			out[term] = w
		}
	})
	return out
}

// standingOf explains the place of one tool among found. A tool that is not among them is searched for alone, for the
// figures that it would have.
func (in *Inspector) standingOf(ctx context.Context, query string, id tool.ID, found []tool.Hit,
	spelled map[string]string,
) (*Standing, error) {
	t, ok := in.o.Set.Get(id)
	if !ok {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "explain", Msg: fmt.Sprintf("there is no tool %q", id),
			Hint: "tooldex list shows them",
		}
	}
	at := slices.IndexFunc(found, func(h tool.Hit) bool { return coversTool(&h, id) })
	if at >= 0 {
		s := in.describeHit(&found[at], at+1, spelled)
		// The figures are those of the duplicate that represents the tool in the answer.
		if s.Tool != id {
			s.Tool, s.Behind = id, s.Tool
		}
		for i := range found[:min(at, mostRivals)] {
			s.Above = append(s.Above, in.rivalOf(&found[i], i+1, &found[at], spelled))
		}
		return &s, nil
	}
	// It is too far down, or hidden: what it would have is asked of it alone.
	res, err := in.o.Searcher.Search(ctx, tool.Query{
		Text: query, Limit: 1, Detail: tool.DetailName, Explain: true,
		Filter: tool.Filter{Disabled: true, Allow: func(t *tool.Tool) bool { return t.ID() == id }},
	})
	if err != nil {
		return nil, fmt.Errorf("explain %q: %w", query, err)
	}
	s := Standing{Tool: id}
	if len(res.Tools) > 0 {
		s = in.describeHit(&res.Tools[0], 0, spelled)
		// A score is relative to the other hits of its answer.
		s.Score = 0 // held against itself alone it says nothing
		for i := range found[:min(len(found), mostRivals)] {
			s.Above = append(s.Above, in.rivalOf(&found[i], i+1, &res.Tools[0], spelled))
		}
	}
	s.Disabled = t.Disabled
	return &s, nil
}

// describeHit returns the figures of a hit, which must have been explained.
func (in *Inspector) describeHit(h *tool.Hit, place int, spelled map[string]string) Standing {
	s := Standing{Tool: h.ID, Place: place, Score: h.Score}
	e := h.Explain
	if e == nil {
		return s
	}
	s.Words, s.Like, s.Weight, s.Exact, s.Contrary, s.Loans = e.Keyword, e.Semantic, e.Weight, e.Exact, e.OppositeAction,
		e.Borrowed
	var own words
	if i, ok := in.at[h.ID]; ok {
		own = in.own[i]
	}
	for term, added := range e.Terms {
		p := Part{Word: term, Added: added, From: "lent"}
		if _, ok := own[term]; ok {
			p.From = "own"
		}
		if w, ok := spelled[term]; ok {
			p.Word = w
		} else {
			p.From = "for, " + p.From
		}
		s.Terms = append(s.Terms, p)
	}
	slices.SortFunc(s.Terms, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Added, a.Added), cmp.Compare(a.Word, b.Word))
	})
	return s
}

// rivalOf returns by how much h, at place, exceeds another hit.
func (in *Inspector) rivalOf(h *tool.Hit, place int, than *tool.Hit, spelled map[string]string) Rival {
	r := Rival{Tool: h.ID, Place: place, Score: h.Score}
	if h.Explain == nil || than.Explain == nil {
		return r
	}
	r.Words, r.Like = h.Explain.Keyword-than.Explain.Keyword, h.Explain.Semantic-than.Explain.Semantic
	// Words of both tools are compared by the difference, so that what adds alike to both drops out of the list.
	more := map[string]float64{}
	for term, added := range h.Explain.Terms {
		more[term] += added
	}
	for term, added := range than.Explain.Terms {
		more[term] -= added
	}
	for term, v := range more {
		if w, ok := spelled[term]; ok {
			term = w
		}
		// smaller differences would be printed as 0.00
		if math.Abs(v) >= .005 {
			r.Terms = append(r.Terms, Lead{term, v})
		}
	}
	slices.SortFunc(r.Terms, func(a, b Lead) int {
		return cmp.Or(cmp.Compare(math.Abs(b.More), math.Abs(a.More)), cmp.Compare(a.Word, b.Word))
	})
	r.Terms = r.Terms[:min(mostLeads, len(r.Terms))]
	return r
}
