package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/tool"
)

// byHand are weights that make the arithmetic short: a word of a name counts twice whatever the name's length, a word
// of a text counts by mean length / length.
var byHand = Options{
	K1:     1,
	Weight: [NumFields]float32{Name: 2, Text: 1},
	Length: [NumFields]float32{Name: 0, Text: 1},
}

func TestWordsByHand(t *testing.T) {
	// Lengths of the texts: 2, 4, 0; mean 2. A word of document 0's text weighs 1/(2/2) = 1, of document 1's 1/(4/2) =
	// .5.
	s := build(t, []Doc{
		{Fields: [NumFields][]Term{Name: words("issue"), Text: words("issue", "open")}},
		{Fields: [NumFields][]Term{Name: words("pull"), Text: {{"open", 3}, {"request", 1}}}},
		{Fields: [NumFields][]Term{Name: words("issue"), Params: words("ignored")}},
	}, byHand)
	// idf of a word in d of 3 documents is ln(1 + (3-d+.5)/(d+.5)): 2 gives ln(1 + 1.5/2.5) = ln 1.6, 1 gives ln(1 +
	// 2.5/1.5) = ln(8/3).
	in1, in2 := math.Log(8./3), math.Log(1.6)
	for _, c := range []struct {
		term string
		idf  float64
		want []float64
	}{
		// Document 0: 2 by name + 1 by text = 3, saturated 3*2/(3+1) = 1.5. Document 2: 2, saturated 2*2/(2+1) = 4/3.
		{"issue", in2, []float64{1.5 * in2, 0, 4. / 3 * in2}},
		// Document 0: 1, saturated 1*2/(1+1) = 1. Document 1: 3*.5 = 1.5, saturated 1.5*2/(1.5+1) = 1.2.
		{"open", in2, []float64{in2, 1.2 * in2, 0}},
		// Document 1: .5, saturated .5*2/(.5+1) = 2/3.
		{"request", in1, []float64{0, 2. / 3 * in1, 0}},
		// Document 1: 2 by name, saturated 4/3.
		{"pull", in1, []float64{0, 4. / 3 * in1, 0}},
	} {
		t.Run(c.term, func(t *testing.T) {
			if idf, ok := s.IDF(c.term); !ok || math.Abs(float64(idf)-c.idf) > 1e-6 {
				t.Errorf("IDF is %v, %v, want %v", idf, ok, c.idf)
			}
			scores := make([]float32, 3)
			if !s.AddWordScores(c.term, 1, scores, nil) {
				t.Error("Words does not know the term")
			}
			for i, want := range c.want {
				if math.Abs(float64(scores[i])-want) > 1e-6 {
					t.Errorf("document %d scores %v, want %v", i, scores[i], want)
				}
				if got := s.TermImpact(c.term, i); got != scores[i] {
					t.Errorf("Impact on document %d is %v, Words adds %v", i, got, scores[i])
				}
			}
		})
	}
	t.Run("a field of weight 0 is not indexed", func(t *testing.T) {
		if _, ok := s.IDF("ignored"); ok {
			t.Error("a word of Params is known")
		}
	})
}

func TestWordsAddsUp(t *testing.T) {
	s := build(t, []Doc{
		{Fields: [NumFields][]Term{Name: words("send", "mail")}},
		{Fields: [NumFields][]Term{Name: words("send", "money")}},
	}, Options{})
	scores := []float32{100, 0}
	s.AddWordScores("send", 2, scores, nil)
	s.AddWordScores("mail", .5, scores, nil)
	want := []float32{100 + 2*s.TermImpact("send", 0) + .5*s.TermImpact("mail", 0), 2 * s.TermImpact("send", 1)}
	if d := cmp.Diff(want, scores, cmpopts.EquateApprox(1e-6, 0)); d != "" {
		t.Errorf("scores (-want +got):\n%s", d)
	}
	before := slices.Clone(scores)
	if s.AddWordScores("absent", 1, scores, nil) || !slices.Equal(before, scores) {
		t.Error("a word that no document has changed the scores")
	}
	if _, ok := s.IDF("absent"); ok || s.TermImpact("absent", 0) != 0 {
		t.Error("a word that no document has is known")
	}
}

