package catalog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
const imageLayout = 8

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
	sectionNear                          // the first of those of nearTables
	sectionNames      = sectionNear + 4  // the first of those of tool.Set.NameLists
	sectionReviews    = sectionNames + 9 // what state.review returns, as JSON
	firstIndexSection = sectionReviews + 1
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
	// Mixed are the sources of tools of servers of other names, and these servers, sorted.
	Mixed []string `json:",omitempty"`
	// Servers are those whose tools a segment replaces, sorted; nil in an image.
	Servers []string `json:",omitempty"`
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

// openImage publishes the image of the store as it is now, or an older one with the segment that makes it that of now,
// and reports whether there is one that can be used. The state is then partial. The caller holds mu.
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
	var seg *segment
	of := key
	if !isAt(path, key) {
		if of, err = findSegment(key, c.o.Dir); err != nil || !c.hasImage(x, of) {
			return false
		}
	}
	image, err := c.openBase(x, of)
	if err == nil && string(of.encode()) != string(key.encode()) {
		seg, err = openSegment(key, of, c.o.Dir)
	}
	if err == nil {
		err = c.publishImage(head, image, seg, x)
	}
	if err != nil {
		c.o.Logger.Info("the stored index cannot be used and is made again", "file", path, "error", err)
		c.spoiled = true
		return false
	}
	c.remember(head)
	return true
}

// isAt reports whether a file has a key.
func isAt(path string, key imageKey) bool {
	have, err := flatfile.ReadKey(path)
	return err == nil && string(have) == string(key.encode())
}

// hasImage reports whether an image is there, or open already.
func (c *Catalog) hasImage(x *searchable, key imageKey) bool {
	return x.layers.image.is(key) || isAt(key.path(c.o.Dir), key)
}

// openBase returns the image of a key, which may be open already.
func (c *Catalog) openBase(x *searchable, key imageKey) (*openedImage, error) {
	if x.layers.image.is(key) {
		return x.layers.image, nil
	}
	image, err := openImageFile(key, c.o.Dir, c.mapped < mostMapped, x.to != nil)
	if err == nil {
		c.mapped++
	}
	return image, err
}

// openedImage is an image that this process has opened or written.
type openedImage struct {
	key     string          // encoded
	set     *tool.Set       // without what is held
	snap    *index.Snapshot // nil if it was opened without the index
	near    nearTables      // nil tables if they were not opened
	rows    []toolRow       // of all tools, held ones as well; nil if they were not opened
	docs    []int32         // by document of the index: its row; set by place
	place   sync.Once
	servers []string // of all tools
	reviews []byte   // the section; nil if it was not opened
	meta    imageMeta
}

// is reports whether an image has a key.
func (o *openedImage) is(key imageKey) bool { return o != nil && o.key == string(key.encode()) }

// firstSeen returns when the tool of a document was first seen.
func (o *openedImage) firstSeen(doc int) time.Time {
	o.place.Do(func() {
		for i := range o.rows {
			if o.rows[i].lengths[partHeld] == 0 {
				o.docs = append(o.docs, int32(i))
			}
		}
	})
	if doc >= len(o.docs) {
		return time.Time{}
	}
	return o.rows[o.docs[doc]].firstSeen()
}

