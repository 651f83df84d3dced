package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/store"
	"tooldex/tool"
)

// counting is an embedder that remembers what it was asked for, can fail, and can say that it is another model.
type counting struct {
	embed.Embedder
	mu    sync.Mutex
	names []string // of documents, in the order in which they were embedded
	model *embed.Model
	fail  error
	after int // documents until it fails
}

func (c *counting) Model() embed.Model {
	if c.model != nil {
		return *c.model
	}
	return c.Embedder.Model()
}

func (c *counting) Documents(ctx context.Context, docs []embed.Document) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil && len(c.names) >= c.after {
		return nil, c.fail
	}
	for _, d := range docs {
		c.names = append(c.names, d.Name)
	}
	return c.Embedder.Documents(ctx, docs)
}

// asked returns the names of what was embedded since it was last called, sorted.
func (c *counting) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.names
	c.names = nil
	slices.Sort(out)
	return out
}

func countingModel(t testing.TB) (Model, *counting) {
	t.Helper()
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	c := &counting{Embedder: m.Embedder}
	m.Embedder = c
	return m, c
}

func openSearchable(t testing.TB, dir string, m Model) (*Catalog, *index.Index) {
	t.Helper()
	x := new(index.Index)
	c, err := Open(t.Context(), Options{Store: openStore(t, dir), Model: m, Index: x})
	if err != nil {
		t.Fatal(err)
	}
	return c, x
}

func threeTools() []*tool.Tool {
	return []*tool.Tool{
		aTool("s", "create_issue", "Create an issue in a repository."),
		aTool("s", "send_email", "Send an email to a person."),
		aTool("s", "get_forecast", "Weather forecast of a place."),
	}
}

// found returns the name of the tool with the highest word score for a term.
func found(s *index.Snapshot, term string) string {
	scores := make([]float32, s.Len())
	if !s.AddWordScores(term, 1, scores, nil) {
		return ""
	}
	return s.Set().All()[slices.Index(scores, slices.Max(scores))].Name
}

// alike returns the name of the tool nearest to a request by meaning.
func alike(t testing.TB, s *index.Snapshot, m Model, text string) string {
	t.Helper()
	vs, err := m.Embedder.Queries(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float32, s.Len())
	s.Cosines(vs[0], scores)
	return s.Set().All()[slices.Index(scores, slices.Max(scores))].Name
}

func TestOnlyWhatChangedIsEmbedded(t *testing.T) {
	dir := t.TempDir()
	m, counts := countingModel(t)
	c, x := openSearchable(t, dir, m)
	src := &fake{name: "s", tools: threeTools()}
	for _, step := range []struct {
		name   string
		change func()
		want   []string
	}{
		{"the first time", func() {}, []string{"create_issue", "get_forecast", "send_email"}},
		{"again", func() {}, nil},
		{"a description", func() { src.tools[1].Description = "Mail a letter to a person." }, []string{"send_email"}},
		{"a category", func() { src.tools[1].Category = "mail" }, nil},
		{
			"a new tool", func() { src.tools = append(src.tools, aTool("s", "list_files", "List files.")) },
			[]string{"list_files"},
		},
		{"a tool goes", func() { src.tools = src.tools[:3] }, nil},
		{
			"the old description", func() { src.tools[1].Description = "Send an email to a person." },
			[]string{"send_email"},
		},
	} {
		step.change()
		mustSync(t, c, src)
		got := counts.asked()
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], " s")
		}
		if step.name == "the old description" && len(got) == 0 {
			continue // its vector may still be stored
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: embedded %v, want %v", step.name, got, step.want)
		}
		if n := x.Current().Len(); n != len(src.tools) {
			t.Errorf("%s: %d tools are indexed, want %d", step.name, n, len(src.tools))
		}
	}
	if got := found(x.Current(), "email"); got != "send_email" {
		t.Errorf("email finds %q", got)
	}
	_, again := openSearchable(t, dir, m)
	if got := counts.asked(); len(got) != 0 {
		t.Errorf("opened again, it embeds %v", got)
	}
	if got := alike(t, again.Current(), m, "will it rain tomorrow"); got != "get_forecast" {
		t.Errorf("opened again, rain is nearest to %s", got)
	}
}

