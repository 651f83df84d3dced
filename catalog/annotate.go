package catalog

import (
	"maps"
	"math"
	"slices"

	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// The constants of derived categories.
const (
	categoryVoters    = 8   // archetypes that vote on the category of a tool
	categorySharpness = 4   // a vote falls with this power of the likeness, relative to the best
	serverVote        = 1.5 // weight of the mean vote of all tools of a server, beside 1 for the tool's own
	leastVotes        = .75 // of a category that is derived
	leastLike         = .45 // likeness to the best archetype up to which a tool has no vote of its own
	surelyLike        = .7  // likeness from which its vote counts fully
)

// annotate sets what is shown of the served tools beside their content: what their servers say of themselves, and for a
// tool without a category the one that the archetypes which it resembles have, if base knows any. Tools without either
// are shown as they are. Where mergeServers has kept what is shown of a server, it stays. The error is that of from.
func (st *state) annotate(base *knowledge.Base, from derivedSource) error {
	if len(st.shown) != len(st.entries) {
		st.shown = make([]*tool.Tool, len(st.entries))
	}
	var todo []entry
	for i, e := range st.entries {
		if st.shown[i] == nil {
			todo = append(todo, e)
		}
	}
	derive := newCategorizer(base, len(todo))
	if derive != nil {
		err := eachChunk(todo, from, func(_ int, part []entry, have *derived) error {
			derive.add(part, func(i int) []index.Landmark { return landmarksOf(have.lent[part[i].hash]) })
			return nil
		})
		if err != nil {
			return err
		}
	}
	shown := annotated(todo, st.serverTexts(todo), derive.finish(), false)
	for i, t := range st.shown {
		if t == nil {
			st.shown[i], shown = shown[0], shown[1:]
		}
	}
	return nil
}

// annotated returns what is shown of tools. Texts has what the server of each says of itself, and categories what was
// derived for it; nil for nothing. In place, the tools themselves are changed, which nothing else may be using.
func annotated(entries []entry, texts, categories []string, inPlace bool) []*tool.Tool {
	shown := make([]*tool.Tool, len(entries))
	for i, e := range entries {
		shown[i] = e.tool
		category := ""
		if categories != nil {
			category = categories[i]
		}
		if category == "" && texts[i] == "" {
			continue
		}
		t := e.tool
		if !inPlace {
			copied := *e.tool
			t = &copied
		}
		t.ServerText = texts[i]
		if category != "" {
			t.Category, t.CategoryDerived = category, true
		}
		shown[i] = t
	}
	return shown
}

// votes are the weights of categories.
type votes map[string]float64

// categorizer derives the categories of tools that are added in the order of their IDs, in which those of a server
// follow each other. It keeps the votes of one server only.
type categorizer struct {
	base   *knowledge.Base
	out    []string // of the servers that are done
	server []entry  // the tools of the last one
	own    []votes  // of these
}

// newCategorizer returns a categorizer of so many tools; nil, which does nothing, where nothing is known of tools.
func newCategorizer(base *knowledge.Base, tools int) *categorizer {
	if base == nil {
		return nil
	}
	return &categorizer{base: base, out: make([]string, 0, tools)}
}

// add adds tools, whose votes it counts on all processors. Landmarks is called concurrently.
func (c *categorizer) add(part []entry, landmarks func(i int) []index.Landmark) {
	if c == nil {
		return
	}
	own := make([]votes, len(part))
	inParallel(len(part), func() func(i int) {
		return func(i int) {
			if part[i].tool.Category == "" {
				own[i] = categoryVotes(c.base, landmarks(i))
			}
		}
	})
	for i, e := range part {
		if len(c.server) > 0 && c.server[0].tool.Server != e.tool.Server {
			c.endServer()
		}
		c.server, c.own = append(c.server, e), append(c.own, own[i])
	}
}

// endServer derives the categories of the last server.
func (c *categorizer) endServer() {
	c.out = append(c.out, deriveCategories(c.server, c.own)...)
	clear(c.server)
	clear(c.own)
	c.server, c.own = c.server[:0], c.own[:0]
}

// finish returns the derived category of each tool, "" for one without; nil where nothing is known of tools.
func (c *categorizer) finish() []string {
	if c == nil {
		return nil
	}
	c.endServer()
	return c.out
}

// deriveCategories returns the derived category of each tool of a server; "" for one that has a category, or that
// resembles nothing that is known. The tools of a server vote together, since most servers are about one thing.
func deriveCategories(entries []entry, own []votes) []string {
	out, all, voters := make([]string, len(entries)), votes{}, 0.0
	for i, e := range entries {
		all.add(own[i], 1)
		if e.tool.Category == "" {
			voters++
		}
	}
	for i, e := range entries {
		if e.tool.Category != "" {
			continue
		}
		sum := votes{}
		sum.add(own[i], 1)
		sum.add(all, serverVote/voters)
		if best := sum.best(); sum[best] >= leastVotes {
			out[i] = best
		}
	}
	return out
}

// categoryVotes returns the votes of the archetypes that a tool resembles, nearest first. Their sum is at most 1, and
// less for a tool that resembles none of them well.
func categoryVotes(base *knowledge.Base, near []index.Landmark) votes {
	if len(near) == 0 || near[0].Like <= leastLike {
		return nil
	}
	out := votes{}
	for _, l := range near[:min(len(near), categoryVoters)] {
		if int(l.Point) >= base.Len() {
			return nil // of another base
		}
		if c := base.Category(int(l.Point)); c != "" {
			out[c] += math.Pow(float64(l.Like/near[0].Like), categorySharpness)
		}
	}
	sure := min(1, float64(near[0].Like-leastLike)/(surelyLike-leastLike)) / out.total()
	for c := range out {
		out[c] *= sure
	}
	return out
}

// add adds other to v, multiplied by weight.
func (v votes) add(other votes, weight float64) {
	for c, w := range other {
		v[c] += weight * w
	}
}

// total returns the sum of all weights, the same for the same votes: floating point depends on the order.
func (v votes) total() (sum float64) {
	for _, c := range slices.Sorted(maps.Keys(v)) {
		sum += v[c]
	}
	return sum
}

// best returns the category of the highest weight, of equal ones the first by name; "" without votes.
func (v votes) best() (best string) {
	for _, c := range slices.Sorted(maps.Keys(v)) {
		if best == "" || v[c] > v[best] {
			best = c
		}
	}
	return best
}