func TestWordsWeights(t *testing.T) {
	for name, c := range map[string]struct {
		more, less [NumFields][]Term
	}{
		"a name says more than a text": {
			[NumFields][]Term{Name: words("w"), Text: words("x")},
			[NumFields][]Term{Name: words("x"), Text: words("w")},
		},
		"a text says more than a param": {
			[NumFields][]Term{Text: words("w"), Params: words("x")},
			[NumFields][]Term{Text: words("x"), Params: words("w")},
		},
		"a short text more than a long": {
			[NumFields][]Term{Text: words("w")},
			[NumFields][]Term{Text: words("w", "a", "b", "c", "d")},
		},
		"twice is more than once": {
			[NumFields][]Term{Text: {{"w", 2}, {"a", 1}}},
			[NumFields][]Term{Text: {{"w", 1}, {"a", 2}}},
		},
		"once, given twice, is twice": {
			[NumFields][]Term{Text: words("w", "w", "a")},
			[NumFields][]Term{Text: words("w", "a", "a")},
		},
		"lent by more is lent by weight": {
			[NumFields][]Term{Lent: {{"w", 1.5}, {"a", .5}}},
			[NumFields][]Term{Lent: {{"w", .5}, {"a", 1.5}}},
		},
		"in two fields is more than one": {
			[NumFields][]Term{Name: words("w"), Text: words("w")},
			[NumFields][]Term{Name: words("w"), Text: words("a")},
		},
		"its own word more than lent one": {
			[NumFields][]Term{Text: words("w"), Lent: words("a")},
			[NumFields][]Term{Text: words("a"), Lent: words("w")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := build(t, []Doc{{Fields: c.less}, {Fields: c.more}, {}}, Options{})
			got := scoresOf(s, "w")
			if got[1] <= got[0] || got[0] <= 0 || got[2] != 0 {
				t.Errorf("scores %v: want the second above the first, and nothing for the third", got)
			}
		})
	}
}

func TestRareWordsCountMore(t *testing.T) {
	docs := make([]Doc, 10)
	for i := range docs {
		docs[i].Fields[Text] = words("all")
	}
	docs[3].Fields[Text] = words("all", "one")
	s := build(t, docs, Options{})
	all, _ := s.IDF("all")
	one, _ := s.IDF("one")
	if one <= all || all <= 0 {
		t.Errorf("idf of a word in one document is %v, in all %v; even the latter must not be negative", one, all)
	}
}

func TestBuildRefuses(t *testing.T) {
	two := make([]Doc, 2)
	for name, docs := range map[string][]Doc{
		"fewer documents than tools": two[:1],
		"more documents than tools":  make([]Doc, 3),
		"vectors of two widths":      {{Vector: []float32{1, 0}}, {Vector: []float32{1, 0, 0}}},
		"an empty vector":            {{Vector: []float32{1, 0}}, {Vector: []float32{}}},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := Build(setOf(2), docs, Options{}); tool.CodeOf(err) != tool.Invalid || s != nil {
				t.Errorf("got %v, %v, want an Invalid error", s, err)
			}
		})
	}
}

func TestBuildOfNothing(t *testing.T) {
	for name, docs := range map[string][]Doc{"no tools": {}, "empty tools": make([]Doc, 2)} {
		t.Run(name, func(t *testing.T) {
			s := build(t, docs, Options{})
			scores := make([]float32, len(docs))
			if s.AddWordScores("a", 1, scores, nil) || s.Dims() != 0 || s.Len() != len(docs) {
				t.Errorf("dims %d, len %d, or a word is known", s.Dims(), s.Len())
			}
			s.Cosines(nil, scores)
			if near, err := s.Neighbours(t.Context(), 0, 3); err != nil || near != nil {
				t.Errorf("neighbours %v, %v", near, err)
			}
			if like := s.Resemblance(1, make([]bool, len(docs))); like != 0 {
				t.Errorf("resembles by %v", like)
			}
		})
	}
}

// TestBuildCopies changes what was given to Build afterwards, as a caller may who reuses it.
func TestBuildCopies(t *testing.T) {
	terms, v := words("a", "b"), []float32{1, 0}
	s := build(t, []Doc{{Fields: [NumFields][]Term{Text: terms}, Vector: v}}, Options{})
	want := scoresOf(s, "a")
	terms[0], terms[1] = Term{"z", 9}, Term{"z", 9}
	v[0], v[1] = 0, 1
	if got := scoresOf(s, "a"); !slices.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
	cos := make([]float32, 1)
	if s.Cosines([]float32{1, 0}, cos); cos[0] != 1 {
		t.Errorf("cosine %v, want 1", cos[0])
	}
}

