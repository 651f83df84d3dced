package catalog

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
)

// Model says how tools are made searchable. With the zero Model only words find them.
type Model struct {
	Embedder embed.Embedder
	// Base lends to tools what archetypes like them are asked, as matched by Encoder, which must be the model that Base
	// was compiled with. With a nil Base nothing is lent.
	Base    *knowledge.Base
	Encoder knowledge.Encoder
	// NoBorrow leaves every tool to its own words and its own vector, as Tool.NoBorrow does one. Base then tells only
	// what the tools resemble.
	NoBorrow bool
}

// BuiltinModel returns the model and the knowledge that the binary carries.
func BuiltinModel() (Model, error) {
	static, err := embed.Builtin()
	if err != nil {
		return Model{}, fmt.Errorf("open the built-in embedding model: %w", err)
	}
	base, err := knowledge.Builtin()
	if err != nil {
		return Model{}, fmt.Errorf("open the built-in knowledge: %w", err)
	}
	return Model{Embedder: static, Base: base, Encoder: Encoder(static)}, nil
}

// Encoder is a static table in the form that package knowledge takes.
func Encoder(s *embed.Static) knowledge.Encoder {
	m := s.Model()
	return knowledge.Encoder{
		Dims: m.Dims, Fingerprint: m.Fingerprint, Query: s.Query,
		Document: func(name, description, params string, into []float32) {
			s.Document(embed.Document{Name: name, Description: description, Parameters: params}, into)
		},
	}
}

// NewSnapshot makes tools searchable in memory, without a store, as an evaluation needs it. Options tune the index.
func NewSnapshot(ctx context.Context, set *tool.Set, m Model, o index.Options) (*index.Snapshot, error) {
	x := &searchable{m: m, o: o}
	entries := make([]entry, set.Len())
	for i, t := range set.All() {
		entries[i] = entry{tool: t, hash: t.Hash()}
	}
	made, err := x.prepare(ctx, entries, newDerived(), func(int, int) {})
	if err != nil {
		return nil, err
	}
	return x.buildSnapshot(set, entries, made)
}

// searchable is the indexer over a Model.
type searchable struct {
	m  Model
	o  index.Options
	to *index.Index
	// embedLater leaves it to Catalog.Use to embed: a model that may be slow or gone must not keep a change waiting.
	embedLater bool
}

func (x *searchable) view() store.View {
	var v store.View
	if x.m.Embedder != nil {
		v.Model = x.m.Embedder.Model()
	}
	v.Knowledge = "none"
	if x.m.Base != nil {
		v.Knowledge = x.m.Base.Version()
		if x.m.NoBorrow {
			v.Knowledge += " not lent"
		}
	}
	v.Knowledge += fmt.Sprintf(" layout %d", preparedLayout)
	return v
}

// analysisChunk is how many tools are embedded or lent to between two reports of progress.
const analysisChunk = 256

func (x *searchable) prepare(ctx context.Context, entries []entry, have *derived,
	progress func(done, total int),
) (*derived, error) {
	made := newDerived()
	var raw []entry
	for _, e := range entries {
		if _, ok := textOf(have.lent[e.hash]); !ok {
			raw = append(raw, e)
		}
	}
	var lender *knowledge.Lender
	if len(raw) > 0 && x.m.Base != nil {
		lender = x.m.Base.Lender(x.m.Encoder)
	}
	for start := 0; start < len(raw); start += analysisChunk {
		if err := x.analyseTools(ctx, lender, raw[start:min(start+analysisChunk, len(raw))], made); err != nil {
			return made, err
		}
		progress(min(start+analysisChunk, len(raw)), len(raw))
	}
	if x.embedLater {
		return made, nil
	}
	return made, x.embedMissing(ctx, entries, have, made)
}

// analyseTools prepares the tools of part, on all processors.
func (x *searchable) analyseTools(ctx context.Context, lender *knowledge.Lender, part []entry, made *derived) error {
	texts, loans := make([]embed.Document, len(part)), make([]knowledge.Loan, len(part))
	inParallel(len(part), func() func(i int) {
		return func(i int) { texts[i] = knowledge.ToolText(part[i].tool) }
	})
	if lender != nil {
		var err error
		if loans, err = lender.Lend(ctx, texts); err != nil {
			return fmt.Errorf("lend to tools: %w", err)
		}
		for i := range loans {
			if x.m.NoBorrow || part[i].tool.NoBorrow {
				loans[i] = withoutLoans(loans[i])
			}
		}
	}
	for i := range part {
		x.addGeneratedVectors(part[i].tool, &loans[i])
	}
	encoded := make([][]byte, len(part))
	inParallel(len(part), func() func(i int) {
		an := new(knowledge.Analyzer)
		return func(i int) {
			p := prepare(an, part[i].tool, &texts[i], &loans[i])
			encoded[i] = p.encode()
		}
	})
	for i, e := range part {
		made.lent[e.hash] = encoded[i]
	}
	return nil
}

// generatedShare is how much of what is lent to a tool gives way to what was generated for it.
const generatedShare = .8

