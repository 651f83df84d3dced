package knowledge

import (
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/internal/vector"
)

// TestSaid compares what the lists say of each archetype with its texts.
func TestSaid(t *testing.T) {
	b := smallBase(t)
	s := b.unpack()
	var an Analyzer
	for i := range b.Len() {
		head, err := b.Head(i)
		if err != nil {
			t.Fatal(err)
		}
		a := Archetype{Utterances: head.Utterances, Synonyms: head.Synonyms}
		want, got := map[string]float32{}, map[string]float32{}
		for _, term := range an.Count(a.said()) {
			want[term.Text] = term.Weight
		}
		for k := s.begin[i]; k < s.begin[i+1]; k++ {
			got[s.stems[s.stem[k]]] = float32(s.times[k])
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-texts +lists):\n%s", head.Name, d)
		}
	}
}

// TestAddWords compares the scores of unpacked lists with those of the lists as they lie in the base.
func TestAddWords(t *testing.T) {
	b := smallBase(t)
	s := b.unpack()
	scored := 0
	for _, stem := range append([]string{"", "no such stem", "\xff"}, s.stems...) {
		want, got := make([]uint16, b.Len()), make([]uint16, b.Len())
		b.addWords(stem, want)
		s.addWords(stem, got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", stem, d)
		}
		if slices.Max(want) > 0 {
			scored++
		}
	}
	if scored < len(s.stems)/2 {
		t.Errorf("only %d of %d stems score", scored, len(s.stems))
	}
}

// TestMeans wants the stored mean of an archetype's requests to have the direction of the true one.
func TestMeans(t *testing.T) {
	b, enc := smallBase(t), fakeEncoder(64)
	got := make([]float32, enc.Dims)
	for i := range b.Len() {
		head, err := b.Head(i)
		if err != nil {
			t.Fatal(err)
		}
		b.unpackMean(i, got)
		normalize(got)
		if cos := vector.Dot(got, meanVector(enc, head.Utterances)); cos < .9 {
			t.Errorf("%s: the stored mean has a cosine of %.3f with the true one", head.Name, cos)
		}
	}
}

func TestTermSums(t *testing.T) {
	dict := []string{"a", "b", "c", "d"}
	var s termSums
	for range 2 { // the second time with what the first left
		s.reset(len(dict))
		if got := s.heaviest(2, 1, dict); len(got) != 0 {
			t.Errorf("nothing added gives %v", got)
		}
		s.add(1, 2)
		s.add(3, 1)
		s.add(3, 1)
		s.add(0, 1)
		s.add(2, 0)  // no weight
		s.add(9, 10) // no such place
		var got []string
		for _, term := range s.heaviest(2, .5, dict) {
			got = append(got, term.Text)
			if term.Weight != 1 {
				t.Errorf("%s weighs %g", term.Text, term.Weight)
			}
		}
		if d := cmp.Diff([]string{"b", "d"}, got); d != "" {
			t.Errorf("heaviest (-want +got):\n%s", d)
		}
	}
}

// TestArchetypesAreShared has lenders of one base read the archetypes: those that exist at the same time share them,
// unless their models have other dimensions, and the base alone keeps nothing.
func TestArchetypesAreShared(t *testing.T) {
	b := smallBase(t)
	first := b.unpackArchetypes(64)
	if b.unpackArchetypes(64) != first {
		t.Error("the archetypes were unpacked twice")
	}
	if b.unpackArchetypes(32) == first {
		t.Error("models of different dimensions share vectors")
	}
	runtime.KeepAlive(first)
	runtime.GC()
	if b.archetypes.Value() != nil {
		t.Error("the base keeps the archetypes")
	}
}
