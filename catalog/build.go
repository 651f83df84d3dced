package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tooldex/index"
	"tooldex/internal/flatfile"
	"tooldex/store"
	"tooldex/tool"
)

// derivedSource returns what was made of the tools of some entries, and possibly more. There are two: inMemory, when an
// import has just prepared all tools, and readDerived, when the catalogue is too large to hold everything that was
// prepared.
type derivedSource func(part []entry) (*derived, error)

// inMemory is the source of what is in memory.
func inMemory(d *derived) derivedSource { return func([]entry) (*derived, error) { return d, nil } }

// readDerived returns the source of what is stored at a generation and fits a view. It fails once the store has
// another.
func (c *Catalog) readDerived(ctx context.Context, view store.View, gen uint64) derivedSource {
	return func(part []entry) (*derived, error) {
		hashes := make([]tool.Hash, len(part))
		for i, e := range part {
			hashes[i] = e.hash
		}
		got, err := c.o.Store.ReadDerived(ctx, view, gen, hashes, textOf)
		if err != nil {
			return nil, err
		}
		return &derived{model: view.Model.Fingerprint, vectors: got.Vectors, lent: got.Analyses}, nil
	}
}

// buildChunk is how many tools are decoded at once. Each touches two pages of the store, of which the system maps more.
const buildChunk = 256

// eachChunk calls do with entries in parts, where each begins, and what was made of their tools. While do works on one
// part, the next is read.
func eachChunk(entries []entry, from derivedSource, do func(start int, part []entry, have *derived) error) error {
	type chunk struct {
		part []entry
		have *derived
		err  error
	}
	reads, stop := make(chan chunk), make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(reads)
		for part := range slices.Chunk(entries, buildChunk) {
			c := chunk{part: part}
			c.have, c.err = from(part)
			select {
			case reads <- c:
			case <-stop:
				return
			}
			if c.err != nil {
				return
			}
		}
	})
	defer reader.Wait() // from must not run on after eachChunk has returned
	defer close(stop)
	start := 0
	for c := range reads {
		if c.err != nil {
			return c.err
		}
		if err := do(start, c.part, c.have); err != nil {
			return err
		}
		start += len(c.part)
	}
	return nil
}

// buildSnapshot builds the index of the tools of set, whose order entries have.
func (x *searchable) buildSnapshot(set *tool.Set, entries []entry, have *derived) (*index.Snapshot, error) {
	measured, err := x.measure(entries, shownTexts(set), nil, inMemory(have))
	if err != nil {
		return nil, err
	}
	b, err := x.fillBuilder(set, entries, measured, inMemory(have), have.model, "")
	if err != nil {
		return nil, err
	}
	snap, err := b.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("build the index: %w", err)
	}
	return snap, nil
}

// measured is what must be known of all tools before the index of them can be built: BM25F needs the mean length of
// each field before it can weigh a single term, and keeping all decoded documents would take several times the memory
// of the index.
type measured struct {
	lengths index.Lengths
	words   map[string][]index.Term // of what servers say of themselves, by that text
	// sketches find the tools of similar descriptions; nil before they are needed, unless they are there already.
	sketches *nearTable
}

// measure reads the analyses of tools, as far as it needs them, on all processors. Texts has what the server of each
// entry says of itself. Derive gets the landmarks of each entry; it may be nil.
func (x *searchable) measure(entries []entry, texts []string, derive *categorizer, from derivedSource) (*measured, error) {
	out := &measured{words: serverTerms(texts)}
	docs := make([]index.Doc, min(len(entries), buildChunk))
	err := eachChunk(entries, from, func(start int, part []entry, have *derived) error {
		inParallel(len(part), func() func(i int) {
			return func(i int) {
				e, doc := part[i], &docs[i]
				if !skimPrepared(have.lent[e.hash], doc) {
					*doc = x.indexDocument(e, have)
				}
				doc.Fields[index.Server] = out.words[texts[start+i]]
			}
		})
		for i := range part {
			out.lengths.Add(&docs[i])
		}
		derive.add(part, func(i int) []index.Landmark { return docs[i].Landmarks })
		return nil
	})
	return out, err
}

