package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tooldex/tool"
)

// layered has documents in two layers, and in one index that was built of all of them.
type layered struct {
	base, extra, whole, both *Snapshot
	docs                     []Doc
}

// inLayers takes n documents of which a part is gone and a part is new, some of them disabled.
func inLayers(t *testing.T, n, dims int) layered {
	t.Helper()
	docs := randomDocs(11, n, dims)
	r := rand.New(rand.NewPCG(4, 4))
	var (
		kept           []Doc // in the order of the whole
		before, extra  []Doc
		wasOff, isOff  []bool
		extraOff       []bool
		from           []int32
		groups, copies = []int32{}, []bool{}
	)
	for i := range docs {
		docs[i].Class = uint8(i % 5)
		docs[i].Landmarks = []Landmark{{Point: int32(i % 13), Like: float32(i%7) / 7}, {Point: 40, Like: .1}}[:i%3]
		docs[i].Fields[Server] = words(fmt.Sprintf("server%d", i/10), "word3")
		if i%17 == 0 {
			docs[i].Vector = nil
		}
		off := i%19 == 0
		isNew, gone := r.IntN(30) == 0, r.IntN(25) == 0
		if isNew {
			docs[i].Fields[Labels] = words("fresh", fmt.Sprintf("fresh%d", i))
			extra, extraOff = append(extra, docs[i]), append(extraOff, off)
			from = append(from, ^int32(len(extra)-1))
		} else {
			before, wasOff = append(before, docs[i]), append(wasOff, off)
			if gone {
				continue
			}
			from = append(from, int32(len(before)-1))
		}
		kept, isOff = append(kept, docs[i]), append(isOff, off)
		groups, copies = append(groups, int32(i/2%9)), append(copies, i%23 == 0)
	}
	set := func(off []bool) *tool.Set {
		tools := setOf(len(off)).All()
		for i := range off {
			tools[i].Disabled = off[i]
		}
		return tool.NewSet(tools, "")
	}
	snapshot := func(off []bool, docs []Doc, l Lengths) *Snapshot {
		b, err := NewBuilder(set(off), l, Options{Model: "m"}, "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range docs {
			if err := b.Add(&docs[i]); err != nil {
				t.Fatal(err)
			}
		}
		s, err := b.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var l Lengths
	for i := range before {
		l.Add(&before[i])
	}
	out := layered{docs: kept}
	out.base = snapshot(wasOff, before, l)
	out.extra = snapshot(extraOff, extra, LayerLengths(out.base, extra))
	var all Lengths
	for i := range kept {
		all.Add(&kept[i])
		kept[i].DuplicateGroup, kept[i].Copy = groups[i], copies[i]
	}
	out.whole = snapshot(isOff, kept, all)
	var err error
	if out.both, err = Layer(set(isOff), out.base, out.extra, from, groups, copies); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLayers compares two layers with one index of the same documents: all is equal but what Layer says.
func TestLayers(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, in one goroutine")
	}
	for _, n := range []int{400, leastCoarse + 2000} {
		x := inLayers(t, n, 64)
		want, got := x.whole, x.both
		size := got.Len()
		if size != want.Len() || got.Dims() != want.Dims() || got.Model() != want.Model() || got.HasCoarse() != want.HasCoarse() {
			t.Fatalf("%d documents: another index", n)
		}
		some, gone := make([]bool, size), 0
		for i := range some {
			some[i] = i%3 == 0
		}
		seen := map[string]bool{}
		for _, part := range []*Snapshot{x.base, x.extra} {
			for id := range part.idf {
				term := string(part.words.text[part.words.at[id]:part.words.at[id+1]])
				if seen[term] || n > 1000 && len(seen) > 500 {
					continue
				}
				seen[term] = true
				idf, ok := want.IDF(term)
				if have, has := got.IDF(term); has != ok || have != idf {
					t.Fatalf("rarity of %s is %v %v, want %v %v", term, have, has, idf, ok)
				}
				if !ok {
					gone++
				}
				among, ok := want.IDFAmong(term, some, size)
				if have, has := got.IDFAmong(term, some, size); has != ok || ok && have != among || got.HasTerm(term, some) != ok {
					t.Fatalf("rarity of %s among some is %v %v, want %v %v", term, have, has, among, ok)
				}
				a, b, ownA, ownB := make([]float32, size), make([]float32, size), make([]float32, size), make([]float32, size)
				if want.AddWordScores(term, .5, a, ownA) != got.AddWordScores(term, .5, b, ownB) {
					t.Fatalf("only one index has %s", term)
				}
				for i := range a {
					// the mean lengths of fields count what is gone, one document in 25
					if math.Abs(float64(a[i]-b[i])) > .06*float64(a[i]) || math.Abs(float64(ownA[i]-ownB[i])) > .06*float64(ownA[i]) {
						t.Fatalf("%s adds %v and %v to %d, want %v and %v", term, b[i], ownB[i], i, a[i], ownA[i])
					}
					if impact, own := got.TermImpacts(term, i); math.Abs(float64(impact/2-b[i])) > 1e-5 || math.Abs(float64(own/2-ownB[i])) > 1e-5 {
						t.Fatalf("impact of %s in %d is %v, %v", term, i, impact, own)
					}
				}
			}
		}
		if gone == 0 && n < 1000 {
			t.Error("no word is gone, which was to be tested")
		}
		q := unit(rand.New(rand.NewPCG(9, 9)), 64)
		a, b := make([]float32, size), make([]float32, size)
		want.Cosines(q, a)
		got.Cosines(q, b)
		if !slices.Equal(a, b) {
			t.Error("cosines differ")
		}
		all := make([]bool, size)
		for i := range all {
			all[i] = i%4 > 0
			if got.Cosine(q, i) != a[i] || got.Class(i) != want.Class(i) || got.IsCopy(i) != want.IsCopy(i) ||
				!slices.Equal(got.Landmarks(i), want.Landmarks(i)) || !slices.Equal(got.Duplicates(i), want.Duplicates(i)) {
				t.Fatalf("document %d differs", i)
			}
		}
		for point := range int32(42) {
			if have := got.Resemblance(point, all); have != want.Resemblance(point, all) {
				t.Errorf("resemblance to %d is %v", point, have)
			}
		}
		if want.HasCoarse() {
			mean, deviation := want.CosineStatistics(q)
			haveMean, haveDeviation := got.CosineStatistics(q)
			if math.Abs(mean-haveMean) > 1e-6 || math.Abs(deviation-haveDeviation) > .02*deviation {
				t.Errorf("mean and deviation are %v, %v, want %v, %v", haveMean, haveDeviation, mean, deviation)
			}
			var off float64
			got.RoughCosines(q, b)
			for i := range b {
				off += math.Pow(float64(a[i]-b[i]), 2)
			}
			if off = math.Sqrt(off / float64(size)); off > .8*deviation {
				t.Errorf("estimates are off by %v, where cosines deviate by %v", off, deviation)
			}
		}
		near, err := want.Neighbours(t.Context(), 5, 6)
		if err != nil {
			t.Fatal(err)
		}
		if have, err := got.Neighbours(t.Context(), 5, 6); err != nil || !slices.Equal(have, near) {
			t.Errorf("neighbours are %v, want %v, %v", have, near, err)
		}
		if _, err := got.Image(); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("the image of two layers: %v", err)
		}
	}
}

// TestLayersRefused gives parts that do not fit together.
func TestLayersRefused(t *testing.T) {
	base, extra := build(t, randomDocs(1, 5, 8), Options{Model: "m"}), build(t, randomDocs(2, 2, 8), Options{Model: "m"})
	layer := func(base, extra *Snapshot, from ...int32) error {
		_, err := Layer(setOf(len(from)), base, extra, from, make([]int32, len(from)), make([]bool, len(from)))
		return err
	}
	if err := layer(base, extra, 0, ^0, 4, ^1); err != nil {
		t.Fatal(err)
	}
	both, _ := Layer(setOf(1), base, extra, []int32{0}, []int32{0}, []bool{false})
	for name, err := range map[string]error{
		"a number beyond the base":     layer(base, extra, 5),
		"a number beyond the addition": layer(base, extra, ^2),
		"one document twice":           layer(base, extra, 1, 1),
		"layers of layers":             layer(both, extra, 0),
		"another width":                layer(base, build(t, randomDocs(2, 2, 16), Options{Model: "m"}), 0),
		"another model":                layer(base, build(t, randomDocs(2, 2, 8), Options{Model: "n"}), 0),
	} {
		if tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
