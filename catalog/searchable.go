package catalog

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
)

// Model says how tools are made searchable. With the zero Model only words find them.
type Model struct {
	Embedder embed.Embedder
	// Base lends to tools what archetypes like them are asked, as matched by Encoder, which must be the model that Base was
	// compiled with. With a nil Base nothing is lent.
	Base    *knowledge.Base
	Encoder knowledge.Encoder
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
	made, err := x.prepare(ctx, entries, newMaterial(), func(int, int) {})
	if err != nil {
		return nil, err
	}
	return x.snapshot(set, entries, made)
}

// searchable is the indexer over a Model.
type searchable struct {
	m  Model
	o  index.Options
	to *index.Index
}

func (x *searchable) view() store.View {
	var v store.View
	if x.m.Embedder != nil {
		m := x.m.Embedder.Model()
		v.Model = store.Model{Name: m.Name, Dims: m.Dims, Fingerprint: m.Fingerprint}
	}
	if x.m.Base != nil {
		v.Knowledge = x.m.Base.Version()
	}
	return v
}

// chunk is how many tools are embedded or lent to between two reports of progress.
const chunk = 256

func (x *searchable) prepare(ctx context.Context, entries []entry, have *material, progress func(done, total int)) (*material, error) {
	made := newMaterial()
	docs, borrowers := x.missing(entries, have)
	total, done := len(docs)+len(borrowers), 0
	if total == 0 {
		return made, nil
	}
	if len(borrowers) > 0 {
		lender := x.m.Base.Lender(x.m.Encoder)
		for start := 0; start < len(borrowers); start += chunk {
			part := borrowers[start:min(start+chunk, len(borrowers))]
			if err := lend(ctx, lender, part, made); err != nil {
				return made, err
			}
			done += len(part)
			progress(done, total)
		}
	}
	for start := 0; start < len(docs); start += chunk {
		part := docs[start:min(start+chunk, len(docs))]
		vectors, err := x.m.Embedder.Documents(ctx, part)
		if err != nil {
			return made, fmt.Errorf("embed tools: %w", err)
		}
		for i, v := range vectors {
			made.vectors[hashText(part[i])] = store.Quantize(v)
		}
		done += len(part)
		progress(done, total)
	}
	return made, nil
}

// missing returns the texts that have no vector and the tools that were not lent to, each once.
func (x *searchable) missing(entries []entry, have *material) (docs []embed.Document, borrowers []entry) {
	texts, hashes := map[store.TextHash]bool{}, map[tool.Hash]bool{}
	for _, e := range entries {
		if x.m.Embedder != nil {
			d := embedText(e.tool)
			h := hashText(d)
			if _, ok := have.vectors[h]; !ok && !texts[h] {
				texts[h] = true
				docs = append(docs, d)
			}
		}
		if x.m.Base != nil {
			if _, ok := have.lent[e.hash]; !ok && !hashes[e.hash] {
				hashes[e.hash] = true
				borrowers = append(borrowers, e)
			}
		}
	}
	return docs, borrowers
}

func lend(ctx context.Context, lender *knowledge.Lender, to []entry, made *material) error {
	tools := make([]*tool.Tool, len(to))
	for i, e := range to {
		tools[i] = e.tool
	}
	loans, err := lender.Lend(ctx, tools)
	if err != nil {
		return fmt.Errorf("lend to tools: %w", err)
	}
	for i := range loans {
		b, err := loans[i].MarshalBinary()
		if err != nil {
			return fmt.Errorf("lend to %s: %w", to[i].tool.ID(), err)
		}
		made.lent[to[i].hash] = b
	}
	return nil
}

func (x *searchable) publish(_ context.Context, set *tool.Set, entries []entry, have *material) error {
	snap, err := x.snapshot(set, entries, have)
	if err != nil {
		return err
	}
	x.to.Swap(snap)
	return nil
}

// snapshot builds the index, analysing on all processors.
func (x *searchable) snapshot(set *tool.Set, entries []entry, have *material) (*index.Snapshot, error) {
	docs := make([]index.Doc, len(entries))
	workers := min(runtime.GOMAXPROCS(0), max(1, len(entries)/64))
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			var an analyzer
			for i := w; i < len(entries); i += workers {
				docs[i] = x.doc(&an, entries[i], have)
			}
		})
	}
	group.Wait()
	snap, err := index.Build(set, docs, x.o)
	if err != nil {
		return nil, fmt.Errorf("build the index: %w", err)
	}
	return snap, nil
}

// doc is one tool as the index sees it. What is missing or cannot be read is left out: words still find the tool.
func (x *searchable) doc(an *analyzer, e entry, have *material) index.Doc {
	var loan knowledge.Loan
	if b, ok := have.lent[e.hash]; ok && loan.UnmarshalBinary(b) != nil {
		loan = knowledge.Loan{}
	}
	d := embedText(e.tool)
	out := index.Doc{Fields: indexFields(an, e.tool, d, &loan), Landmarks: make([]index.Landmark, len(loan.From))}
	for i, f := range loan.From {
		out.Landmarks[i] = index.Landmark{Point: int32(f.Archetype), Like: f.Like}
	}
	if v, ok := have.vectors[hashText(d)]; ok {
		own := v.Float32s(make([]float32, 0, len(v.Data)))
		if x.m.Embedder.Model().Fingerprint == x.m.Encoder.Fingerprint && loan.Vector != nil {
			out.Vector = mix(own, loan.Vector)
		} else {
			var sum float64
			for _, c := range own {
				sum += float64(c) * float64(c)
			}
			out.Vector = toUnit(own, sum)
		}
	}
	return out
}
