package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tooldex/tool"
)

// Description is how one tool is found, with advice on what to change.
type Description struct {
	Tool     tool.ID  `json:"tool"`
	Disabled bool     `json:"disabled,omitempty"`
	Requests int      `json:"requests"`         // that should find it
	First    int      `json:"first"`            // of which it comes first
	Five     int      `json:"five"`             // or among the first five
	Words    []Part   `json:"words,omitempty"`  // of a named tool: the words that add most, mean over its requests
	Found    []Asked  `json:"found,omitempty"`  // requests that it comes first for
	Missed   []Asked  `json:"missed,omitempty"` // requests that another tool comes first for, those of people first
	LostTo   []Lost   `json:"lostTo,omitempty"` // to which tools, most often first
	Advice   []Advice `json:"advice,omitempty"`
}

// Asked is a request and the place at which it found the tool.
type Asked struct {
	Request
	Place int     `json:"place"`           // 0 if it is not among the first seven
	First tool.ID `json:"found,omitempty"` // what came first in its place
}

// Lost says how many requests found another tool first.
type Lost struct {
	To       tool.ID `json:"to"`
	Requests int     `json:"requests"`
}

// Advice is something about a tool to reword, and how.
type Advice struct {
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

const mostWords = 12

// Describe describes tools, or all that can be found where none are named, in the order in which they were named or
// else those that are found worst first. Its requests are those of Options, or its own first sentence where there are
// none. It takes a search a request, on all processors. The errors are those of the Searcher, and NotFound for a tool
// that the catalogue does not have.
func (in *Inspector) Describe(ctx context.Context, ids ...tool.ID) ([]Description, error) {
	tools := in.tools
	if len(ids) > 0 {
		tools = nil
		for _, id := range ids {
			t, ok := in.o.Set.Get(id)
			if !ok {
				return nil, &tool.Error{
					Code: tool.NotFound, Op: "describe",
					Msg: fmt.Sprintf("there is no tool %q", id), Hint: "tooldex list shows them",
				}
			}
			tools = append(tools, t)
		}
	}
	// Each goroutine writes to the element of its tool.
	out := make([]Description, len(tools))
	asked := make([][]Request, len(tools))
	spelled := make([][]map[string]string, len(tools))
	for i, t := range tools { // what reads words and requests need not be safe for several at once
		asked[i] = in.requestsFor(t)
		for _, r := range asked[i] {
			spelled[i] = append(spelled[i], in.spelledWords(r.Text))
		}
	}
	err := inParallel(ctx, len(tools), func(ctx context.Context, i int) (err error) {
		out[i], err = in.searchRequests(ctx, tools[i], asked[i], spelled[i], len(ids) > 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Advice = in.adviseOn(tools[i], &out[i])
	}
	// for named tools the caller's order is kept
	if len(ids) == 0 {
		slices.SortStableFunc(out, func(a, b Description) int { return cmp.Compare(a.foundRate(), b.foundRate()) })
	}
	return out, nil
}

// foundRate is the sort key of descriptions: tools that are found least first, and those without requests last, among
// them those with most advice first. A first place counts eight times as much as one among the first five.
func (d *Description) foundRate() float64 {
	if d.Requests == 0 {
		return 2 - min(float64(len(d.Advice)), 9)/10
	}
	return (float64(d.First) + float64(d.Five)/8) / float64(d.Requests)
}

// requestsFor returns the requests that should find a tool; without any, its first sentence.
func (in *Inspector) requestsFor(t *tool.Tool) []Request {
	out := in.o.Requests(t)
	if text := firstSentence(t); len(out) == 0 && text != "" {
		out = []Request{{Text: text, From: Summary}}
	}
	return out
}

// searchRequests searches for each request and sums up the places. explain doubles the time and fills in the words.
func (in *Inspector) searchRequests(ctx context.Context, t *tool.Tool, requests []Request, spelled []map[string]string,
	explain bool,
) (Description, error) {
	d := Description{Tool: t.ID(), Disabled: t.Disabled, Requests: len(requests)}
	added, lost := map[string]*Part{}, map[tool.ID]int{}
	for k, r := range requests {
		res, err := in.o.Searcher.Search(ctx, tool.Query{
			Text: r.Text, Limit: neighbours, Detail: tool.DetailName,
			Explain: explain,
		})
		if err != nil {
			return d, fmt.Errorf("describe %s: %w", t.ID(), err)
		}
		at := slices.IndexFunc(res.Tools, func(h tool.Hit) bool { return coversTool(&h, d.Tool) })
		a := Asked{Request: r, Place: at + 1}
		if at >= 0 {
			s := in.describeHit(&res.Tools[at], at+1, spelled[k])
			for _, p := range s.Terms {
				if added[p.Word] == nil {
					added[p.Word] = &Part{Word: p.Word, From: p.From}
				}
				// requests that do not find the tool count as zero
				added[p.Word].Added += p.Added / float64(len(requests))
			}
		}
		if at == 0 {
			d.Found = append(d.Found, a)
		} else {
			if len(res.Tools) > 0 {
				a.First = res.Tools[0].ID
				lost[a.First]++
			}
			d.Missed = append(d.Missed, a)
		}
		if at >= 0 && at < 5 {
			d.Five++
		}
	}
	d.First = len(d.Found)
	slices.SortStableFunc(d.Missed, func(a, b Asked) int { return cmp.Compare(sourceRank(a.From), sourceRank(b.From)) })
	for _, p := range added {
		d.Words = append(d.Words, *p)
	}
	slices.SortFunc(d.Words, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Added, a.Added), cmp.Compare(a.Word, b.Word))
	})
	d.Words = d.Words[:min(mostWords, len(d.Words))]
	for id, n := range lost {
		d.LostTo = append(d.LostTo, Lost{id, n})
	}
	slices.SortFunc(d.LostTo, func(a, b Lost) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.To, b.To))
	})
	return d, nil
}

// sourceRank orders sources, the most trusted first.
func sourceRank(s Source) int {
	return slices.Index([]Source{Labelled, Declared, Example, Borrowed, Summary}, s)
}
