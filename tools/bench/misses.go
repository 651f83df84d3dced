package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tooldex/eval"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/search"
	"tooldex/tool"
)

// worst is how many misses are shown one by one.
const worst = 20

// miss is a request whose tools did not come first enough. Its text stays where it is: labels are not ours to copy.
type miss struct {
	set, id, kind string
	place         int // of the last tool that was needed; beyond what was ranked if it was not found
	clues
}

// notFound is the place of a tool that is not among those that were ranked.
const notFound = tool.MaxLimit + 1

// missed is the place that a request must not exceed: five for one need, ten for several.
func missed(c *eval.Case, place int) bool {
	if len(c.AllOf) > 1 {
		return place > 10
	}
	return place > 5
}

// placeOf is where the first tool stands that serves a request; of several needs, where the last is met.
func placeOf(c *eval.Case, ranked []eval.Ranked) int {
	_, place := hardest(c, ranked)
	return place
}

// hardest returns the tools that meet the need of a request whose first tool comes last, and that tool's place.
func hardest(c *eval.Case, ranked []eval.Ranked) (names []string, place int) {
	groups := c.AllOf
	if len(groups) == 0 {
		groups = [][]string{c.Relevant}
	}
	for _, g := range groups {
		at := 1 + slices.IndexFunc(ranked, func(r eval.Ranked) bool { return slices.Contains(g, r.Name) })
		if at == 0 {
			at = notFound
		}
		if at > place {
			names, place = g, at
		}
	}
	return names, place
}

func (l *lab) missesText(ctx context.Context) (string, error) {
	var (
		all      []miss
		asked    int
		likeness []float64
	)
	for _, name := range spread() {
		b, err := l.bedside(ctx, name)
		if err != nil {
			return "", err
		}
		for i := range b.snap.Len() {
			likeness = append(likeness, nearestLike(b.snap, i))
		}
		missed, n, err := b.misses(ctx)
		if err != nil {
			return "", err
		}
		all, asked = append(all, missed...), asked+n
	}
	low := quantile(likeness, .25)
	for i := range all {
		all[i].low = low
	}
	slices.SortFunc(all, func(a, b miss) int {
		return cmp.Or(cmp.Compare(b.place, a.place), cmp.Compare(a.set, b.set), cmp.Compare(a.id, b.id))
	})
	return missesPage(all, asked), nil
}

// misses puts all requests of the set and examines those that are missed. It also tells how many some tool serves.
func (b *bedside) misses(ctx context.Context) (out []miss, asked int, err error) {
	r, err := b.runNamed(ctx, b.whole(), b.set.Name)
	if err != nil {
		return nil, 0, err
	}
	for i := range r.Cases {
		c := &b.set.Cases[i]
		if c.NoMatch() {
			continue
		}
		asked++
		if place := placeOf(c, r.Cases[i].Ranked); missed(c, place) {
			found, err := b.examine(ctx, c, r.Cases[i].Ranked)
			if err != nil {
				return nil, 0, err
			}
			out = append(out, miss{set: b.set.Name, id: c.ID, kind: c.Kind, place: place, clues: found})
		}
	}
	return out, asked, nil
}

// bedside is a set with the whole search at hand, to look at its misses.
type bedside struct {
	*lab
	set    *labelled
	engine *search.Engine
	snap   *index.Snapshot
	docs   map[string]int // by the set's own name of the tool
}

func (l *lab) bedside(ctx context.Context, name string) (*bedside, error) {
	set, err := l.set(ctx, name)
	if err != nil {
		return nil, err
	}
	engine, snap, err := l.open(ctx, l.whole(), set)
	if err != nil {
		return nil, err
	}
	b := &bedside{l, set, engine, snap, map[string]int{}}
	for i, t := range snap.Set().All() {
		b.docs[set.Label(t.ID())] = i
	}
	return b, nil
}

// nearestLike is how like a document is to the archetype nearest to it.
func nearestLike(snap *index.Snapshot, doc int) float64 {
	like := 0.
	for _, m := range snap.Landmarks(doc) {
		like = max(like, float64(m.Like))
	}
	return like
}

