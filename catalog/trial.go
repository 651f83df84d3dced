package catalog

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"slices"

	"tooldex/catalog/sources"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// Trial shows what an overlay would change. It is made in memory and stored nowhere. For a fair comparison, the tools
// that Others asks for have borrowed nothing from the requests that ask for them, in Before and After alike.
type Trial struct {
	Before, After *index.Snapshot
	Others        []Question // requests for tools that the overlay does not change
}

// Question is a request with the tool that should be found for it.
type Question struct {
	Text string
	Tool tool.ID
}

const (
	heldOut       = 5   // one in this many requests of each kind of tools is held out
	mostQuestions = 400 // the most questions in Trial.Others
)

// Try makes in memory what applying an overlay would make. Spoken are the tools that the overlay is about, for which
// the caller has questions; for others, Try asks requests of their kinds. The error is Invalid for a catalogue without
// knowledge.
func (v View) Try(ctx context.Context, o *sources.Overlay, spoken map[tool.ID]bool) (*Trial, error) {
	x := v.indexer
	if x == nil || x.m.Base == nil || x.m.Encoder.Query == nil {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "try proposals",
			Msg: "nothing is known of kinds of tools, to measure by",
		}
	}
	out := &Trial{}
	after, _, err := v.st.withOverlays(o)
	if err != nil {
		return nil, err
	}
	asked, err := x.knownQuestions(v.st, spoken, out)
	if err != nil {
		return nil, err
	}
	if out.Before, err = x.trialSnapshot(ctx, v.st, asked); err != nil {
		return nil, err
	}
	if out.After, err = x.trialSnapshot(ctx, after, asked); err != nil {
		return nil, err
	}
	return out, nil
}

// hashOf returns a hash that is the same in every process, so that a trial can be repeated.
func hashOf(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // it never fails
	return h.Sum32()
}

// isHeldOut reports whether a request is asked in trials, and therefore not lent in them.
func isHeldOut(utterance string) bool { return hashOf(utterance)%heldOut == 0 }

// knownQuestions adds to into a question for each known kind of tools, which asks for the tool that is most like the
// kind. Tools in spoken are left out. It returns the tools that are asked for.
func (x *searchable) knownQuestions(st *state, spoken map[tool.ID]bool, into *Trial) ([]entry, error) {
	type typical struct {
		e    entry
		like float32
	}
	kinds := map[int]typical{}
	for _, e := range st.entries {
		p, err := decodePrepared(st.derived.lent[e.hash])
		if err != nil || e.tool.Disabled || spoken[e.tool.ID()] || len(p.landmarks) == 0 ||
			p.landmarks[0].Like < Familiar {
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

// trialSnapshot builds the index of a state in which the tools asked for have borrowed nothing from the requests that
// are held out.
func (x *searchable) trialSnapshot(ctx context.Context, st *state, asked []entry) (*index.Snapshot, error) {
	have := newDerived()
	have.addContent(st.derived)
	lender := x.m.Base.Lender(x.m.Encoder)
	lender.Without = isHeldOut
	if err := x.analyseAlone(ctx, lender, st, asked, have); err != nil {
		return nil, err
	}
	own := &searchable{m: x.m, o: x.o} // the catalogue may be using x
	made, err := own.prepare(ctx, st.allEntries(), have, func(int, int) {})
	if err != nil {
		return nil, err
	}
	have.addContent(made)
	return own.buildSnapshot(tool.NewSet(st.servedTools(), ""), st.entries, have)
}

// analyseAlone analyses some tools of a state beside all of their rivals, and adds to have only their analyses.
func (x *searchable) analyseAlone(ctx context.Context, lender *knowledge.Lender, st *state, some []entry,
	have *derived,
) error {
	servers := map[string]bool{}
	for _, e := range some {
		servers[e.tool.Server] = true
	}
	all := st.allEntries()
	beside := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return !servers[e.tool.Server] })
	made := newDerived()
	for part := range chunksOfServers(beside, analysisChunk) {
		if _, err := x.analyseTools(ctx, lender, part, x.countRivals(all), made); err != nil {
			return err
		}
	}
	for _, e := range some {
		have.lent[e.hash] = made.lent[e.hash]
	}
	return nil
}
