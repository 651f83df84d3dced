package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/index"
	"tooldex/scan"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
	"tooldex/upstream"
)

// Options configures a Catalog. Store is required; the zero value of the rest is usable.
type Options struct {
	Store store.Backend
	// Dir is the folder of files that can be made again: images, and texts that an import moves out of memory. "" means
	// that of the store's file.
	Dir    string
	Logger *slog.Logger
	// Trust decides which tools are held until a person approves them. Each process has its own; they share the
	// decisions.
	Trust trust.Options
	// Progress is called with how many of the tools that must be made searchable are done. It runs on the goroutine of
	// Open, Sync and Refresh.
	Progress func(done, total int)

	// Model makes the tools searchable, and Index receives the snapshot of each state before Set returns it. Without an
	// Index, what tools need to be searchable is still made and stored, for other processes. Without either, the
	// catalogue can only be listed, and makes nothing.
	Model Model
	Index *index.Index
	// ListOnly makes nothing of tools, though there is a Model: the catalogue can only be listed, with the categories
	// that are derived from what was made of the tools before.
	ListOnly bool
	// Slim leaves what was made of tools in the store, where an Index would need it in memory. It suits a program that
	// only imports: View.Familiarity and View.Try then know nothing of the tools.
	Slim bool
	// Images has Open and Refresh use the file that SaveImage writes, if it is there and fits the store. A catalogue
	// that is only listed uses the tools in it.
	Images bool

	indexer indexer          // set by tests; otherwise chosen by withDefaults
	now     func() time.Time // set by tests
}