// TestSameTextIsEmbeddedOnce has two tools that say the same of themselves.
func TestSameTextIsEmbeddedOnce(t *testing.T) {
	m, counts := countingModel(t)
	set := tool.NewSet([]*tool.Tool{aTool("abcdef1", "abcdef_n", "d"), aTool("abcdef2", "abcdef_n", "d")}, "")
	s, err := NewSnapshot(t.Context(), set, m, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := counts.asked(); len(got) != 1 || s.Dims() == 0 {
		t.Errorf("embedded %v", got)
	}
}

// TestLent shows that words reach the index that no tool says of itself.
func TestLent(t *testing.T) {
	m, _ := countingModel(t)
	for name, model := range map[string]Model{"with knowledge": m, "without": {Embedder: m.Embedder}} {
		s, err := NewSnapshot(t.Context(), tool.NewSet(threeTools(), ""), model, index.Options{})
		if err != nil {
			t.Fatal(err)
		}
		lent := model.Base != nil
		if got := found(s, "bug"); (got == "create_issue") != lent {
			t.Errorf("%s: bug finds %q", name, got)
		}
		if got := s.Landmarks(0); (len(got) > 0) != lent {
			t.Errorf("%s: landmarks %v", name, got)
		}
	}
}

// TestOtherLayoutIsMadeAnew gives the indexer what another version has stored, and what nobody can read.
func TestOtherLayoutIsMadeAnew(t *testing.T) {
	m, _ := countingModel(t)
	x := &searchable{m: m}
	one := threeTools()[0]
	e := entry{tool: one, hash: one.Hash()}
	made, err := x.prepare(t.Context(), []entry{e}, newDerived(), func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	good := made.lent[e.hash]
	for name, c := range map[string]struct {
		stored []byte
		anew   bool
	}{
		"as it is":       {good, false},
		"another layout": {append([]byte{preparedLayout + 1}, good[1:]...), true},
		"nothing":        {nil, true},
		"too short":      {good[:5], true},
	} {
		t.Run(name, func(t *testing.T) {
			have := newDerived()
			have.addContent(made)
			have.lent[e.hash] = c.stored
			done := 0
			again, err := x.prepare(t.Context(), []entry{e}, have, func(n, _ int) { done = n })
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := again.lent[e.hash]; ok != c.anew || ok && !slices.Equal(b, good) || (done == 1) != c.anew {
				t.Errorf("made anew: %v, want %v; progress %d", ok, c.anew, done)
			}
			if len(again.vectors) != 0 {
				t.Error("embedded anew")
			}
		})
	}
	t.Run("its view differs by layout", func(t *testing.T) {
		if v := x.view(); !strings.Contains(v.Knowledge, m.Base.Version()) || v.Knowledge == m.Base.Version() {
			t.Errorf("view %+v", v)
		}
	})
}

// TestDamagedAnalysis cannot read what is stored: the words of the tool itself still find it.
func TestDamagedAnalysis(t *testing.T) {
	m, _ := countingModel(t)
	x := &searchable{m: m}
	one := threeTools()[0]
	have := newDerived()
	have.lent[one.Hash()] = []byte{preparedLayout, 1, 2, 3}
	d := x.indexDocument(entry{tool: one, hash: one.Hash()}, have)
	if len(d.Fields[index.Name]) == 0 || len(d.Fields[index.Text]) == 0 || d.Vector != nil {
		t.Errorf("document %+v", d)
	}
}

// TestForeignModelDoesNotMix embeds by a model that the knowledge was not compiled with.
func TestForeignModelDoesNotMix(t *testing.T) {
	m, counts := countingModel(t)
	set := tool.NewSet(threeTools(), "")
	own := func(m Model) []float32 {
		x := &searchable{m: m}
		one := set.All()[0]
		e := []entry{{tool: one, hash: one.Hash()}}
		made, err := x.prepare(t.Context(), e, newDerived(), func(int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		d := x.indexDocument(e[0], made)
		if len(d.Fields[index.Lent]) == 0 || len(d.Landmarks) == 0 {
			t.Error("words and landmarks are lent whatever the model")
		}
		return d.Vector
	}
	mixed := own(m)
	foreign := counts.Model()
	foreign.Fingerprint, foreign.Name = "sha256:another", "another"
	counts.model = &foreign
	alone := own(m)
	vs, err := m.Embedder.Documents(t.Context(), []embed.Document{*textOfTool(set.All()[0])})
	if err != nil {
		t.Fatal(err)
	}
	if cos := cosine(alone, vs[0]); cos < .9999 {
		t.Errorf("the vector of a foreign model is not its own: cosine %v", cos)
	}
	if cos := cosine(mixed, vs[0]); cos > .9999 {
		t.Errorf("nothing was mixed into the vector of the built-in model: cosine %v", cos)
	}
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestModelChange opens a stored catalogue with another model: nothing of the first is used.
func TestModelChange(t *testing.T) {
	dir := t.TempDir()
	m, counts := countingModel(t)
	c, _ := openSearchable(t, dir, m)
	mustSync(t, c, &fake{name: "s", tools: threeTools()})
	counts.asked()
	foreign := counts.Model()
	foreign.Fingerprint, foreign.Name = "sha256:another", "another"
	counts.model = &foreign
	openSearchable(t, dir, m)
	if got := counts.asked(); len(got) != 3 {
		t.Errorf("embedded %v", got)
	}
	counts.model = nil
	openSearchable(t, dir, m)
	if got := counts.asked(); len(got) != 0 {
		t.Errorf("back with the first model it embeds %v", got)
	}
}

// TestFailingEmbedder keeps every tool searchable by words, and embeds when the model is back.
func TestFailingEmbedder(t *testing.T) {
	m, counts := countingModel(t)
	counts.fail = errors.New("connection refused")
	c, x := openSearchable(t, t.TempDir(), m)
	src := &fake{name: "s", tools: threeTools()}
	mustSync(t, c, src)
	if n := c.Set().Len(); n != 3 {
		t.Fatalf("%d tools", n)
	}
	for term, want := range map[string]string{
		"email": "send_email", "bug": "create_issue",
		"forecast": "get_forecast",
	} {
		if got := found(x.Current(), term); got != want {
			t.Errorf("%s finds %q", term, got)
		}
	}
	if x.Current().Dims() != 0 {
		t.Error("there are vectors")
	}
	counts.fail = nil
	src.tools = append(src.tools, aTool("s", "list_files", "List files."))
	mustSync(t, c, src)
	if got := counts.asked(); len(got) != 4 {
		t.Errorf("the model is back and embeds %v", got)
	}
	if got := alike(t, x.Current(), m, "will it rain tomorrow"); got != "get_forecast" {
		t.Errorf("rain is nearest to %s", got)
	}
}

// TestEmbedderFailsHalfway keeps what was embedded before.
func TestEmbedderFailsHalfway(t *testing.T) {
	m, counts := countingModel(t)
	var tools []*tool.Tool
	for i := range analysisChunk + 10 {
		tools = append(tools, aTool("s", "n"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+string(rune('a'+i/26)),
			"Tool."))
	}
	counts.fail, counts.after = errors.New("gone"), 1
	c, x := openSearchable(t, t.TempDir(), m)
	src := &fake{name: "s", tools: tools}
	mustSync(t, c, src)
	if got := len(counts.asked()); got != analysisChunk || x.Current().Len() != len(tools) {
		t.Fatalf("embedded %d, indexed %d", got, x.Current().Len())
	}
	counts.fail = nil
	src.tools = append(src.tools, aTool("s", "last", "The last."))
	mustSync(t, c, src)
	if got := len(counts.asked()); got != 11 {
		t.Errorf("then embedded %d, want the 11 that were missing", got)
	}
}

func TestNewSnapshot(t *testing.T) {
	set := tool.NewSet(threeTools(), "")
	t.Run("words only", func(t *testing.T) {
		s, err := NewSnapshot(t.Context(), set, Model{}, index.Options{})
		if err != nil || s.Dims() != 0 || found(s, "email") != "send_email" {
			t.Errorf("%v, dims %d", err, s.Dims())
		}
	})
	t.Run("of nothing", func(t *testing.T) {
		m, _ := countingModel(t)
		s, err := NewSnapshot(t.Context(), tool.NewSet(nil, ""), m, index.Options{})
		if err != nil || s.Len() != 0 {
			t.Errorf("%v, %v", s, err)
		}
	})
	t.Run("embedder fails", func(t *testing.T) {
		m, counts := countingModel(t)
		counts.fail = errors.New("gone")
		if _, err := NewSnapshot(t.Context(), set, m, index.Options{}); !errors.Is(err, counts.fail) {
			t.Errorf("%v", err)
		}
	})
	t.Run("context ends", func(t *testing.T) {
		m, _ := countingModel(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := NewSnapshot(ctx, set, m, index.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestView(t *testing.T) {
	m, counts := countingModel(t)
	all := map[store.View]string{}
	for name, x := range map[string]*searchable{
		"nothing": {}, "knowledge": {m: Model{Base: m.Base}}, "model": {m: Model{Embedder: counts}}, "both": {m: m},
	} {
		if other, ok := all[x.view()]; ok {
			t.Errorf("%s and %s have one view", name, other)
		}
		all[x.view()] = name
	}
}

func TestInParallel(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 1000} {
		counts := make([]atomic.Int32, n)
		inParallel(n, func() func(int) { return func(i int) { counts[i].Add(1) } })
		for i := range counts {
			if got := counts[i].Load(); got != 1 {
				t.Errorf("%d of %d was done %d times", i, n, got)
			}
		}
	}
}

func TestBuiltinModel(t *testing.T) {
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	if m.Encoder.Fingerprint != m.Embedder.Model().Fingerprint || m.Encoder.Dims != m.Embedder.Model().Dims {
		t.Error("the encoder is of another model than the embedder")
	}
	got, q := make([]float32, m.Encoder.Dims), make([]float32, m.Encoder.Dims)
	m.Encoder.Document("create_issue s", "Create an issue.", "title", got)
	want, err := m.Embedder.Documents(t.Context(), []embed.Document{{
		Name:        "create_issue s",
		Description: "Create an issue.", Parameters: "title",
	}})
	if err != nil || !slices.Equal(got, want[0]) {
		t.Errorf("the encoder makes other documents, %v", err)
	}
	m.Encoder.Query("create an issue", q)
	vs, err := m.Embedder.Queries(t.Context(), []string{"create an issue"})
	if err != nil || !slices.Equal(q, vs[0]) {
		t.Errorf("the encoder makes other queries, %v", err)
	}
}