// openImageFile opens the image of a key.
func openImageFile(key imageKey, dir string, mapped, withIndex bool) (*openedImage, error) {
	sections, err := flatfile.Open(key.path(dir), key.encode(), mapped)
	if err != nil {
		return nil, err
	}
	if len(sections) < firstIndexSection {
		return nil, flatfile.ErrForeign
	}
	o := &openedImage{key: string(key.encode()), reviews: sections[sectionReviews]}
	stored, err := o.openTools(sections)
	if err != nil {
		return nil, err
	}
	o.servers = serversOf(stored.tools)
	if o.set, err = openSet(stored, sections[sectionNames:sectionReviews]); err != nil {
		return nil, err
	}
	if o.near, err = openNearTables(sections[sectionNear:sectionNames]); err == nil && withIndex {
		o.snap, err = index.Restore(o.set, sections[firstIndexSection:])
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// openSet returns the set of stored tools, whose names are found by tables that lie in sections.
func openSet(stored storedTools, sections [][]byte) (*tool.Set, error) {
	var lists [sectionReviews - sectionNames][]uint32
	for k := range lists {
		var err error
		if lists[k], err = flatfile.List[uint32](sections[k]); err != nil {
			return nil, err
		}
	}
	set, ok := tool.RestoreSet(stored.tools, stored.exposed, stored.held, lists)
	if !ok {
		return nil, fmt.Errorf("the names of its tools: %w", flatfile.ErrForeign)
	}
	return set, nil
}

// openTools opens the first three sections of an image or a segment.
func (o *openedImage) openTools(sections [][]byte) (storedTools, error) {
	if err := json.Unmarshal(sections[sectionMeta], &o.meta); err != nil {
		return storedTools{}, fmt.Errorf("read what is in it: %w", err)
	}
	var err error
	if o.rows, err = flatfile.List[toolRow](sections[sectionRows]); err != nil {
		return storedTools{}, err
	}
	stored, ok := openTools(o.rows, sections[sectionTexts], o.meta.Texts)
	if !ok {
		return stored, fmt.Errorf("its tools: %w", flatfile.ErrForeign)
	}
	return stored, nil
}

var errOtherTrust = errors.New("other servers are trusted now")

// publishImage publishes what an image holds, with the segment that replaces some of it; nil for none.
func (c *Catalog) publishImage(head store.Head, image *openedImage, seg *segment, x *searchable) error {
	ledger, _ := trust.NewLedger(c.trust, head.Servers, nil, nil)
	set, snap, changed := image.set, image.snap, map[string]bool{}
	mixed := nameSet(image.meta.Mixed)
	if seg != nil {
		changed = nameSet(seg.meta.Servers)
		maps.Copy(mixed, nameSet(seg.meta.Mixed))
		if !slices.Equal(trustedAmong(seg.servers, ledger), seg.meta.Trusted) {
			return errOtherTrust
		}
	}
	others := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return changed[s] })
	}
	if !slices.Equal(trustedAmong(others(image.servers), ledger), others(image.meta.Trusted)) {
		return errOtherTrust
	}
	if seg != nil {
		var err error
		if set, snap, err = seg.layOver(image, changed); err != nil {
			return err
		}
	}
	if x.to != nil {
		x.layers.use(image.snap, image, changed)
		x.to.Swap(snap)
	}
	c.st.Store(&state{
		generation: head.Generation, servers: head.Servers, trust: ledger, derived: newDerived(), partial: true,
		stamp: head.Stamp, mixed: mixed, image: image, since: changed,
	})
	c.set.Store(set)
	c.complete = true // no other image is written
	return nil
}

// serversOf returns the servers of tools, which are sorted by ID, in that order.
func serversOf(tools []*tool.Tool) (out []string) {
	for _, t := range tools {
		if len(out) == 0 || out[len(out)-1] != t.Server {
			out = append(out, t.Server)
		}
	}
	return out
}

// trustedAmong returns those of some servers that a ledger trusts.
func trustedAmong(servers []string, l *trust.Ledger) (out []string) {
	for _, s := range servers {
		if l.Trusts(s) {
			out = append(out, s)
		}
	}
	return out
}

// nameSet returns the set of some names.
func nameSet(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, n := range names {
		out[n] = true
	}
	return out
}