// addGeneratedVectors adds the mean vector of the requests that were generated for a tool to what is lent to it. Requests that its
// author declared are as a rule few and examples; generated ones are made where the archetypes have nothing to lend,
// and take their place.
func (x *searchable) addGeneratedVectors(t *tool.Tool, loan *knowledge.Loan) {
	if x.m.Encoder.Query == nil {
		return
	}
	sum, one, n := make([]float32, x.m.Encoder.Dims), make([]float32, x.m.Encoder.Dims), 0
	for _, u := range t.Utterances {
		if u.From != tool.Generated {
			continue
		}
		n++
		x.m.Encoder.Query(u.Text, one)
		for k, v := range one {
			sum[k] += v
		}
	}
	if n == 0 {
		return
	}
	mean := mixVectors(sum, nil)
	if loan.Vector == nil {
		loan.Vector = mean
		return
	}
	for k := range loan.Vector {
		loan.Vector[k] = float32((1-generatedShare)*loan.Vector[k]) + float32(generatedShare*mean[k])
	}
}

// embedMissing makes the vectors that are missing.
func (x *searchable) embedMissing(ctx context.Context, entries []entry, have, made *derived) error {
	if x.m.Embedder == nil {
		return nil
	}
	model := x.m.Embedder.Model()
	made.model = model.Fingerprint
	var (
		docs   []embed.Document
		hashes []store.TextHash
	)
	seen := map[store.TextHash]bool{}
	for _, e := range entries {
		b, ok := made.lent[e.hash]
		if !ok {
			b = have.lent[e.hash]
		}
		h, _ := textOf(b)
		if _, ok := have.vectors[h]; (!ok || have.model != made.model) && !seen[h] {
			seen[h] = true
			texts := knowledge.ToolText(e.tool)
			docs, hashes = append(docs, texts), append(hashes, h)
		}
	}
	for start := 0; start < len(docs); start += analysisChunk {
		end := min(start+analysisChunk, len(docs))
		if err := embedInto(ctx, x.m.Embedder, model, docs[start:end], hashes[start:end], made.vectors); err != nil {
			return err
		}
	}
	return nil
}

// embedInto puts the vectors of docs into a map. All are of the one model, of its width and finite, or none are taken.
func embedInto(ctx context.Context, by embed.Embedder, model embed.Model, docs []embed.Document,
	hashes []store.TextHash, into map[store.TextHash]store.Vector,
) error {
	vectors, err := by.Documents(ctx, docs)
	if err != nil {
		return fmt.Errorf("embed tools: %w", err)
	}
	now := by.Model()
	if now.Fingerprint != model.Fingerprint && model.Fingerprint != "" {
		return fmt.Errorf("embed tools: %w", &tool.Error{
			Code: tool.Unavailable, Op: "embed",
			Msg: "the embedding model " + model.Name + " was replaced meanwhile", Hint: "it is asked again by itself",
		})
	}
	for i, v := range vectors {
		if err := checkVector(v, now); err != nil {
			return fmt.Errorf("embed %.80q: %w", docs[i].Name, err)
		}
	}
	for i, v := range vectors {
		into[hashes[i]] = store.Quantize(v)
	}
	return nil
}

// checkVector refuses a vector that would spoil every search, whoever made it.
func checkVector(v []float32, model embed.Model) error {
	bad := func(what string) error {
		return &tool.Error{Code: tool.Unavailable, Op: "embed", Msg: "the embedding model " + model.Name +
			" gave a vector " + what, Hint: "see whether it is an embedding model"}
	}
	if len(v) != model.Dims || len(v) == 0 {
		return bad(fmt.Sprintf("of %d components where %d are expected", len(v), model.Dims))
	}
	for _, x := range v {
		if x-x != 0 { // not a number, or infinite
			return bad("that is not of finite numbers")
		}
	}
	return nil
}

// inParallel calls what each worker's function is for 0 to n-1, on all processors.
func inParallel(n int, worker func() func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), max(1, n/32))
	var (
		next  atomic.Int64
		group sync.WaitGroup
	)
	for range workers {
		group.Go(func() {
			do := worker()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
}

func (x *searchable) publish(_ context.Context, set *tool.Set, entries []entry, have *derived) error {
	if x.to == nil {
		return nil
	}
	snap, err := x.buildSnapshot(set, entries, have)
	if err != nil {
		return err
	}
	x.to.Swap(snap)
	return nil
}

// buildSnapshot builds the index, analysing on all processors.
func (x *searchable) buildSnapshot(set *tool.Set, entries []entry, have *derived) (*index.Snapshot, error) {
	docs := make([]index.Doc, len(entries))
	inParallel(len(entries), func() func(i int) {
		return func(i int) { docs[i] = x.indexDocument(entries[i], have) }
	})
	markDuplicates(set.All(), docs)
	o := x.o
	o.Model = have.model
	snap, err := index.Build(set, docs, o)
	if err != nil {
		return nil, fmt.Errorf("build the index: %w", err)
	}
	return snap, nil
}

// indexDocument is one tool as the index sees it. What is missing or cannot be read is made of the tool alone: words still find
// it.
func (x *searchable) indexDocument(e entry, have *derived) index.Doc {
	p, err := decodePrepared(have.lent[e.hash])
	if err != nil {
		texts := knowledge.ToolText(e.tool)
		p = prepare(new(knowledge.Analyzer), e.tool, &texts, new(knowledge.Loan))
	}
	out := index.Doc{Fields: p.fields, Class: uint8(p.effect), Landmarks: p.landmarks}
	if v, ok := have.vectors[p.text]; ok {
		own := v.Float32s(make([]float32, 0, len(v.Data)))
		if have.model != x.m.Encoder.Fingerprint {
			p.lent = nil
		}
		out.Vector = mixVectors(own, p.lent)
	}
	return out
}