func (b *bedside) examine(ctx context.Context, c *eval.Case, ranked []eval.Ranked) (clues, error) {
	answer, err := b.engine.Search(ctx, tool.Query{Text: c.Query, Limit: tool.DefaultLimit, Detail: tool.DetailName})
	if err != nil {
		return clues{}, err
	}
	english := b.base.Translate(c.Query)
	full := knowledge.Shapes(c.Query) + " " + english
	out := clues{
		needs: len(c.AllOf), parts: len(answer.Groups), foreign: c.Kind == "non-english" || c.Lang != "" &&
			c.Lang != "en",
		translated: len(strings.Fields(english)),
	}
	terms := knowledge.Terms(full)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	if !out.foreign {
		out.words = len(terms)
		for _, t := range terms {
			if _, known := b.snap.IDF(t); !known {
				out.unknown++
			}
		}
	}
	right := b.rightOf(c, ranked)
	out.like = nearestLike(b.snap, right)
	if len(ranked) > 0 {
		first := b.docs[ranked[0].Name]
		out.shared = sharedLenders(b.snap.Landmarks(right), b.snap.Landmarks(first))
		out.sameServer = b.server(right) == b.server(first)
	}
	out.linked = b.linked(full, terms, right)
	return out, nil
}

func (b *bedside) server(doc int) string { return b.snap.Set().All()[doc].Server }

// rightOf is the tool that a request should have found: of those that serve the one that came nearest, else the one
// that archetypes know best.
func (b *bedside) rightOf(c *eval.Case, ranked []eval.Ranked) int {
	names, place := hardest(c, ranked)
	if place <= len(ranked) {
		return b.docs[ranked[place-1].Name]
	}
	best := b.docs[names[0]]
	for _, name := range names[1:] {
		if doc := b.docs[name]; nearestLike(b.snap, doc) > nearestLike(b.snap, best) {
			best = doc
		}
	}
	return best
}

// linked reports whether an archetype that a request is near to lent to a document.
func (b *bedside) linked(text string, terms []string, doc int) bool {
	v := make([]float32, b.encoder.Dims)
	b.encoder.Query(text, v)
	near := b.base.Nearest(terms, v, nearestArchetypes, new(knowledge.Scratch))
	return slices.ContainsFunc(b.snap.Landmarks(doc), func(m index.Landmark) bool {
		return m.Lent > 0 && slices.ContainsFunc(near, func(n knowledge.Near) bool {
			return n.Archetype == int(m.Point)
		})
	})
}

// sharedLenders is the share, by weight, of what was lent to right that came from archetypes that lent to first, too.
func sharedLenders(right, first []index.Landmark) float64 {
	var all, shared float64
	for _, r := range right {
		all += float64(r.Lent)
		if slices.ContainsFunc(first, func(f index.Landmark) bool { return f.Point == r.Point && f.Lent > 0 }) {
			shared += float64(r.Lent)
		}
	}
	if all == 0 {
		return 0
	}
	return shared / all
}

// quantile returns the value below which a share of values lies; 0 without values.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(math.Floor(share*float64(len(sorted)))))]
}

func missesPage(all []miss, asked int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Worst misses\n\nOf %d requests over %s that a tool serves, %d are missed: no right tool among five, or a need without one among ten. Each is put\n"+
		"down to the first of these causes that applies, by figures alone; docs/quality-notes.md discusses them.\n\n| cause | how it is told | worst %d | all |\n|---|---|---|---|\n",
		asked, strings.Join(spread(), ", "), len(all), min(worst, len(all)))
	count := func(of []miss, cause string) (n int) {
		for i := range of {
			if of[i].cause() == cause {
				n++
			}
		}
		return n
	}
	shown := all[:min(worst, len(all))]
	for _, c := range causes() {
		if n := count(all, c[0]); n > 0 {
			fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", c[0], c[1], count(shown, c[0]), n)
		}
	}
	b.WriteString("\n| set | request | kind | place | cause | likeness of its nearest archetype | lenders shared with the first | same server | led to its archetypes | words unknown |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, m := range shown {
		place := fmt.Sprint(m.place)
		if m.place == notFound {
			place = fmt.Sprintf("over %d", tool.MaxLimit)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %d of %d |\n",
			m.set, m.id, m.kind, place, m.cause(), figure(m.like), figure(m.shared), yes(m.sameServer), yes(m.linked),
			m.unknown, m.words)
	}
	if len(shown) > 0 {
		fmt.Fprintf(&b, "\nA likeness below %s is less than that of three in four tools.\n", figure(shown[0].low))
	}
	b.WriteString("\n")
	return b.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