// SaveImage writes the catalogue, as it is used, to a file beside the store, from which later processes open it at
// once. It does nothing if that file is there already, if tools still lack what they need, and if Options.Images is not
// set. Where little has changed since the file was written, it leaves that to a segment. Otherwise an index in layers
// is built again for the file, and the catalogue then uses that one. Changes do not wait for it. The error is that of
// writing the file, or of reading the store; nothing depends on it.
func (c *Catalog) SaveImage(ctx context.Context) error {
	c.saving.Lock()
	defer c.saving.Unlock()
	w, err := c.imageToWrite(ctx)
	if w == nil || err != nil {
		return err
	}
	err = w.write(ctx, c)
	var (
		servers []string
		meta    imageMeta
	)
	if w.snap != nil && !w.snap.IsLayered() { // before the lock: it visits all tools
		servers, meta = w.st.describe(w.st.allEntries())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.spoiled = false
		// Another trust or model may have come meanwhile, which needs an image of its own.
		if string(c.imageKey(w.head.Generation, w.head.Stamp).encode()) == string(w.key.encode()) {
			c.saved = w.st.generation
		}
		c.remember(w.head)
		removeOldImages(c.o.Dir)
		removeSegment(w.key, c.o.Dir)
		switch l := &w.x.layers; {
		case w.snap == nil || c.searchIndexer() != w.x:
		case w.snap.IsLayered():
			err = c.useMerged(ctx, w)
		case l.base == w.snap:
			// As if it were opened: what it was made of is compared with what is trusted before it is published again.
			l.image = &openedImage{key: string(w.key.encode()), set: w.set, snap: w.snap, servers: servers, meta: meta}
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

// Close is SaveImage of a catalogue that is not used afterwards. One with Options.Slim gives up its tools first: an image
// of very many tools otherwise takes several times as much memory as they do. It has no tools then, and those that it
// gave out must not be used any more.
func (c *Catalog) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closing = c.o.Slim
	c.mu.Unlock()
	return c.SaveImage(ctx)
}

// imageWriter writes the image of one state. Nothing that it reads changes.
type imageWriter struct {
	x    *searchable
	st   *state
	set  *tool.Set       // nil if the catalogue is closing
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
	if x == nil || !c.o.Images || st == nil || st.generation == c.saved && !c.isLayered() || st.partial && !c.isLayered() {
		return nil, nil
	}
	head, err := c.o.Store.ReadHead(ctx)
	if err != nil || head.Generation != st.generation || head.Stamp == (store.Stamp{}) {
		return nil, err
	}
	w := &imageWriter{x: x, st: st, set: c.set.Load(), key: c.imageKey(head.Generation, head.Stamp), head: head}
	w.path = w.key.path(c.o.Dir)
	kept := c.hasSegment(x, w.key)
	if !kept && c.isLayered() { // maybe it can be written now
		c.saveSegment(ctx, st, w.set)
		kept = c.hasSegment(x, w.key)
	}
	if isAt(w.path, w.key) && !c.spoiled || kept {
		c.saved = st.generation
		c.remember(head)
		return nil, nil
	}
	if !st.partial && !x.isComplete(st) {
		return nil, nil
	}
	if x.to != nil {
		if w.snap = x.to.Current(); w.snap == nil || w.snap.Set() != w.set {
			return nil, nil
		}
		x.layers.since = map[string]bool{}
	}
	if c.closing && !st.partial {
		w.st, w.set = st.forImage(), nil
		c.st.Store(&state{
			generation: st.generation, servers: st.servers, trust: st.trust, derived: newDerived(), partial: true,
			stamp: head.Stamp,
		})
		c.set.Store(&tool.Set{})
	}
	return w, nil
}

// isLayered reports whether the index that is published has layers. The caller holds mu.
func (c *Catalog) isLayered() bool {
	x := c.searchIndexer()
	return x != nil && x.to != nil && x.to.Current() != nil && x.to.Current().IsLayered()
}

// hasSegment reports whether an image and a segment are there that make up the state of a key, and the segment is so
// small that a new image does not pay.
func (c *Catalog) hasSegment(x *searchable, key imageKey) bool {
	if !c.isLayered() || x.layers.image == nil {
		return false
	}
	snap := x.to.Current()
	_, extra, _ := snap.Parts()
	of, err := findSegment(key, c.o.Dir)
	return err == nil && extra.Len()*mergedShare < snap.Len() && isAt(of.path(c.o.Dir), of)
}

// write writes the file.
func (w *imageWriter) write(ctx context.Context, c *Catalog) error {
	own := &searchable{m: w.x.m, o: w.x.o} // the catalogue may be using x
	switch {
	case w.st.partial:
		return w.writeStored(ctx, c)
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
	return writeImage(w.path, w.key, w.st, w.set, newNearTables(w.set.All()), flatfile.Parts(sections...))
}

// writeStored writes the image of what is stored, as a program does that only imports: c has little of it in memory.
func (w *imageWriter) writeStored(ctx context.Context, c *Catalog) error {
	c.mu.Lock()
	o := Options{Store: c.o.Store, Dir: c.o.Dir, Logger: c.o.Logger, Trust: c.trust, Model: w.x.m, Slim: true}
	c.mu.Unlock()
	stored, err := Open(ctx, o)
	if err != nil {
		return err
	}
	if stored.st.Load().generation != w.st.generation {
		return store.ErrChanged
	}
	stored.searchIndexer().o, stored.o.Images = w.x.o, true // it was not to begin with an image
	return stored.Close(ctx)
}

// useMerged takes the index of all tools that was written in place of the layers, and lays over it what has changed
// meanwhile. The caller holds mu.
func (c *Catalog) useMerged(ctx context.Context, w *imageWriter) error {
	l := &w.x.layers
	_, extra, _ := w.snap.Parts()
	// Each new base is another mapping of the whole, so that a small addition to the old one stays in the end.
	if l.since == nil || c.mapped >= mostMapped && extra.Len()*mergedShare < w.snap.Len() {
		return nil
	}
	st, set, since := c.st.Load(), c.set.Load(), l.since
	if set == w.set && st.partial {
		c.openImage(ctx) // if it is gone already, the layers stay
		return nil
	}
	image, err := c.openBase(w.x, w.key)
	if errors.Is(err, flatfile.ErrForeign) { // another process has written a later one
		return nil
	}
	if err != nil {
		return err
	}
	before := *l
	l.use(image.snap, image, map[string]bool{})
	if set == w.set {
		w.x.to.Swap(image.snap)
		c.set.Store(image.set) // of equal tools
		return nil
	}
	snap, servers := w.x.layer(set, st.entries, st.derived, since)
	if snap == nil {
		*l = before
		return nil
	}
	l.changed = servers
	w.x.to.Swap(snap)
	c.saveSegment(ctx, st, set)
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
