package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Collision is a pair of tools that requests do not distinguish.
type Collision struct {
	A tool.ID `json:"a"`
	B tool.ID `json:"b"`
	// Apart is how well their requests distinguish them: the share of them that put the right one of the two first, one
	// that is level counting half, mean of both tools' requests. A coin has .5; below it they find each other's.
	Apart    float64  `json:"apart"`
	Requests int      `json:"requests"`       // that this rests on
	Wrong    string   `json:"wrong"`          // the request that is furthest from finding its own
	Of       tool.ID  `json:"of"`             // whose request that is
	Same     bool     `json:"same,omitempty"` // not a word of either's text is its own
	OnlyA    []string `json:"onlyA"`          // what the text of A says and that of B does not, the most specific first
	OnlyB    []string `json:"onlyB"`
}

const (
	probes     = 4   // requests of a tool that are put
	neighbours = 7   // tools that are looked at for each
	level      = .1  // two tools this near in fused score, as a part of the higher, are not clearly apart
	tooNear    = .75 // pairs that are distinguished better than this are no collisions
	telling    = 6   // words that are named of each tool
)

// Collide lists the pairs of tools that requests cannot distinguish, worst first, at most limit; 0 means all. Of each
// tool the summary and up to three of its requests are put to the search, with all that ranks: words, vectors and what
// was lent. It takes a search a request, on all processors. The errors are those of the Searcher.
func (in *Inspector) Collide(ctx context.Context, limit int) ([]Collision, error) {
	// Options.Requests need not be safe for concurrent use, so it is called before the goroutines begin.
	put := make([][]Request, len(in.tools))
	for i, t := range in.tools {
		put[i] = in.probeRequests(t)
	}
	seen := make([]rivalSet, len(in.tools))
	err := inParallel(ctx, len(in.tools), func(ctx context.Context, i int) (err error) {
		seen[i], err = in.probeTool(ctx, i, put[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []Collision
	// Both tools may have seen each other; the pair is reported once, with what both saw.
	for a := range in.tools {
		for b := range seen[a] {
			if _, back := seen[b][a]; back && b < a {
				continue // reported for the other
			}
			if c := in.combineCollision(min(a, b), max(a, b), seen); c.Apart < tooNear {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(x, y Collision) int {
		return cmp.Or(cmp.Compare(x.Apart, y.Apart), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	if limit > 0 {
		out = out[:min(limit, len(out))]
	}
	for i := range out {
		c := &out[i]
		a, b := in.at[c.A], in.at[c.B]
		c.OnlyA, c.OnlyB = in.distinguishingWords(a, b, telling), in.distinguishingWords(b, a, telling)
		c.Same = len(c.OnlyA)+len(c.OnlyB) == 0
	}
	return out, nil
}

// probeRequests returns the requests that a tool is probed by, at most probes: its summary, then requests in the order
// of how far their source is trusted.
func (in *Inspector) probeRequests(t *tool.Tool) []Request {
	out := make([]Request, 0, probes)
	if s := cmp.Or(t.Summary, sanitize.Cut(t.Description, 200), t.Title); s != "" {
		out = append(out, Request{Text: s, From: Summary})
	}
	requests := in.o.Requests(t)
	// the most trusted sources first
	for _, from := range []Source{Labelled, Declared, Example, Borrowed} {
		for _, r := range requests {
			if r.From == from && len(out) < probes {
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, Request{Text: t.Name, From: Summary})
	}
	return out
}

// closeness sums up how another tool ranks in the requests of one.
type closeness struct {
	lost  float64 // sum over requests: 1 for one that clearly finds the other
	worst float64
	wrong string
	put   int // requests that say anything
}

// rivalSet holds the tools that came near one, by their index in Inspector.tools.
type rivalSet map[int]*closeness

// add counts one request for which tool j scored lost against the right one, and keeps the worst of them as the
// example.
func (r rivalSet) add(j int, lost float64, request string) {
	c := r[j]
	if c == nil {
		c = &closeness{worst: -1}
		r[j] = c
	}
	c.lost += lost
	if lost > c.worst {
		c.worst, c.wrong = lost, request
	}
}

// probeTool searches for the requests of tool i and returns how near other tools come. Requests that do not find the
// tool, or that are split into several needs, are skipped. The result lists only tools that came near at least once, so
// that the memory for all tools grows with neighbours, not with the square of the catalogue.
func (in *Inspector) probeTool(ctx context.Context, i int, requests []Request) (rivalSet, error) {
	near := rivalSet{}
	put := 0
	for _, r := range requests {
		res, err := in.o.Searcher.Search(ctx, tool.Query{Text: r.Text, Limit: neighbours, Detail: tool.DetailName})
		if err != nil {
			return nil, fmt.Errorf("probe %s: %w", in.tools[i].ID(), err)
		}
		own := slices.IndexFunc(res.Tools, func(h tool.Hit) bool { return coversTool(&h, in.tools[i].ID()) })
		if own < 0 || len(res.Groups) > 0 {
			continue // it says more of the request than of the pair, or its scores are of several needs
		}
		put++
		for at := range res.Tools {
			h := &res.Tools[at]
			for _, id := range append([]tool.ID{h.ID}, h.Duplicates...) {
				if j, ok := in.at[id]; ok && j != i {
					near.add(j, confusionOf(res.Tools[own].Score, h.Score, at < own), r.Text)
				}
			}
		}
	}
	for _, c := range near {
		c.put = put
	}
	return near, nil
}

// confusionOf returns how far a request finds another tool than its own: .5 where they are level, 1 or 0 where one is
// clearly ahead. Scores fall with the square of the fused score, within one answer, so their root is compared.
func confusionOf(own, other float64, ahead bool) float64 {
	if own <= 0 || other <= 0 || own == other {
		if ahead && own != other {
			return 1
		}
		return .5
	}
	// The lead is measured as a share of the higher score, so that it is the same seen from either tool.
	ratio := math.Sqrt(other / own)
	lead := ratio - 1
	if ratio > 1 {
		lead = 1 - 1/ratio
	}
	return min(1, max(0, .5+lead/(2*level)))
}

// combineCollision combines what the requests of a and of b show about the pair.
func (in *Inspector) combineCollision(a, b int, seen []rivalSet) Collision {
	c := Collision{A: in.tools[a].ID(), B: in.tools[b].ID()}
	sum, worst := 0.0, -1.0
	for _, side := range [][2]int{{a, b}, {b, a}} {
		n := seen[side[0]][side[1]]
		if n == nil || n.put == 0 {
			continue // the other is not near in any request of this one
		}
		sum += n.lost / float64(n.put)
		c.Requests += n.put
		if n.worst > worst {
			worst, c.Wrong, c.Of = n.worst, n.wrong, in.tools[side[0]].ID()
		}
	}
	// A side that never saw the other adds nothing: for its requests the other is clearly behind.
	c.Apart = 1 - sum/2
	return c
}

// inParallel calls do for 0 to n-1 on all processors, and returns the first error.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	// Cause is the first error of do, or that of the caller's context; nil if all went well.
	group.Wait()
	return context.Cause(ctx)
}
