package catalog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tooldex/index"
	"tooldex/internal/flatfile"
	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
)

// An image is a file that holds the catalogue as it is used: the tools as they are served, and the index over them. It
// spares a process that opens a folder reading the store and building the index. The store stays the truth: an image is
// used only while its stamp is that of the store, and can be removed at any time.

// imageLayout is the version of an image, except for the index in it. Raise it when the same stored tools would be
// served otherwise than before.
const imageLayout = 5

// The names of images in the data directory. Each model and each policy of trust has one; of those that are not used
// any more the latest few stay.
const (
	imagePrefix, imageSuffix = "index-", ".flat"
	keptImages               = 4
)

// mostMapped is how many images one catalogue maps into memory. Mappings are never given up, so that further ones are
// read instead.
const mostMapped = 4

// The sections of an image before those of the index.
const (
	sectionMeta = iota
	sectionRows
	sectionTexts
	firstIndexSection
)

// imageKey says what an image was made of. It is compared as a whole.
type imageKey struct {
	Layout     int
	Generation uint64
	Stamp      store.Stamp
	View       string // the model and the knowledge
	Policy     trust.Policy
	Servers    []string // that the options trust
}

// imageMeta is what an image holds beside the tools and the index. Servers are read from the store: their configuration
// may contain secrets, which lie in one file only.
type imageMeta struct {
	Trusted []string // those servers of tools whose tools were taken as they are
	// Texts holds what servers say of themselves, by server.
	Texts map[string]string `json:",omitempty"`
}

// imageKey returns the key of the image that this catalogue would write of a state of the store. The caller holds mu.
func (c *Catalog) imageKey(gen uint64, stamp store.Stamp) imageKey {
	v := c.imageIndexer().view()
	servers := slices.Clone(c.trust.Servers)
	slices.Sort(servers)
	return imageKey{
		Layout: imageLayout, Generation: gen, Stamp: stamp, Policy: cmp.Or(c.trust.Policy, trust.Warn), Servers: servers,
		View: fmt.Sprintf("%s %s %d %s %s", v.Model.Name, v.Model.Fingerprint, v.Model.Dims, v.Knowledge,
			knowledge.CategoryVersion()),
	}
}

// path returns the file of the images of this key and of all other states of the store.
func (k imageKey) path(dir string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", k.View, k.Policy, strings.Join(k.Servers, "\x00")))
	return filepath.Join(dir, fmt.Sprintf("%s%x%s", imagePrefix, sum[:4], imageSuffix))
}

// encode returns the key as it lies in the file.
func (k imageKey) encode() []byte {
	b, err := json.Marshal(k)
	if err != nil { // strings and numbers always encode
		return nil
	}
	return b
}

// imageIndexer returns the indexer by which the images of this catalogue are made; nil if it has none.
func (c *Catalog) imageIndexer() *searchable {
	switch x := c.o.indexer.(type) {
	case *searchable:
		return x
	case lister:
		return x.fits
	}
	return nil
}

// openImage publishes the image of the store as it is now, and reports whether there is one that can be used. The state
// is then partial. The caller holds mu.
func (c *Catalog) openImage(ctx context.Context) bool {
	x := c.imageIndexer()
	// A program that only imports has no index, and loads the rest of what is stored once something changes.
	if x == nil || x.to == nil && !c.o.ListOnly && !c.o.Slim || x.embedLater || !c.o.Images {
		return false
	}
	head, err := c.o.Store.ReadHead(ctx)
	if err != nil || head.Damaged || head.Stamp == (store.Stamp{}) {
		return false // loading the store reports it
	}
	key := c.imageKey(head.Generation, head.Stamp)
	path := key.path(c.o.Dir)
	if have, err := flatfile.ReadKey(path); err != nil || string(have) != string(key.encode()) {
		return false
	}
	sections, err := flatfile.Open(path, key.encode(), c.mapped < mostMapped)
	if err == nil {
		err = c.publishImage(head, sections, x)
	}
	if err != nil {
		c.o.Logger.Info("the stored index cannot be used and is made again", "file", path, "error", err)
		c.spoiled = true
		return false
	}
	c.mapped++
	c.remember(head)
	return true
}

