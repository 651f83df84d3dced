package selection

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"tooldex/tool"
)

// How far below the best tool for a message one may score and still be selected with it, how many are selected whatever
// they score, of each need where there are several, and of how many the search is asked for. Of a small catalogue, five
// tools are much: those that score less than enough are selected while the needs cost at most lesserShare of its
// tokens, or lesserRoom tokens, below which nothing worth saving is left.
const (
	enough      = .6
	fewest      = 5
	fewestEach  = 3
	lesserShare = .09
	lesserRoom  = 400
	searchDepth = 30
)

// The turns of the history that count, from the last one on, by how much.
var turnWeights = [...]float64{.5, .25}

// maxLift bounds by what part of its score a tool may be lifted. A tool that scores better than another by more stays
// before it.
const maxLift = .15

// need is a tool that the message or the history calls for.
type need struct {
	tool   *tool.Tool
	by     float64 // the score times the weight of its turn and the bonus; tools are sorted by it
	origin Origin
	lesser bool // it scores less than enough of the best, and is selected for being among the first few
}

// findNeeds returns the tools for the message and the last turns, the most needed first. A text for which the search is
// not confident needs none.
func (s *Selector) findNeeds(ctx context.Context, set *tool.Set, q Query, used map[tool.ID]bool) ([]need,
	*searchOutcome, bool, error,
) {
	first, cached, err := s.searchMessage(ctx, set, q.Message)
	if err != nil {
		return nil, nil, false, err
	}
	var out []need
	if first.confident {
		out = s.cutHits(set, first, used, 1, searchOrigin(cached))
	}
	// Scores for earlier turns are lowered by the weight of their turn. They must still reach the same share of the
	// best score for the message, so that an old turn adds only what it matched clearly.
	most := 0.
	for _, n := range out {
		most = max(most, n.by)
	}
	turns := lastTurns(q.History, q.Message)
	for i, text := range turns {
		more, cached, err := s.searchMessage(ctx, set, text)
		if err != nil {
			return nil, nil, false, err
		}
		if !more.confident {
			continue
		}
		for _, n := range s.cutHits(set, more, used, turnWeights[i], searchOrigin(cached)) {
			if n.by >= enough*most && !slices.ContainsFunc(out, func(have need) bool { return have.tool == n.tool }) {
				out = append(out, n)
			}
		}
	}
	if len(turns) > 0 { // a message that says little by itself leaves the first places to what was said before
		slices.SortStableFunc(out, func(a, b need) int { return cmp.Compare(b.by, a.by) })
	}
	return out, first, cached, nil
}

// searchOrigin returns the origin of what a search found, now or for an earlier message.
func searchOrigin(cached bool) Origin {
	if cached {
		return FromCache
	}
	return FromSearch
}

// lastTurns returns the last texts of the user before the message, the latest first, at most one for each weight.
func lastTurns(history []Turn, message string) []string {
	var out []string
	for _, t := range slices.Backward(history) {
		text := strings.TrimSpace(t.Content)
		// Only the user's texts express needs; answers of the assistant repeat what tools returned.
		if t.Role != "" && t.Role != "user" || text == "" || text == message {
			continue
		}
		if out = append(out, text); len(out) == len(turnWeights) {
			break
		}
	}
	return out
}

// searchMessage returns the search result for a message, from the cache if one that means the same is there; the second
// result reports that. A degraded result is not cached.
func (s *Selector) searchMessage(ctx context.Context, set *tool.Set, text string) (*searchOutcome, bool, error) {
	var v []float32
	if s.o.Embedder != nil && s.o.CacheSize > 0 {
		if vs, err := s.o.Embedder.Queries(ctx, []string{text}); err == nil && len(vs) == 1 { // the search reports the error
			v = unitVector(vs[0])
		}
		// The key holds the words by which names of tools differ: vectors alone do not distinguish "delete" from
		// "create".
	}
	key := s.costsOf(set).vocabulary.Key(text)
	if f := s.cache.lookupMessage(set, text, key, v); f != nil {
		return f, true, nil
	}
	res, err := s.o.Searcher.Search(ctx, tool.Query{
		Text: text, Limit: searchDepth, Detail: tool.DetailName,
		Profile: s.o.Profile,
	})
	if err != nil {
		return nil, false, err
	}
	if res.Advice != nil && res.Advice.NoRequest {
		res.Tools, res.Groups = nil, nil // talk needs no tool, not even the nearest
	}
	f := &searchOutcome{hits: res.Tools, confident: res.Confident, advice: res.Advice, degraded: res.Degraded}
	for _, g := range res.Groups {
		var ids []tool.ID
		for _, h := range g.Tools {
			ids = append(ids, h.ID)
		}
		f.groups = append(f.groups, ids)
	}
	if f.degraded == "" {
		s.cache.storeMessage(set, text, key, v, f)
	}
	return f, false, nil
}

// unitVector returns a copy of v in unit length; the zero vector stays.
func unitVector(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	out := slices.Clone(v)
	if sum > 0 {
		f := float32(1 / math.Sqrt(sum))
		for i := range out {
			out[i] *= f
		}
	}
	return out
}

// cutHits returns the first few hits and those that score nearly as well as the best, with their bonus. Hits for
// several needs keep their order, so that each need is served.
func (s *Selector) cutHits(set *tool.Set, f *searchOutcome, used map[tool.ID]bool, weight float64, origin Origin) []need {
	category := ""
	if !s.o.NoLifts {
		category = mainCategory(f.hits)
	}
	type ranked struct {
		need
		among bool // the first of a need
	}
	var all []ranked
	for i, h := range f.hits {
		t, ok := set.Get(h.ID)
		if !ok {
			continue
		}
		r := ranked{need: need{tool: t, by: h.Score * weight, origin: origin}}
		if !s.o.NoLifts {
			r.by *= 1 + scoreBonus(t, category, used[h.ID])
		}
		r.among = i < fewest && len(f.groups) == 0 || slices.ContainsFunc(f.groups, func(ids []tool.ID) bool {
			return slices.Contains(ids[:min(fewestEach, len(ids))], h.ID)
		})
		all = append(all, r)
	}
	if len(f.groups) == 0 {
		slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.by, a.by) })
	}
	most := 0.
	for _, r := range all {
		most = max(most, r.by)
	}
	var out []need
	for _, r := range all {
		if r.among || r.by >= enough*most {
			r.lesser = len(f.groups) == 0 && r.by < enough*most
			out = append(out, r.need)
		}
	}
	return out
}

// scoreBonus returns the share by which a tool's score is raised: half of maxLift for the main category, half for a
// recent call.
func scoreBonus(t *tool.Tool, category string, used bool) float64 {
	by := 0.
	if category != "" && categoryOf(t) == category {
		by += maxLift / 2
	}
	if used {
		by += maxLift / 2
	}
	return by
}

// mainCategory returns the category with more than half of the score of the best five tools, or "" if there is none.
func mainCategory(hits []tool.Hit) string {
	const among = 5
	share := map[string]float64{}
	total := 0.
	for _, h := range hits[:min(among, len(hits))] {
		share[cmp.Or(h.Category, "other")] += h.Score
		total += h.Score
	}
	for name, s := range share {
		if s > total/2 {
			return name
		}
	}
	return ""
}
