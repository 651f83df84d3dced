package service

import (
	"context"
	"strings"

	"tooldex/catalog"
	"tooldex/enrich"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/search"
	"tooldex/tool"
)

// EnrichmentEffect measures what proposed search phrases gain for their tools, and what they cost others.
type EnrichmentEffect struct {
	Own    Recall        `json:"own"`    // proposed requests that were held out for the measurement
	Others Recall        `json:"others"` // requests of similar tools that archetypes did not lend
	Lost   []LostRequest `json:"fell,omitempty"`
}

// Recall counts requests, and those of them that find their tool before and after the proposals take effect.
type Recall struct {
	Requests int  `json:"requests"`
	Before   Hits `json:"before"`
	After    Hits `json:"after"`
}

// Hits counts the requests that find their tool.
type Hits struct {
	First int `json:"first"` // at the first place
	Five  int `json:"five"`  // among the first five, those at the first place included
}

// LostRequest is a request that found its tool among the first five before, and does not after.
type LostRequest struct {
	Query string  `json:"query"`
	Tool  tool.ID `json:"tool"`
}

// measuredPlaces is the number of tools of an answer that count: as many as a search returns by default.
const measuredPlaces = 5

// MeasureProposals tries proposals in memory; nothing is stored. The effect is nil if none of them passes the checks.
// The findings say what was refused or repaired. The service must be opened ToSearch.
func (s *Service) MeasureProposals(ctx context.Context, proposals []tool.Proposal) (
	*EnrichmentEffect, []sanitize.Finding, error,
) {
	trial, findings, err := enrich.New(s.Catalog).Try(ctx, proposals)
	if trial == nil || err != nil {
		return nil, findings, err
	}
	out := &EnrichmentEffect{}
	var have, get index.Index
	have.Swap(trial.Before)
	get.Swap(trial.After)
	before, after := s.engineOver(&have), s.engineOver(&get)
	for _, part := range []struct {
		asked []catalog.Question
		into  *Recall
	}{{trial.Own, &out.Own}, {trial.Others, &out.Others}} {
		for _, q := range part.asked {
			was, err := findPlace(ctx, before, trial.Before.Set(), q)
			if err != nil {
				return nil, nil, err
			}
			now, err := findPlace(ctx, after, trial.After.Set(), q)
			if err != nil {
				return nil, nil, err
			}
			part.into.Requests++
			part.into.Before.addPlace(was)
			part.into.After.addPlace(now)
			if was > 0 && now == 0 {
				out.Lost = append(out.Lost, LostRequest{q.Text, q.Tool})
			}
		}
	}
	return out, findings, nil
}

// engineOver returns an engine like that of the service over another index. What was learned from use and the states of
// servers are left out, so that they do not blur the measurement.
func (s *Service) engineOver(x *index.Index) *search.Engine {
	o := s.Ranking
	o.Lookup, o.Servers, o.Usage, o.Learned = x, nil, nil, nil
	return search.New(o)
}

// findPlace returns the place, from 1, at which a question finds its tool or another server's copy of it; 0 means not
// among the first five.
func findPlace(ctx context.Context, by *search.Engine, set *tool.Set, q catalog.Question) (int, error) {
	res, err := by.Search(ctx, tool.Query{Text: q.Text, Limit: measuredPlaces})
	if err != nil {
		return 0, err
	}
	want, ok := set.Get(q.Tool)
	for i, h := range res.Tools {
		if h.ID == q.Tool || ok && strings.EqualFold(h.Name, want.Name) {
			return i + 1, nil
		}
	}
	return 0, nil
}

// addPlace counts a place as findPlace returns it.
func (h *Hits) addPlace(place int) {
	if place == 1 {
		h.First++
	}
	if place > 0 {
		h.Five++
	}
}