var errOtherTrust = errors.New("other servers are trusted now")

// publishImage publishes what an image holds.
func (c *Catalog) publishImage(head store.Head, sections [][]byte, x *searchable) error {
	if len(sections) < firstIndexSection {
		return flatfile.ErrForeign
	}
	var meta imageMeta
	if err := json.Unmarshal(sections[sectionMeta], &meta); err != nil {
		return fmt.Errorf("read what is in it: %w", err)
	}
	rows, err := flatfile.List[toolRow](sections[sectionRows])
	if err != nil {
		return err
	}
	tools, held, ok := openTools(rows, sections[sectionTexts], meta.Texts)
	if !ok {
		return fmt.Errorf("its tools: %w", flatfile.ErrForeign)
	}
	ledger, _ := trust.NewLedger(c.trust, head.Servers, nil, nil)
	if !slices.Equal(trustedServers(tools, ledger), meta.Trusted) {
		return errOtherTrust
	}
	set := tool.NewSet(tools, "")
	if len(held) > 0 {
		set = set.Withhold(func(t *tool.Tool) string { return held[t] })
	}
	if x.to != nil {
		snap, err := index.Restore(set, sections[firstIndexSection:])
		if err != nil {
			return err
		}
		x.layers.use(snap, map[string]bool{})
		x.to.Swap(snap)
	}
	c.st.Store(&state{
		generation: head.Generation, servers: head.Servers, trust: ledger, derived: newDerived(), partial: true,
		stamp: head.Stamp,
	})
	c.set.Store(set)
	return nil
}

// trustedServers returns the servers of tools, which are sorted by ID, that a ledger trusts, in that order.
func trustedServers(tools []*tool.Tool, l *trust.Ledger) (out []string) {
	last := ""
	for _, t := range tools {
		if t.Server != last && l.Trusts(t.Server) {
			out = append(out, t.Server)
		}
		last = t.Server
	}
	return out
}

// SaveImage writes the catalogue, as it is used, to a file beside the store, from which later processes open it at
// once. It does nothing if that file is there already, if tools still lack what they need, and if Options.Images is not
// set. An index in layers is built anew for the file, and the catalogue then uses that one. Changes do not wait for it.
// The error is that of writing the file, or of reading the store; nothing depends on it.
func (c *Catalog) SaveImage(ctx context.Context) error {
	c.saving.Lock()
	defer c.saving.Unlock()
	w, err := c.imageToWrite(ctx)
	if w == nil || err != nil {
		return err
	}
	err = w.write(ctx, c)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.spoiled = false
		// Another trust or model may have come meanwhile, which needs an image of its own.
		if string(c.imageKey(w.head.Generation, w.head.Stamp).encode()) == string(w.key.encode()) {
			c.saved = w.st.generation
		}
		c.remember(w.head)
		removeOldImages(filepath.Dir(w.path))
		if w.snap != nil && w.snap.IsLayered() {
			err = c.useMerged(w)
		}
	}
	w.x.layers.since = nil
	if errors.Is(err, store.ErrChanged) { // the process that changed it writes the next image
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the index to %s: %w", w.path, err)
	}
	return nil
}

// imageWriter writes the image of one state. Nothing that it reads changes.
type imageWriter struct {
	x    *searchable
	st   *state
	set  *tool.Set
	snap *index.Snapshot // nil for a catalogue without an index
	path string
	key  imageKey
	head store.Head
}

// imageToWrite returns what writes the image of the catalogue as it is now; nil if there is nothing to write.
func (c *Catalog) imageToWrite(ctx context.Context) (*imageWriter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x, st := c.searchIndexer(), c.st.Load()
	if x == nil || !c.o.Images || st == nil || st.partial || st.generation == c.saved {
		return nil, nil
	}
	head, err := c.o.Store.ReadHead(ctx)
	if err != nil || head.Generation != st.generation || head.Stamp == (store.Stamp{}) {
		return nil, err
	}
	w := &imageWriter{x: x, st: st, set: c.set.Load(), key: c.imageKey(head.Generation, head.Stamp), head: head}
	w.path = w.key.path(c.o.Dir)
	if have, err := flatfile.ReadKey(w.path); err == nil && string(have) == string(w.key.encode()) && !c.spoiled {
		c.saved = st.generation
		c.remember(head)
		return nil, nil
	}
	if !x.isComplete(st) {
		return nil, nil
	}
	if x.to != nil {
		if w.snap = x.to.Current(); w.snap == nil || w.snap.Set() != w.set {
			return nil, nil
		}
		x.layers.since = map[string]bool{}
	}
	return w, nil
}

