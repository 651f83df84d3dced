package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"tooldex/knowledge"
)

// spread lists the sets by which knowledge is judged: requests in other words than the tools'.
func spread() []string { return []string{"intents", "little_known", demoSet} }

// curveKinds are the kinds of requests that archetypes are written for.
func curveKinds() []string { return []string{"paraphrase", "goal"} }

// point is what so many archetypes bring.
type point struct {
	archetypes, servers int
	found               map[string][]bool // by kind, for each request whether a right tool was among five
}

// curveSizes are the numbers of archetypes that are compared, each twice the one before; what is left over of total
// makes one more point where it is a tenth at least.
func curveSizes(total int) []int {
	var out []int
	for n := 750; n <= total && n <= 12_000; n *= 2 {
		out = append(out, n)
	}
	if len(out) == 0 || total*10 >= out[len(out)-1]*11 {
		out = append(out, total)
	}
	return out
}

func (l *lab) curveText(ctx context.Context) (string, error) {
	var points []point
	for _, n := range curveSizes(len(l.source.Archetypes)) {
		p, err := l.pointOf(ctx, n)
		if err != nil {
			return "", err
		}
		points = append(points, p)
	}
	return curvePage(points), nil
}

func (l *lab) pointOf(ctx context.Context, n int) (point, error) {
	src, servers := subset(l.source, n)
	base, err := l.compile(src)
	if err != nil {
		return point{}, err
	}
	p := point{archetypes: base.Len(), servers: servers, found: map[string][]bool{}}
	s := l.with(fmt.Sprintf("%d archetypes", base.Len()), base)
	for _, name := range spread() {
		r, err := l.runNamed(ctx, s, name)
		if err != nil {
			return point{}, err
		}
		delete(l.snapshots, name+" "+s.indexed)
		for i := range r.Cases {
			c := &r.Cases[i]
			if !c.NoMatch && slices.Contains(curveKinds(), c.Kind) {
				p.found[c.Kind] = append(p.found[c.Kind], among(c.Rank, 5))
			}
		}
	}
	return p, nil
}

func among(rank, k int) bool { return rank > 0 && rank <= k }

// subset keeps n archetypes, by whole kinds of servers in the order of their hashes, so that a smaller subset is a part
// of a larger; of the last kind only as many as are still wanted.
func subset(src *knowledge.Source, n int) (out *knowledge.Source, servers int) {
	count := map[string]int{}
	for i := range src.Archetypes {
		count[src.Archetypes[i].Server]++
	}
	names := make([]string, 0, len(count))
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if ha, hb := hashOf(a), hashOf(b); ha != hb {
			if ha < hb {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	quota := map[string]int{}
	for _, name := range names {
		if n <= 0 {
			break
		}
		quota[name] = min(n, count[name])
		n -= quota[name]
		servers++
	}
	copied := *src
	copied.Archetypes = nil
	for _, a := range src.Archetypes {
		if quota[a.Server] > 0 {
			quota[a.Server]--
			copied.Archetypes = append(copied.Archetypes, a)
		}
	}
	return &copied, servers
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte("curve/" + s))
	return h.Sum64()
}

func curvePage(points []point) string {
	var b strings.Builder
	b.WriteString("## Learning curve\n\nThe same search with only some of the archetypes, taken by whole kinds of servers in the order of their hashes; thesaurus, lexicon and table\n" +
		"stay. The table was trained on all of them, which flatters the short rows. Pooled over " +
		strings.Join(spread(), ", ") + "; hit@5 ± its standard error.\n\n" +
		"| archetypes | kinds of servers |")
	for _, kind := range curveKinds() {
		fmt.Fprintf(&b, " %s (%d) |", kind, len(points[0].found[kind]))
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(curveKinds())) + "\n")
	for _, p := range points {
		fmt.Fprintf(&b, "| %d | %d |", p.archetypes, p.servers)
		for _, kind := range curveKinds() {
			share := shareOf(p.found[kind])
			fmt.Fprintf(&b, " %s ± %s |", figure(share), figure(math.Sqrt(share*(1-share)/float64(len(p.found[kind])))))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n" + verdict(points) + "\n\n")
	return b.String()
}

func shareOf(found []bool) float64 {
	n := 0
	for _, f := range found {
		if f {
			n++
		}
	}
	return float64(n) / float64(max(len(found), 1))
}

// verdict says what the last doubling brought and what another would, request by request: the same requests are asked
// of both, so the error of the difference is that of those that changed.
func verdict(points []point) string {
	if len(points) < 2 {
		return "One point makes no curve."
	}
	last := points[len(points)-1]
	before := points[0]
	for _, p := range points {
		if p.archetypes*3 <= last.archetypes*2 { // the largest that is clearly smaller
			before = p
		}
	}
	doublings := math.Log2(float64(last.archetypes) / float64(before.archetypes))
	var said, clear []string
	for _, kind := range curveKinds() {
		gain, err := change(before.found[kind], last.found[kind])
		gain, err = gain/doublings, err/doublings
		said = append(said, fmt.Sprintf("%+.3f ± %.3f of %s requests", gain, err, kind))
		if gain > 2*err && gain > 0 {
			clear = append(clear, kind)
		}
	}
	out := fmt.Sprintf("From %d to %d archetypes, a doubling brought %s at hit@5.", before.archetypes, last.archetypes,
		strings.Join(said, " and "))
	if len(clear) == 0 {
		return out + " Neither is beyond two standard errors: on these sets more archetypes of the same sort would bring too little to be measured."
	}
	return out + " That is beyond two standard errors for " + strings.Join(clear, " and ") +
		" requests: there, more archetypes still pay, at best as much again for twice as many."
}

// change is the mean of after less before over the same requests, and its standard error.
func change(before, after []bool) (mean, err float64) {
	if len(before) == 0 || len(before) != len(after) {
		return 0, 0
	}
	var sum, squares float64
	for i := range before {
		if before[i] != after[i] {
			squares++
			if after[i] {
				sum++
			} else {
				sum--
			}
		}
	}
	n := float64(len(before))
	mean = sum / n
	return mean, math.Sqrt((squares/n - mean*mean) / n)
}
