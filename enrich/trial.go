package enrich

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"

	"tooldex/catalog"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// ownHeldOut is the number of utterances of a proposal of which one is held out, rounded up. Of a single utterance none
// is.
const ownHeldOut = 3

// Trial shows what a proposal would change. It is made in memory and stored nowhere. After has all of the proposal but
// the requests of Own, so that Own is a fair test.
type Trial struct {
	*catalog.Trial
	Own []catalog.Question // requests of the proposal, for the tools that it names
}

// Try makes in memory what Enrich would store, to be measured, and returns it with the findings of Enrich. The trial is
// nil if nothing passes. Which requests are held out depends on their texts alone. The error is Invalid for a catalogue
// without knowledge.
func (e *Enricher) Try(ctx context.Context, proposals []tool.Proposal) (*Trial, []sanitize.Finding, error) {
	view := e.catalog.View()
	good, findings := newChecker(view, proposals, nil).checkProposals(proposals)
	approved := overlayOf(view, approvedOverlay)
	spoken := map[tool.ID]bool{}
	var own []catalog.Question
	for _, p := range good {
		spoken[p.Tool] = true
		var held []catalog.Question
		p.Utterances, held = holdOut(p)
		own = append(own, held...)
		approved.Tools[p.Tool] = approved.Tools[p.Tool].Union(patchOf(p))
	}
	trial, err := view.Try(ctx, approved, spoken)
	if err != nil {
		return nil, nil, err
	}
	if len(good) == 0 {
		return nil, findings, nil
	}
	return &Trial{trial, own}, findings, nil
}

// holdOut divides the utterances of a proposal into those that are kept, sorted, and questions that are held out.
func holdOut(p tool.Proposal) (rest []string, held []catalog.Question) {
	if len(p.Utterances) < 2 {
		return p.Utterances, nil
	}
	byHash := slices.SortedFunc(slices.Values(p.Utterances), func(a, b string) int {
		return cmp.Or(cmp.Compare(hashOf(a), hashOf(b)), cmp.Compare(a, b))
	})
	n := (len(byHash) + ownHeldOut - 1) / ownHeldOut
	for _, u := range byHash[:n] {
		held = append(held, catalog.Question{Text: u, Tool: p.Tool})
	}
	return slices.Sorted(slices.Values(byHash[n:])), held
}

// hashOf returns a hash that is the same in every process.
func hashOf(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // it never fails
	return h.Sum32()
}
