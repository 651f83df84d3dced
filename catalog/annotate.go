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
	shown, err := st.annotated(todo, base, from)
	if err != nil {
		return err
	}
	for i, t := range st.shown {
		if t == nil {
			st.shown[i], shown = shown[0], shown[1:]
		}
	}
	return nil
}

// annotated returns what is shown of the tools of some servers.
func (st *state) annotated(entries []entry, base *knowledge.Base, from derivedSource) ([]*tool.Tool, error) {
	derived, err := deriveCategories(entries, base, from)
	if err != nil {
		return nil, err
	}
	shown, texts := make([]*tool.Tool, len(entries)), map[string]string{}
	for name, s := range st.sources {
		if text := serverText(s.About); text != "" && st.trust.AboutHeld(name) == "" {
			texts[name] = text
		}
	}
	for i, e := range entries {
		shown[i] = e.tool
		text := ""
		if len(texts) > 0 {
			text = texts[st.records[e.tool.ID()].Source]
		}
		if derived[i] == "" && text == "" {
			continue
		}
		t := *e.tool
		t.ServerText = text
		if derived[i] != "" {
			t.Category, t.CategoryDerived = derived[i], true
		}
		shown[i] = &t
	}
	return shown, nil
}

// votes are the weights of categories.
type votes map[string]float64

// deriveCategories returns the derived category of each entry; "" for one that has a category, or that resembles
// nothing that is known. The tools of a server vote together, since most servers are about one thing.
func deriveCategories(entries []entry, base *knowledge.Base, from derivedSource) ([]string, error) {
	out := make([]string, len(entries))
	if base == nil {
		return out, nil
	}
	own := make([]votes, len(entries))
	err := eachChunk(entries, from, func(start int, part []entry, have *derived) error {
		inParallel(len(part), func() func(i int) {
			return func(i int) {
				if part[i].tool.Category == "" {
					own[start+i] = categoryVotes(base, landmarksOf(have.lent[part[i].hash]))
				}
			}
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	servers, voters := map[string]votes{}, map[string]float64{}
	for i, e := range entries {
		if servers[e.tool.Server] == nil {
			servers[e.tool.Server] = votes{}
		}
		servers[e.tool.Server].add(own[i], 1)
		if e.tool.Category == "" {
			voters[e.tool.Server]++
		}
	}
	for i, e := range entries {
		if e.tool.Category != "" {
			continue
		}
		sum := votes{}
		sum.add(own[i], 1)
		sum.add(servers[e.tool.Server], serverVote/voters[e.tool.Server])
		if best := sum.best(); sum[best] >= leastVotes {
			out[i] = best
		}
	}
	return out, nil
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