func TestResembles(t *testing.T) {
	s := build(t, []Doc{
		{Landmarks: []Landmark{{Point: 7, Like: .9}, {Point: 8, Like: .2, Lent: 1}}},
		{Landmarks: []Landmark{{Point: 7, Like: .5}}},
		{},
	}, Options{})
	for name, c := range map[string]struct {
		point   int32
		allowed []bool
		want    float32
	}{
		"the likest":             {7, []bool{true, true, true}, .9},
		"the likest is hidden":   {7, []bool{false, true, true}, .5},
		"all that do are hidden": {7, []bool{false, false, true}, 0},
		"only one does":          {8, []bool{true, true, true}, .2},
		"none does":              {9, []bool{true, true, true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Resemblance(c.point, c.allowed); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	want := []Landmark{{Point: 7, Like: .9}, {Point: 8, Like: .2, Lent: 1}}
	if d := cmp.Diff(want, s.Landmarks(0)); d != "" {
		t.Errorf("landmarks of the first (-want +got):\n%s", d)
	}
	if len(s.Landmarks(2)) > 0 {
		t.Errorf("landmarks of the last: %v", s.Landmarks(2))
	}
}

// TestSameBits builds the same catalogue again, with its tools added in other orders: not a bit may differ.
func TestSameBits(t *testing.T) {
	const n = 300
	docs := randomDocs(3, n, 20)
	tools := slices.Clone(setOf(n).All())
	first := build(t, docs, Options{})
	q := unit(rand.New(rand.NewPCG(5, 5)), 20)
	cosines := func(s *Snapshot) []float32 {
		out := make([]float32, n)
		s.Cosines(q, out)
		return out
	}
	r := rand.New(rand.NewPCG(4, 4))
	for range 5 {
		r.Shuffle(n, func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		again, err := Build(tool.NewSet(tools, ""), docs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for id := range first.idf {
			term := string(first.words.text[first.words.at[id]:first.words.at[id+1]])
			if !slices.Equal(scoresOf(first, term), scoresOf(again, term)) {
				t.Fatalf("scores of %s differ", term)
			}
		}
		if !slices.Equal(cosines(first), cosines(again)) {
			t.Fatal("cosines differ")
		}
	}
}

// TestOwnWords keeps apart what a tool says and what was lent to it.
func TestOwnWords(t *testing.T) {
	lent := func(own, borrowed []Term) Doc {
		d := Doc{}
		d.Fields[Text], d.Fields[Lent] = own, borrowed
		return d
	}
	set := tool.NewSet([]*tool.Tool{{Server: "s", Name: "a"}, {Server: "s", Name: "b"}, {Server: "s", Name: "c"}}, "")
	s, err := Build(set, []Doc{
		lent([]Term{{"send", 1}}, nil), lent(nil, []Term{{"send", 1}}),
		lent([]Term{{"read", 1}}, nil),
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, own := make([]float32, 3), make([]float32, 3)
	s.AddWordScores("send", 1, all, own)
	if all[0] <= 0 || all[1] <= 0 || all[2] != 0 {
		t.Errorf("scores %v", all)
	}
	if own[0] != all[0] || own[1] != 0 {
		t.Errorf("own scores %v beside %v", own, all)
	}
}

func TestAmong(t *testing.T) {
	s := build(t, []Doc{
		{Fields: [NumFields][]Term{Name: words("a", "b")}},
		{Fields: [NumFields][]Term{Name: words("a")}},
		{Fields: [NumFields][]Term{Name: words("c")}},
	}, Options{})
	for name, c := range map[string]struct {
		term  string
		these []bool
		n     int
		idf   float64
		known bool
	}{
		// ln(1 + (3-2+.5)/(2+.5)) = ln 1.6, as IDF has it of all.
		"all":          {"a", []bool{true, true, true}, 3, math.Log(1.6), true},
		"one of two":   {"a", []bool{false, true, true}, 2, math.Log(2), true}, // ln(1 + (2-1+.5)/(1+.5))
		"none of them": {"b", []bool{false, true, true}, 2, math.Log(1 + 2.5/.5), false},
		"none at all":  {"d", []bool{true, true, true}, 3, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			idf, ok := s.IDFAmong(c.term, c.these, c.n)
			if math.Abs(float64(idf)-c.idf) > 1e-6 || ok != c.known || s.HasTerm(c.term, c.these) != c.known {
				t.Errorf("%v, %v, known %v; want %v, %v", idf, ok, s.HasTerm(c.term, c.these), c.idf, c.known)
			}
		})
	}
	if all, _ := s.IDF("a"); math.Abs(float64(all)-math.Log(1.6)) > 1e-6 {
		t.Errorf("of all: %v", all)
	}
}

// TestServerWords requires that what a server says of itself adds little to the scores of its tools, counts as no word
// of their own, and makes no word common that tools have; and that documents without it score as if there were no such
// field.
func TestServerWords(t *testing.T) {
	docs := func(server []Term) []Doc {
		return []Doc{
			{Fields: [NumFields][]Term{Name: words("issue"), Server: server}},
			{Fields: [NumFields][]Term{Name: words("pull"), Server: server}},
			{Fields: [NumFields][]Term{Name: words("letter")}},
		}
	}
	with, without := build(t, docs(words("issue", "forge")), Options{}), build(t, docs(nil), Options{})
	for _, term := range []string{"issue", "pull", "letter"} {
		a, _ := with.IDF(term)
		if b, _ := without.IDF(term); a != b {
			t.Errorf("the IDF of %s is %v, without the server's words %v", term, a, b)
		}
	}
	if a, b := with.TermImpact("letter", 2), without.TermImpact("letter", 2); a != b {
		t.Errorf("a tool of another server scores %v, without the words %v", a, b)
	}
	named, said := with.TermImpact("issue", 0), with.TermImpact("issue", 1)
	if said <= 0 || said > named/3 {
		t.Errorf("a word of the server adds %v, of the name %v", said, named)
	}
	if impact, own := with.TermImpacts("forge", 1); impact <= 0 || own != 0 {
		t.Errorf("a word of the server adds %v, as the tool's own %v", impact, own)
	}
}