// write writes the file.
func (w *imageWriter) write(ctx context.Context, c *Catalog) error {
	own := &searchable{m: w.x.m, o: w.x.o} // the catalogue may be using x
	switch {
	case w.snap == nil:
		return c.writeBuilt(own, w.st, w.path, w.key, func(v store.View) derivedSource {
			return c.readDerived(ctx, v, w.st.generation)
		})
	case w.snap.IsLayered():
		return c.writeBuilt(own, w.st, w.path, w.key, func(store.View) derivedSource {
			return func([]entry) (*derived, error) { return w.st.derived, ctx.Err() }
		})
	}
	sections, err := w.snap.Image()
	if err != nil {
		return err
	}
	return writeImage(w.path, w.key, w.st, w.set, flatfile.Parts(sections...))
}

// useMerged takes the index of all tools that was written in place of the layers, and lays over it what has changed
// meanwhile. The caller holds mu.
func (c *Catalog) useMerged(w *imageWriter) error {
	l := &w.x.layers
	_, extra, _ := w.snap.Parts()
	// A small addition stays: each new base is another mapping of the whole.
	if c.searchIndexer() != w.x || l.since == nil || extra.Len()*mergedShare < w.snap.Len() {
		return nil
	}
	sections, err := flatfile.Open(w.path, w.key.encode(), c.mapped < mostMapped)
	if errors.Is(err, flatfile.ErrForeign) { // another process has written a later one
		return nil
	}
	if err != nil {
		return err
	}
	if len(sections) < firstIndexSection {
		return flatfile.ErrForeign
	}
	base, err := index.Restore(w.set, sections[firstIndexSection:])
	if err != nil {
		return err
	}
	c.mapped++
	st, set, since := c.st.Load(), c.set.Load(), l.since
	l.use(base, map[string]bool{})
	if set == w.set {
		w.x.to.Swap(base)
		return nil
	}
	l.changed = since
	if snap, servers := w.x.layer(set, st.entries, st.derived, since); snap != nil {
		l.changed = servers
		w.x.to.Swap(snap)
	}
	return nil
}

// remember has the store remember the state of an image, from which a process can then begin without the store.
func (c *Catalog) remember(head store.Head) {
	if s, ok := c.o.Store.(store.Remembering); ok {
		s.Remember(head)
	}
}

// isComplete reports whether nothing is missing or damaged in a state: only then is its index what the next process
// would make.
func (x *searchable) isComplete(st *state) bool {
	if st.damaged || x.m.Embedder != nil && len(st.entries) > 0 && st.derived.model != x.view().Model.Fingerprint {
		return false
	}
	for _, e := range st.entries {
		h, ok := textOf(st.derived.lent[e.hash])
		if !ok {
			return false
		}
		if _, ok := st.derived.vectors[h]; !ok && x.m.Embedder != nil {
			return false
		}
	}
	return true
}

// encodeMeta returns what an image has beside tools and index.
func encodeMeta(trusted []string, said map[string]string) ([]byte, error) {
	meta, err := json.Marshal(imageMeta{Trusted: trusted, Texts: said})
	if err != nil {
		return nil, fmt.Errorf("describe the tools: %w", err)
	}
	return meta, nil
}

// removeOldImages removes all but the latest images of a folder. What cannot be removed now is removed next time.
func removeOldImages(dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, imagePrefix+"*"+imageSuffix))
	if err != nil || len(paths) <= keptImages {
		return
	}
	age := map[string]time.Time{}
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			age[p] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return age[b].Compare(age[a]) })
	for _, p := range paths[keptImages:] {
		_ = os.Remove(p)
	}
}