// fillBuilder returns a builder that has the tools of set, whose order entries have, and that were measured. It decodes
// their analyses on all processors, some at a time. Path is that of index.NewBuilder.
func (x *searchable) fillBuilder(set *tool.Set, entries []entry, m *measured, from derivedSource, model, path string) (
	*index.Builder, error,
) {
	o := x.o
	o.Model = model
	b, err := index.NewBuilder(set, m.lengths, o, path)
	if err != nil {
		return nil, fmt.Errorf("build the index: %w", err)
	}
	if x.params == nil {
		x.params = newParameterNames()
	}
	finder := newDuplicateFinder(set.All(), x.params)
	docs := make([]index.Doc, min(len(entries), buildChunk))
	err = eachChunk(entries, from, func(start int, part []entry, have *derived) error {
		inParallel(len(part), func() func(i int) {
			return func(i int) {
				docs[i] = x.indexDocument(part[i], have)
				docs[i].Fields[index.Server] = m.words[set.All()[start+i].ServerText]
			}
		})
		for i := range part {
			if err := b.Add(&docs[i]); err != nil {
				return fmt.Errorf("build the index: %w", err)
			}
			finder.note(start+i, &part[i].hash, docs[i].Fields[index.Text])
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	groups := finder.groups()
	if m.sketches == nil {
		m.sketches = newSketches(entries)
	}
	b.MarkDuplicates(groups, markCopies(entries, m.sketches, x.params, groups))
	x.params.dropUnused(len(entries))
	return b, nil
}

// writeBuilt builds the index of a state and writes its image. It does not hold the image in memory, nor what was made
// of the tools, which may be only in the store: from returns the source of what fits a view.
func (c *Catalog) writeBuilt(x *searchable, st *state, path string, key imageKey,
	from func(store.View) derivedSource,
) (err error) {
	whole := *st
	texts := whole.serverTexts(whole.entries)
	// Analyses are enough to measure by, and a third of what is stored of a tool. Categories, which the index filters
	// by, are derived from what was measured.
	derive := newCategorizer(x.m.Base, len(whole.entries))
	measured, err := x.measure(whole.entries, texts, derive, from(store.View{Knowledge: x.view().Knowledge}))
	if err != nil {
		return err
	}
	whole.shown = annotated(whole.entries, texts, derive.finish(), whole.taken)
	set := whole.visibleSet()
	near := newNearTables(set.All())
	measured.sketches = &near.rows
	b, err := x.fillBuilder(set, whole.entries, measured, from(x.view()), x.view().Model.Fingerprint, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	sections, err := b.Image()
	if err != nil {
		return err
	}
	return writeImage(path, key, &whole, set, near, sections)
}

// writeImage writes the image of a state with the set that it serves, the tables of its tools and the sections of its
// index.
func writeImage(path string, key imageKey, st *state, set *tool.Set, near nearTables, sections []flatfile.Section) error {
	reviews, err := json.Marshal(st.review())
	if err != nil {
		return fmt.Errorf("write what is to be reviewed: %w", err)
	}
	return writeTools(path, key.encode(), st, set, st.allEntries(), imageMeta{},
		slices.Concat(flatfile.Parts(near.sections()...), nameSections(set), flatfile.Parts(reviews), sections))
}

// nameSections returns the tables that find the tools of a set by name, for an image.
func nameSections(set *tool.Set) (out []flatfile.Section) {
	for _, list := range set.NameLists() {
		out = append(out, flatfile.Part(flatfile.Bytes(list)))
	}
	return out
}

// writeTools writes a file with the tools of some entries of a state, as set shows them, and then further sections.
// Meta is completed.
func writeTools(path string, key []byte, st *state, set *tool.Set, entries []entry, meta imageMeta,
	sections []flatfile.Section,
) (err error) {
	// The texts go to a temporary file beside the image, since all texts of a large catalogue do not fit in memory.
	texts, err := flatfile.NewSpool(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, texts.Close()) }()
	var (
		rows []toolRow
		one  []byte
	)
	_, own := st.describe(entries)
	meta.Trusted, meta.Mixed = own.Trusted, append(meta.Mixed, own.Mixed...)
	slices.Sort(meta.Mixed)
	meta.Mixed, meta.Texts = slices.Compact(meta.Mixed), map[string]string{}
	names := map[tool.ID]string{} // of tools that are held
	for t, exposed := range set.Held() {
		names[t.ID()] = exposed
	}
	for _, e := range entries {
		id, notes := e.tool.ID(), toolNotes{first: e.first}
		if r, ok := st.records[id]; ok {
			// Held tools are in the image as well, with the reason.
			notes.held = st.trust.HoldReason(formOf(r))
		}
		t := e.tool
		if shown, ok := set.Get(id); ok {
			t = shown
		}
		if meta.Servers == nil { // a segment is laid over other tools, which have a part in the names
			notes.exposed = cmp.Or(set.Exposed(id), names[id])
		}
		if t.ServerText != "" {
			meta.Texts[t.Server] = t.ServerText
		}
		at := texts.Len()
		rows, one = appendTool(rows, one[:0], t, notes)
		rows[len(rows)-1].at = at
		if err := texts.Append(one); err != nil {
			return err
		}
	}
	described, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("describe the tools: %w", err)
	}
	all := append(flatfile.Parts(described, flatfile.Bytes(rows)), texts.Section())
	return flatfile.Write(path, key, append(all, sections...))
}

// describe returns the servers of some entries, which are sorted by ID, and what an image has of them beside their
// tools and texts.
func (st *state) describe(entries []entry) (servers []string, meta imageMeta) {
	for _, e := range entries {
		if len(servers) == 0 || servers[len(servers)-1] != e.tool.Server {
			servers = append(servers, e.tool.Server)
		}
		if r, ok := st.records[e.tool.ID()]; ok && r.Source != r.Tool.Server {
			meta.Mixed = append(meta.Mixed, r.Source, r.Tool.Server)
		}
	}
	slices.Sort(meta.Mixed)
	meta.Mixed, meta.Trusted = slices.Compact(meta.Mixed), trustedAmong(servers, st.trust)
	return servers, meta
}
