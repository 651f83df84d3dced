package catalog

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"slices"

	"tooldex/index"
	"tooldex/tool"
)

// Trial is what a proposal would change, made in memory and stored nowhere. In Before and After alike, the tools that
// Others asks for have been lent nothing of what is asked for them; After has of the proposal all but what Own asks
// for.
type Trial struct {
	Before, After *index.Snapshot
	Own           []Question // requests of the proposal, for the tools that it speaks of
	Others        []Question // requests of kinds of tools that are known, for tools that it does not speak of
}

// Question is a request, and the tool that should be found for it.
type Question struct {
	Text string
	Tool tool.ID
}

const (
	heldOut       = 5   // one of so many requests of a kind of tools is held out
	ownHeldOut    = 3   // and one of so many requests of a proposal, rounded up, where there are two
	mostQuestions = 400 // of other tools
)

// Try makes what Enrich would make of proposals, to be measured, and returns with it what Enrich would say. The trial
// is nil where nothing of them passes. Which requests are held out depends on their texts alone. The error is Invalid
// for a catalogue without knowledge.
func (c *Catalog) Try(ctx context.Context, proposals []tool.Proposal) (*Trial, []tool.Finding, error) {
	c.mu.Lock()
	x, ok := c.o.indexer.(*searchable)
	c.mu.Unlock()
	if !ok || x.m.Base == nil || x.m.Encoder.Query == nil {
		return nil, nil, &tool.Error{
			Code: tool.Invalid, Op: "try proposals",
			Msg: "nothing is known of kinds of tools, to measure by",
		}
	}
	st := c.st.Load()
	good, findings := newProposalCheck(st, proposals, nil).all(proposals)
	if len(good) == 0 {
		return nil, findings, nil
	}
	out := &Trial{}
	spoken, approved := map[tool.ID]bool{}, st.enrichment(approvedOverlay).Clone()
	for _, p := range good {
		spoken[p.Tool] = true
		var held []Question
		p.Utterances, held = split(p)
		out.Own = append(out.Own, held...)
		approved.Tools[p.Tool] = approved.Tools[p.Tool].Union(patchOf(p))
	}
	after, _, err := st.withOverlays(approved)
	if err != nil {
		return nil, nil, err
	}
	asked, err := x.questions(st, spoken, out)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range []struct {
		st   *state
		into **index.Snapshot
	}{{st, &out.Before}, {after, &out.After}} {
		if *one.into, err = x.measurable(ctx, one.st, asked); err != nil {
			return nil, nil, err
		}
	}
	return out, findings, nil
}

// split takes from a proposal the requests that are held out.
func split(p tool.Proposal) (rest []string, held []Question) {
	if len(p.Utterances) < 2 {
		return p.Utterances, nil
	}
	byHash := slices.SortedFunc(slices.Values(p.Utterances), func(a, b string) int {
		return cmp.Or(cmp.Compare(hashOf(a), hashOf(b)), cmp.Compare(a, b))
	})
	n := (len(byHash) + ownHeldOut - 1) / ownHeldOut
	for _, u := range byHash[:n] {
		held = append(held, Question{u, p.Tool})
	}
	return slices.Sorted(slices.Values(byHash[n:])), held
}

func hashOf(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // it never fails
	return h.Sum32()
}

func isHeldOut(utterance string) bool { return hashOf(utterance)%heldOut == 0 }

// questions asks for tools that are of a known kind and not spoken of, for each kind the tool that is most like it. It
// returns these tools.
func (x *searchable) questions(st *state, spoken map[tool.ID]bool, into *Trial) ([]entry, error) {
	type typical struct {
		e    entry
		like float32
	}
	kinds := map[int]typical{}
	for _, e := range st.entries {
		p, err := decodePrepared(st.made.lent[e.hash])
		if err != nil || e.tool.Disabled || spoken[e.tool.ID()] || len(p.landmarks) == 0 ||
			p.landmarks[0].Like < unfamiliar {
			continue
		}
		near := p.landmarks[0]
		if have, ok := kinds[int(near.Point)]; !ok || near.Like > have.like {
			kinds[int(near.Point)] = typical{e, near.Like}
		}
	}
	points := slices.SortedFunc(maps.Keys(kinds), func(a, b int) int { // a sample of the catalogue, whatever is in it
		return cmp.Compare(hashOf(string(kinds[a].e.tool.ID())), hashOf(string(kinds[b].e.tool.ID())))
	})
	points = points[:min(len(points), mostQuestions)]
	heads, err := x.m.Base.Heads(points)
	if err != nil {
		return nil, err
	}
	var asked []entry
	for i, point := range points {
		said := heads[i].Utterances
		at := slices.IndexFunc(said, isHeldOut)
		if at < 0 {
			continue
		}
		asked = append(asked, kinds[point].e)
		into.Others = append(into.Others, Question{said[at], kinds[point].e.tool.ID()})
	}
	return asked, nil
}

// measurable is the index of a state in which the tools asked for have been lent nothing that is held out.
func (x *searchable) measurable(ctx context.Context, st *state, asked []entry) (*index.Snapshot, error) {
	have := newMaterial()
	have.add(st.made)
	lender := x.m.Base.Lender(x.m.Encoder)
	lender.Without = isHeldOut
	if err := x.analyse(ctx, lender, asked, have); err != nil {
		return nil, err
	}
	made, err := x.prepare(ctx, st.entries, have, func(int, int) {})
	if err != nil {
		return nil, err
	}
	have.add(made)
	return x.snapshot(tool.NewSet(st.tools(), ""), st.entries, have)
}
