package eval

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/tool"
)

// DefaultDepth is how many tools are asked for where Options.Limit is zero.
const DefaultDepth = 50

// Options say which requests are put, and how. The zero value puts all of them, one after another, to the hybrid
// search.
type Options struct {
	Mode   tool.Mode
	Split  string   // only requests of this split; "" means all
	Kinds  []string // only requests of these kinds; empty means all
	Sample int      // only this many requests, always the same ones; a smaller sample is part of a larger; 0 means all
	Limit  int      // how deep to rank, at most tool.MaxLimit; 0 means DefaultDepth
	// Answer is how many tools an agent would ask for: time and tokens are taken of such an answer, which is a search
	// of its own before the deep one. 0 means tool.DefaultLimit. -1 asks only once, for rankings alone: time is then
	// that of the deep search, and tokens are not measured.
	Answer  int
	Detail  tool.Detail // of that answer; "" means signature
	Workers int         // searches at a time; 0 means one, which is what latency should be measured with
}

// withDefaults fills in what is zero. The error is Invalid for a mode or a number that no search accepts.
func (o Options) withDefaults() (Options, error) {
	o.Mode = cmp.Or(o.Mode, tool.Hybrid)
	o.Limit = cmp.Or(o.Limit, DefaultDepth)
	o.Answer = cmp.Or(o.Answer, tool.DefaultLimit)
	o.Detail = cmp.Or(o.Detail, tool.DetailSignature)
	o.Workers = cmp.Or(o.Workers, 1)
	switch {
	case !slices.Contains([]tool.Mode{tool.Hybrid, tool.Keyword, tool.Semantic}, o.Mode):
		return o, invalidOptions(fmt.Sprintf("mode %q is unknown", o.Mode), "use hybrid, keyword or semantic")
	case o.Limit < 0 || o.Limit > tool.MaxLimit:
		return o, invalidOptions(fmt.Sprintf("depth %d is not between 1 and %d", o.Limit, tool.MaxLimit), "")
	case o.Answer < -1 || o.Answer > tool.MaxLimit:
		return o, invalidOptions(fmt.Sprintf("answer of %d tools is not between 1 and %d", o.Answer, tool.MaxLimit), "")
	case o.Workers < 0 || o.Sample < 0:
		return o, invalidOptions("workers and sample cannot be negative", "")
	}
	return o, nil
}

// invalidOptions returns the Invalid error of options that cannot be run.
func invalidOptions(msg, hint string) error {
	return &tool.Error{Code: tool.Invalid, Op: "evaluate", Msg: msg, Hint: hint}
}

// pickCases returns the cases that o asks for, in the set's order. It is an error if there are none: a gate must not
// pass because its requests were misspelt away.
func (o *Options) pickCases(d *Dataset) ([]*Case, error) {
	for _, kind := range o.Kinds {
		if !slices.ContainsFunc(d.Cases, func(c Case) bool { return c.Kind == kind }) {
			return nil, invalidOptions(fmt.Sprintf("set has no request of kind %q", kind), "")
		}
	}
	var picked []*Case
	for i := range d.Cases {
		c := &d.Cases[i]
		if (o.Split == "" || c.Split == o.Split) && (len(o.Kinds) == 0 || slices.Contains(o.Kinds, c.Kind)) {
			picked = append(picked, c)
		}
	}
	if len(picked) == 0 {
		return nil, invalidOptions(fmt.Sprintf("set has no request of split %q and these kinds", o.Split), "")
	}
	return sampleCases(picked, o.Sample), nil
}

