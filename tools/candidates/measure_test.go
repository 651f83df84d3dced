package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"tooldex/index"
	"tooldex/internal/pgtest"
	"tooldex/tool"
)

func TestShares(t *testing.T) {
	s := &subject{requests: []request{{docs: []int32{1, 2}}, {docs: []int32{3, 4}}}}
	f := &found{
		vectors: [][][]int32{{{1, 9}, {8}}, {{4, 3}}},
		words:   [][][]int32{{{7, 2}, nil}, {nil}},
	}
	for _, c := range []struct {
		n, m       int
		ten, first float64
	}{
		{1, 0, .5, .5}, {2, 0, .75, 1}, {2, 1, .75, 1}, {2, 2, 1, 1}, {0, 2, .25, 0},
	} {
		if ten, first := s.shares(f, c.n, c.m); ten != c.ten || first != c.first {
			t.Errorf("%d by vector, %d by words: got %v, %v, want %v, %v", c.n, c.m, ten, first, c.ten, c.first)
		}
	}
}

func TestRecall(t *testing.T) {
	exact := [][][]int32{{{1, 2, 3, 4}}, {{5, 6}}}
	got := [][][]int32{{{4, 1, 9, 8}}, {{5, 6}}}
	if r := recall(got, exact, 4); r != 4./6 {
		t.Errorf("got %v", r)
	}
	if r := recall(got, exact, 1); r != .5 { // 4 is not the first, 5 is
		t.Errorf("got %v for the first", r)
	}
}

// TestRepeated checks that a text of repeated words has the weights that the index gave them, as BM25 counts them.
func TestRepeated(t *testing.T) {
	for _, raw := range []float32{.5, 1, 2, 6} {
		weight := raw * (saturation + 1) / (raw + saturation)
		text := repeated([]word{{text: "a", weight: weight}})
		n := float32(len(text) / 2)
		if got := n * (saturation + 1) / (n + saturation*repeats); got < weight*.97 || got > weight*1.03 {
			t.Errorf("a weight of %v is written as %q, which counts as %v", weight, text, got)
		}
	}
}

// small returns an index of n tools of random words and vectors, with requests.
func small(t *testing.T, n int) *subject {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v, squares := make([]float32, 64), 0.
		for i := range v {
			v[i] = float32(random.NormFloat64())
			squares += float64(v[i] * v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(squares))
		}
		return v
	}
	term := func() string { return string(rune('a' + random.IntN(26))) }
	docs, tools := make([]index.Doc, n), make([]*tool.Tool, n)
	for i := range docs {
		tools[i] = &tool.Tool{Server: "s", Name: string(rune('a'+i/26)) + string(rune('a'+i%26))}
		docs[i].Vector = vector()
		docs[i].Fields[index.Text] = []index.Term{{Text: "of-all", Weight: 1}, {Text: term(), Weight: 2}}
	}
	snap, err := index.Build(tool.NewSet(tools, ""), docs, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{snap: snap}
	if err := s.readItems(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		name := term()
		s.requests = append(s.requests, request{asks: []ask{{vector: vector(), words: []word{
			{id: int32(slices.Index(s.terms, name)), text: name, weight: 1},
			{id: int32(slices.Index(s.terms, "of-all")), text: "of-all", weight: .5},
		}}}})
	}
	return s
}

// TestItems checks that the image is read as the index means it.
func TestItems(t *testing.T) {
	s := small(t, 200)
	for _, it := range s.items {
		if c := s.snap.Cosine(it.vector, int(it.doc)); c < .999 || len(it.words) != 2 {
			t.Fatalf("tool %d has the cosine %v with itself, and the words %v", it.doc, c, it.words)
		}
		for _, w := range it.words {
			want := s.snap.TermImpact(w.text, int(it.doc))
			if got := w.weight * w.rarity; got < want*.999 || got > want*1.001 || s.terms[w.id] != w.text {
				t.Fatalf("tool %d: %v weighs %v, want %v", it.doc, w, got, want)
			}
		}
	}
}

// TestPgvector compares a real PostgreSQL with the index, by vector and by words.
func TestPgvector(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL")
	}
	server, ctx := pgtest.Start(t), context.Background()
	address := server.Address("postgres", "tooldex")
	admin, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(ctx) }() // the server ends with the test
	var available bool
	err = admin.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')`).Scan(&available)
	if err != nil {
		t.Fatal(err)
	}
	if !available {
		t.Skip("the extension vector is not installed (Debian: postgresql-NN-pgvector)")
	}
	server.Exec(`CREATE EXTENSION vector`)
	s := small(t, 500)
	exact := filled(t, s, &local{snap: s.snap})
	p, err := openPgvector(ctx, address, s.snap.Dims(), config{
		index: "ivfflat (lists = 4)", set: "SET ivfflat.probes = 4", words: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.conn.Close(ctx) }() // the server ends with the test
	got := filled(t, s, p)
	if r := recall(got.vectors, exact.vectors, 100); r < .99 {
		t.Errorf("of the 100 nearest tools %v are found", r)
	}
	// The graph misses tools among so many that are alike. Without it the words are compared with all.
	if _, err := p.conn.Exec(ctx, `SET enable_indexscan = off; DISCARD PLANS`); err != nil {
		t.Fatal(err)
	}
	if got, err = s.ask(ctx, p, most); err != nil {
		t.Fatal(err)
	}
	for i := range got.words {
		// Many tools score alike, so scores are compared.
		scores := make([]float32, s.snap.Len())
		for _, w := range s.requests[i].asks[0].words {
			s.snap.AddWordScores(w.text, w.weight, scores, nil)
		}
		best, have := exact.words[i][0], got.words[i][0]
		if len(have) == 0 || scores[have[0]] < .999*scores[best[0]] {
			t.Errorf("request %d: the best by words is %v, want %v", i, have[:min(1, len(have))], best[0])
		}
	}
	// Putting the same tools again replaces them.
	if err := p.copy(ctx, s.items); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := p.conn.QueryRow(ctx, `SELECT count(*) FROM candidate`).Scan(&n); err != nil || n != len(s.items) {
		t.Errorf("%d tools are in the table, error %v", n, err)
	}
}

// filled fills an engine and asks it all requests.
func filled(t *testing.T, s *subject, e engine) *found {
	t.Helper()
	if err := e.upsert(context.Background(), s.items); err != nil {
		t.Fatal(err)
	}
	f, err := s.ask(context.Background(), e, most)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