// withDefaults fills in what was left out. Without an index, an embedder and knowledge the catalogue prepares nothing
// for searching.
func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if o.Dir == "" {
		o.Dir = filepath.Dir(o.Store.Location())
	}
	switch {
	case o.indexer != nil:
	case o.ListOnly:
		o.indexer = lister{fits: &searchable{m: o.Model}}
	case o.Index != nil || o.Model.Embedder != nil || o.Model.Base != nil:
		o.indexer = &searchable{m: o.Model, to: o.Index, slim: o.Slim}
	default:
		o.indexer = noIndex{}
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// Catalog is the set of known tools. It is safe for concurrent use. Changes are made one after the other, and a change
// lasts as long as embedding its tools does; Set and Servers do not wait for it.
type Catalog struct {
	o   Options
	st  atomic.Pointer[state]    // stored under mu
	set atomic.Pointer[tool.Set] // of st; stored right after it

	saving sync.Mutex // held while an image is written; taken before mu

	mu    sync.Mutex    // held while a change is made
	trust trust.Options // guarded by mu
	// unsaved is what was made of tools and is not in the store yet. It is guarded by mu.
	unsaved *derived
	mapped  int    // images that were opened; guarded by mu
	saved   uint64 // the generation whose image is written; guarded by mu
	closing bool   // the tools are to be given up; guarded by mu
	spoiled bool   // the image that is there could not be used, and is to be replaced; guarded by mu
	// complete says that no stored tool lacks what the indexer makes, as far as is known; guarded by mu.
	complete bool
	crowded  time.Time // until then, changes wait for their turn before they are first decided; guarded by mu
	// scanner knows the names of all tools of the state of a generation; nil if there is none. Guarded by mu.
	scanner   *scan.Scanner
	scannerOf uint64
	texts     textMover // guarded by mu
	// unfamiliar are those of the tools analysed by this process that are like no archetype. Guarded by mu.
	unfamiliar map[tool.ID]bool

	outlining sync.Mutex     // taken after mu, and guards the next two
	outlined  *state         // the state opened from an image that was outlined last
	outline   *store.Outline // of the store that it was made of; nil if there is none

	reviewing sync.Mutex // taken after mu, and guards the rest
	reviewed  *state     // the state that was reviewed last
	reviews   []scan.Review
}

// Open makes what is stored searchable. It reads the store only if there is no image of its present state. Damaged
// values are left out, with a warning in the log; the next sync of their source restores them. The errors are those of
// store.Load.
func Open(ctx context.Context, o Options) (*Catalog, error) {
	c := &Catalog{o: o.withDefaults(), trust: o.Trust, unsaved: newDerived()}
	c.texts = textMover{path: filepath.Join(c.o.Dir, store.FileName), off: !o.Slim, log: c.o.Logger}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.openState(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// openState publishes the store as it is now, from an image if there is one. The caller holds mu.
func (c *Catalog) openState(ctx context.Context) error {
	if c.openImage(ctx) {
		return nil
	}
	return c.loadState(ctx, anew)
}

// loaded returns the state with all that is stored. Where an image was opened, the store is read now; if that fails,
// the log has the error, and the state has no tools.
func (c *Catalog) loaded() *state {
	st := c.st.Load()
	if !st.partial {
		return st
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loadedLocked()
}

// loadedLocked is loaded for a caller that holds mu.
func (c *Catalog) loadedLocked() *state {
	if c.st.Load().partial {
		if err := c.loadState(context.Background(), behind); err != nil {
			c.o.Logger.Error("the stored tools cannot be read", "error", err)
		}
	}
	return c.st.Load()
}

// Set returns the tools as they are now. The set does not change; ask again for a newer one.
func (c *Catalog) Set() *tool.Set { return c.set.Load() }

// Servers returns the stored configuration of upstream servers, by name. The slice is shared and must not be changed.
func (c *Catalog) Servers() []upstream.Server { return c.st.Load().servers }

// Refresh loads what other processes have stored since, and reports whether there was anything. It costs one stat if
// there was not. The errors are those of store.Load, and the catalogue then stays as it was.
func (c *Catalog) Refresh(ctx context.Context) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gen, err := c.o.Store.Generation(ctx)
	if err != nil || gen == c.st.Load().generation {
		return false, err
	}
	if c.awaitImage(ctx) {
		return true, nil
	}
	return true, c.loadState(ctx, anew)
}

// Retrust applies other trust options from now on, as if the catalogue had been opened with them. The errors are those
// of store.Load, and the catalogue then stays as it was.
func (c *Catalog) Retrust(ctx context.Context, t trust.Options) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.trust
	c.trust, c.saved = t, 0
	err := c.openState(ctx)
	if err != nil {
		c.trust = before
	}
	return err
}

// loading says why the store is read.
type loading int

const (
	anew   loading = iota // its tools are to be published, whatever is published now
	behind                // what is published may be an image of the same tools, under the same model and trust
)

// loadState reads the store, completes what this process's model and knowledge have not made yet, and publishes the
// result. The caller holds mu.
func (c *Catalog) loadState(ctx context.Context, why loading) error {
	var st *state
	err := c.attempt(ctx, func(ctx context.Context) error {
		view := c.o.indexer.view()
		snap, err := c.o.Store.LoadMoving(ctx, view, c.texts.moveTools)
		if err != nil {
			return err
		}
		for _, d := range snap.Damaged {
			c.o.Logger.Warn("a stored value is damaged and left out", "value", d.String())
		}
		st = newState(snap, view.Model.Fingerprint, c.trust, c.o.Logger)
		c.complete = false
		c.complete, err = c.prepareAndStore(ctx, st, st.allEntries(), &store.Batch{})
		return err
	})
	if err != nil {
		return err
	}
	if why == behind && c.isPublished(ctx, st) {
		c.o.indexer.release()
		c.st.Store(st)
		return nil
	}
	return c.publish(ctx, st, nil)
}

// isPublished reports whether an image has brought the index and the set of a state that was loaded whole. The tools
// that st shows are then those of the image.
func (c *Catalog) isPublished(ctx context.Context, st *state) bool {
	before := c.st.Load()
	if before == nil || !before.partial || before.generation != st.generation || st.damaged ||
		len(c.unsaved.lent)+len(c.unsaved.vectors) > 0 {
		return false
	}
	// A generation may come again, with another store. A stamp does not.
	head, err := c.o.Store.ReadHead(ctx)
	return err == nil && head.Generation == before.generation && head.Stamp == before.stamp && st.showAs(c.set.Load())
}

// applyChange has decide make a batch from the newest state, makes it durable and then visible. Decide returns the
// state that results. It is called again when another process has changed the store in between, so it must have no
// other effects that add up. An empty batch changes nothing.
func (c *Catalog) applyChange(ctx context.Context, decide func(st *state) (*state, *store.Batch, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next *state
	var changed map[string]bool
	err := c.attemptChange(ctx, func(ctx context.Context) error {
		next, changed = nil, nil
		gen, err := c.o.Store.Generation(ctx)
		if err != nil {
			return err
		}
		if st := c.st.Load(); gen != st.generation || st.partial {
			if err := c.loadState(ctx, behind); err != nil {
				return err
			}
		}
		decided, batch, err := decide(c.st.Load())
		if err != nil || batch.Empty() {
			return err
		}
		next = decided
		if c.complete { // otherwise tools of any server may get what they lack
			changed = next.changedServers(c.st.Load(), batch)
		}
		c.complete, err = c.prepareAndStore(ctx, next, next.allEntries(), batch)
		return err
	})
	if err != nil || next == nil {
		return err
	}
	return c.publish(ctx, next, changed)
}

// prepareAndStore makes what these entries of st lack to be searchable, and stores it together with batch. A model that
// cannot be reached keeps no tool out: it is asked again at the next change, and until then the tools are found by
// words. Ready says that the entries lack nothing now. The caller holds mu.
func (c *Catalog) prepareAndStore(ctx context.Context, st *state, entries []entry, batch *store.Batch) (ready bool,
	err error,
) {
	st.derived.addContent(c.unsaved)
	made, prepareErr := c.o.indexer.prepare(ctx, entries, st.derived, c.o.Progress)
	c.unsaved.addContent(made) // also if the write below fails: nothing is embedded twice
	c.noteUnfamiliar(entries, made)
	st.derived.addContent(made)
	decided := !batch.Empty() // otherwise the write only saves work, and may fail
	if ctx.Err() != nil {
		return false, &tool.Error{
			Code: tool.Timeout, Op: "prepare tools", Msg: "stopped before all tools were searchable",
			Hint: "try again", Err: ctx.Err(),
		}
	}
	if prepareErr != nil {
		c.o.Logger.Warn("tools could not be made searchable by meaning; words still find them", "error", prepareErr)
	}
	x := c.searchIndexer()
	ready = prepareErr == nil && !st.damaged && (x == nil || !x.embedLater)
	v := c.o.indexer.view()
	batch.Base, batch.Model, batch.Knowledge = st.generation, v.Model, v.Knowledge
	if c.unsaved.model != v.Model.Fingerprint { // the model was replaced since
		clear(c.unsaved.vectors)
	}
	batch.Vectors, batch.Analyses = c.unsaved.vectors, c.unsaved.lent
	if batch.Empty() {
		return ready, nil
	}
	if decided {
		batch.DropVectors, batch.DropAnalyses = st.takeUnneeded()
	}
	gen, err := c.o.Store.Write(ctx, batch)
	// Searches work even if the disk is full or read-only.
	if err != nil && tool.CodeOf(err) == tool.Internal && !decided {
		c.o.Logger.Warn("what was made of tools could not be stored, and is made again by the next process", "error",
			err)
		return ready, nil
	}
	if err != nil {
		return false, err
	}
	if c.o.Slim {
		st.derived.slim(c.unsaved)
	}
	c.unsaved = newDerived()
	st.generation = gen
	return ready, nil
}

// publish makes st visible: first in the index, then in Set. Changed are the servers whose tools may differ from those
// that are visible; nil stands for all.
func (c *Catalog) publish(ctx context.Context, st *state, changed map[string]bool) error {
	if st.partial {
		return c.publishFew(ctx, st, changed)
	}
	c.o.indexer.release()
	if err := st.annotate(c.o.Model.Base, inMemory(st.derived)); err != nil {
		return err
	}
	set := st.visibleSet()
	if err := c.o.indexer.publish(ctx, set, st.entries, st.derived, changed); err != nil {
		return fmt.Errorf("publish tools: %w", err)
	}
	c.st.Store(st)
	c.set.Store(set)
	c.saveSegment(ctx, st, set)
	return nil
}