// sampleCases keeps the n cases whose IDs have the lowest hashes, in their order, so that what is picked depends
// neither on the order of the file nor on a generator's state.
func sampleCases(cases []*Case, n int) []*Case {
	if n == 0 || n >= len(cases) {
		return cases
	}
	byHash := slices.Clone(cases)
	slices.SortFunc(byHash, func(a, b *Case) int {
		return cmp.Or(cmp.Compare(hashText(a.ID), hashText(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	keep := make(map[*Case]bool, n)
	for _, c := range byHash[:n] {
		keep[c] = true
	}
	return slices.DeleteFunc(slices.Clone(cases), func(c *Case) bool { return !keep[c] })
}

// hashText is FNV-1a, stirred once more: on its own it leaves IDs that differ in the last digit close together.
func hashText(s string) uint64 {
	f := fnv.New64a()
	f.Write([]byte(s)) // never fails
	h := f.Sum64()
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// Run puts the requests of d to s and reports how well the right tools were ranked. It returns the first error of a
// search, with the request's ID in its text, or the cause for which ctx ended, and starts no further search then.
// Options that cannot be met, or that leave no request, are Invalid.
//
// The Searcher must know the tools of d by the same IDs. What else it finds holds its place as an irrelevant tool and
// is counted in Report.Strangers.
func Run(ctx context.Context, s tool.Searcher, d *Dataset, o Options) (*Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	cases, err := o.pickCases(d)
	if err != nil {
		return nil, err
	}
	a := &runner{
		searcher: s, set: d, options: o, cases: cases, answers: make([]Answer, len(cases)),
		costs: make([]cost, len(cases)),
	}
	if err := a.askAll(ctx); err != nil {
		return nil, err
	}
	r := newReport(d, o, cases, a.answers)
	r.Mode = o.Mode
	r.addCosts(a.costs, o)
	return r, nil
}

// runner puts cases to a searcher. Each worker writes only the elements of the cases it took.
type runner struct {
	searcher tool.Searcher
	set      *Dataset
	options  Options
	cases    []*Case
	answers  []Answer
	costs    []cost
	next     atomic.Int64
}

// cost is what one answer took.
type cost struct {
	time     time.Duration
	tokens   int
	degraded bool
}

// askAll puts every case to the searcher, several at once, and stops at the first error.
func (a *runner) askAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range min(a.options.Workers, len(a.cases)) {
		wg.Go(func() {
			for i := int(a.next.Add(1)) - 1; i < len(a.cases) && ctx.Err() == nil; i = int(a.next.Add(1)) - 1 {
				if err := a.askOne(ctx, i); err != nil {
					cancel(fmt.Errorf("evaluate request %s: %w", a.cases[i].ID, err))
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx) // nil unless a search failed or the caller's context ended
}

// askOne sends one request and those of its steps, and stores the answer at its index, so that workers share no lock.
// Cost is measured on a search of its own, of the size that clients ask for; the ranking needs a deeper one. Steps cost
// nothing here: time and tokens are those of the whole request.
func (a *runner) askOne(ctx context.Context, i int) error {
	q := tool.Query{Text: a.cases[i].Query, Mode: a.options.Mode, Limit: a.options.Limit, Detail: tool.DetailName}
	if a.options.Answer > 0 {
		small := q
		small.Limit, small.Detail = a.options.Answer, a.options.Detail
		res, took, err := a.timedSearch(ctx, small)
		if err != nil {
			return err
		}
		a.costs[i] = cost{took, res.Tokens, res.Degraded != ""}
	}
	res, took, err := a.timedSearch(ctx, q)
	if err != nil {
		return err
	}
	if a.options.Answer < 0 {
		a.costs[i] = cost{took, 0, res.Degraded != ""}
	}
	confident := res.Confident // a pointer into res would keep all of it
	ans := Answer{ID: a.cases[i].ID, Ranked: a.rankedOf(res), Confident: &confident}
	for _, step := range a.cases[i].Steps {
		q.Text = step
		res, err := a.searcher.Search(ctx, q)
		if err != nil {
			return err
		}
		ans.Steps = append(ans.Steps, a.rankedOf(res))
		a.costs[i].degraded = a.costs[i].degraded || res.Degraded != ""
	}
	a.answers[i] = ans
	return nil
}

// rankedOf returns the tools of a result by the set's own names.
func (a *runner) rankedOf(res *tool.Result) []Ranked {
	out := make([]Ranked, len(res.Tools))
	for j := range res.Tools {
		h := &res.Tools[j]
		out[j] = Ranked{Name: a.set.Label(h.ID), Score: h.Score}
		for _, twin := range h.Duplicates {
			out[j].Also = append(out[j].Also, a.set.Label(twin))
		}
	}
	return out
}

// timedSearch measures how long a search takes, as a caller sees it.
func (a *runner) timedSearch(ctx context.Context, q tool.Query) (*tool.Result, time.Duration, error) {
	start := time.Now()
	res, err := a.searcher.Search(ctx, q)
	return res, time.Since(start), err
}
