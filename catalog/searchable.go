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

// Model says how tools are made searchable. With the zero Model they are found by words only.
type Model struct {
	Embedder embed.Embedder
	// Base lends to tools the requests that similar archetypes answer, as matched by Encoder, which must be the model
	// that Base was compiled with. With a nil Base nothing is lent.
	Base    *knowledge.Base
	Encoder knowledge.Encoder
	// NoBorrow restricts every tool to its own words and its own vector, as Tool.NoBorrow does for one. Base then only
	// shows which archetypes the tools resemble.
	NoBorrow bool
}

// BuiltinModel returns the model and the knowledge that are embedded in the binary.
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

// Encoder wraps a static model in the form that package knowledge takes.
func Encoder(s *embed.Static) knowledge.Encoder {
	m := s.Model()
	return knowledge.Encoder{
		Dims: m.Dims, Fingerprint: m.Fingerprint, Query: s.Query,
		Document: func(name, description, params string, into []float32) {
			s.Document(embed.Document{Name: name, Description: description, Parameters: params}, into)
		},
	}
}

// NewSnapshot makes tools searchable in memory, without a store, as an evaluation needs it. The options tune the index.
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
	// slim loads only which vectors and analyses there are.
	slim bool
	// lender is kept between the steps of one import, since it remembers what it has read of the archetypes.
	lender    *knowledge.Lender
	layers    layering
	layerFrom int // the tools from which on indexes have layers; 0 means leastLayered
	// params is kept from one build to the next; nil before the first.
	params *parameterNames
	// embedLater leaves embedding to Catalog.Use: a model that may be slow or gone must not delay a change.
	embedLater bool
}

// release drops the lender, which keeps several MB for the next import otherwise.
func (x *searchable) release() { x.lender = nil }

// view returns which stored data fits the model, the knowledge and the layout of this program. Data of another view is
// not loaded, and is computed again.
func (x *searchable) view() store.View {
	v := store.View{Slim: x.slim}
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

// analysisChunk is about how many tools are analysed or embedded between two reports of progress.
const analysisChunk = 256

// prepare analyses the tools whose analysis is not in have or was made beside other tools of their server, and embeds
// what lacks a vector. After an error it returns what was made so far, so that the next attempt need not repeat it.
func (x *searchable) prepare(ctx context.Context, entries []entry, have *derived,
	progress func(done, total int),
) (*derived, error) {
	made := newDerived()
	rivals := x.countRivals(entries)
	raw := rivals.toAnalyse(entries, have)
	if len(raw) > 0 && x.m.Base != nil && x.lender == nil {
		x.lender = x.m.Base.Lender(x.m.Encoder)
	}
	done := 0
	for part := range chunksOfServers(raw, analysisChunk) {
		texts, err := x.analyseTools(ctx, x.lender, part, rivals, made)
		if err == nil && !x.embedLater {
			err = x.embedMissing(ctx, part, texts, have, made)
		}
		if err != nil {
			return made, err
		}
		done += len(part)
		progress(done, len(raw))
	}
	if x.embedLater {
		return made, nil
	}
	return made, x.embedMissing(ctx, entries, nil, have, made)
}

// analyseTools analyses the tools of part on all processors, stores the encoded results in made.lent, and returns the
// texts of the tools. Rivals are all in the same part. A nil lender lends nothing.
func (x *searchable) analyseTools(ctx context.Context, lender *knowledge.Lender, part []entry, rivals rivals,
	made *derived,
) ([]embed.Document, error) {
	texts, loans := make([]embed.Document, len(part)), make([]knowledge.Loan, len(part))
	inParallel(len(part), func() func(i int) {
		return func(i int) { texts[i] = knowledge.ToolText(part[i].tool) }
	})
	servers, signatures := make([]string, len(part)), map[string]uint64{}
	for i, e := range part {
		if rivals.has(e) {
			servers[i] = e.tool.Server
			signatures[servers[i]] += signText(hashText(&texts[i]))
		}
	}
	if lender != nil {
		var err error
		if loans, err = lender.Lend(ctx, texts, servers); err != nil {
			return nil, fmt.Errorf("lend to tools: %w", err)
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
			p.rivals = signatures[servers[i]]
			encoded[i] = p.encode()
		}
	})
	for i, e := range part {
		made.lent[e.hash] = encoded[i]
	}
	return texts, nil
}

// generatedShare is the weight of generated requests in what is lent to a tool that has some.
const generatedShare = .8

// addGeneratedVectors mixes the mean vector of a tool's generated requests into its loan. Requests that the author
// declared do not count: they are few and mere examples, whereas generated ones are made for tools to which the
// archetypes have nothing to lend.
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

// embedMissing adds to made.vectors the vectors that neither have nor made has. Each text is embedded once. texts has
// the text of each entry, or is nil: reading the texts of a tool takes longer than embedding them.
func (x *searchable) embedMissing(ctx context.Context, entries []entry, texts []embed.Document,
	have, made *derived,
) error {
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
	for i, e := range entries {
		if e.held {
			continue
		}
		b, ok := made.lent[e.hash]
		if !ok {
			b = have.lent[e.hash]
		}
		h, _ := textOf(b)
		_, had := have.vectors[h]
		if _, ok := made.vectors[h]; !ok && (!had || have.model != made.model) && !seen[h] {
			seen[h] = true
			if texts != nil {
				docs = append(docs, texts[i])
			} else {
				docs = append(docs, knowledge.ToolText(e.tool))
			}
			hashes = append(hashes, h)
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

// embedInto puts the vectors of docs into a map under the hashes of the same index. If one of them is of another model
// or width, or not finite, it fails and adds none.
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

// checkVector refuses a vector that would spoil every search: one of the wrong length, or with components that are not
// finite.
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

// inParallel calls a function for 0 to n-1, on all processors, and returns when all calls have. Each goroutine gets its
// own function from worker, which may have buffers of its own.
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

// publish builds the index of the set, or of what has changed, and swaps it in. Searches that run keep the snapshot
// they began with.
func (x *searchable) publish(_ context.Context, set *tool.Set, entries []entry, have *derived, changed map[string]bool,
) error {
	if x.to == nil {
		return nil
	}
	if snap, servers := x.layer(set, entries, have, changed); snap != nil {
		x.layers.note(changed)
		x.layers.changed = servers
		x.to.Swap(snap)
		return nil
	}
	snap, err := x.buildSnapshot(set, entries, have)
	if err != nil {
		return err
	}
	x.layers.use(snap, nil, map[string]bool{})
	x.to.Swap(snap)
	return nil
}

// indexDocument returns one tool as the index takes it. If its analysis is missing or cannot be decoded, it is made of
// the tool alone, so that words still find it.
func (x *searchable) indexDocument(e entry, have *derived) index.Doc {
	p, err := decodePrepared(have.lent[e.hash])
	if err != nil {
		texts := knowledge.ToolText(e.tool)
		p = prepare(new(knowledge.Analyzer), e.tool, &texts, new(knowledge.Loan))
	}
	out := index.Doc{Class: uint8(p.effect), Landmarks: p.landmarks}
	copy(out.Fields[:], p.fields[:])
	if v, ok := have.vectors[p.text]; ok {
		own := v.Float32s(make([]float32, 0, len(v.Data)))
		if have.model != x.m.Encoder.Fingerprint {
			p.lent = nil
		}
		out.Vector = mixVectors(own, p.lent)
	}
	return out
}
