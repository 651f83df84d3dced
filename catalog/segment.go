package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"tooldex/index"
	"tooldex/internal/flatfile"
	"tooldex/tool"
)

// A segment is a small file beside an image: the tools of the servers that have changed since the image was written,
// and the index of them that is laid over that of the image. A process that opens both has what is stored now. A
// segment is used only while its key names the store's state and the image that is there. The next change replaces it,
// and an image that is written later makes it useless. Like an image it can be removed at any time.

const segmentSuffix = ".part"

// segmentKey says what a segment was made of. It is compared as a whole.
type segmentKey struct {
	Key   imageKey // of the state that image and segment make together
	Image imageKey // that it belongs to
}

func (k segmentKey) encode() []byte {
	b, err := json.Marshal(k)
	if err != nil { // strings and numbers always encode
		return nil
	}
	return b
}

// segmentPath returns the file of the segment of an image of this key and of all other states of the store.
func (k imageKey) segmentPath(dir string) string {
	return strings.TrimSuffix(k.path(dir), imageSuffix) + segmentSuffix
}

// The sections of a segment after those of its tools and before those of its index.
const (
	segmentGroupAt = sectionTexts + 1 + iota
	segmentGroups
	segmentCopies
	firstSegmentIndex
)

// segment is one that was opened.
type segment struct {
	openedImage
	storedTools
	sections [][]byte
}

// findSegment returns the key of the image to which the segment of a state belongs. It returns an error if that state
// has no segment.
func findSegment(key imageKey, dir string) (imageKey, error) {
	b, err := flatfile.ReadKey(key.segmentPath(dir))
	if err != nil {
		return imageKey{}, err
	}
	var k segmentKey
	if err := json.Unmarshal(b, &k); err != nil {
		return imageKey{}, err
	}
	of := key
	of.Generation, of.Stamp = k.Image.Generation, k.Image.Stamp
	if string(b) != string(segmentKey{key, of}.encode()) {
		return imageKey{}, flatfile.ErrForeign
	}
	return of, nil
}

// openSegment opens the segment of a state that belongs to an image.
func openSegment(key, of imageKey, dir string) (*segment, error) {
	// It is read, not mapped: it is small, and another one comes with the next change.
	sections, err := flatfile.Open(key.segmentPath(dir), segmentKey{key, of}.encode(), false)
	if err != nil {
		return nil, err
	}
	if len(sections) < firstSegmentIndex {
		return nil, flatfile.ErrForeign
	}
	seg := &segment{sections: sections}
	if seg.storedTools, err = seg.openTools(sections); err != nil {
		return nil, err
	}
	seg.servers = serversOf(seg.tools)
	return seg, nil
}

// layOver returns the set and the index of the state that a segment makes of an image; a nil index without that of the
// image. Changed are the servers of the segment.
func (s *segment) layOver(image *openedImage, changed map[string]bool) (*tool.Set, *index.Snapshot, error) {
	why := func(t *tool.Tool) string { return s.held[t] }
	set := image.set.Replace(changed, s.tools, why)
	if image.snap == nil {
		return set, nil, nil
	}
	own := tool.NewSet(s.tools, "").Withhold(why)
	extra, err := index.Restore(own, s.sections[firstSegmentIndex:])
	if err != nil {
		return nil, nil, err
	}
	from, ok := layerOrder(set.All(), image.set.All(), changed)
	if !ok {
		return nil, nil, fmt.Errorf("its tools are not those of the image: %w", flatfile.ErrForeign)
	}
	groups, copies, err := s.openDuplicates(set.Len())
	if err != nil {
		return nil, nil, err
	}
	snap, err := index.Layer(set, image.snap, extra, from, groups, copies)
	return set, snap, err
}

// layerOrder returns where the documents of all come from, as index.Layer takes it: those of changed servers from the
// addition, in order, and the others from base. It returns false if the others are not those of base.
func layerOrder(all, base []*tool.Tool, changed map[string]bool) ([]int32, bool) {
	from, k, added := make([]int32, len(all)), 0, int32(0)
	skip := func() {
		for k < len(base) && changed[base[k].Server] {
			k++
		}
	}
	for i, t := range all {
		if changed[t.Server] {
			from[i] = ^added
			added++
			continue
		}
		if skip(); k == len(base) || !isSame(base[k], t) {
			return nil, false
		}
		from[i] = int32(k)
		k++
	}
	skip()
	return from, k == len(base)
}

// openDuplicates returns DuplicateGroup and Copy of n documents.
func (s *segment) openDuplicates(n int) (groups []int32, copies []bool, err error) {
	at, err := flatfile.List[uint32](s.sections[segmentGroupAt])
	if err != nil {
		return nil, nil, err
	}
	docs, err := flatfile.List[int32](s.sections[segmentGroups])
	if err != nil {
		return nil, nil, err
	}
	marked, err := flatfile.List[int32](s.sections[segmentCopies])
	if err != nil {
		return nil, nil, err
	}
	inside := func(d int32) bool { return d >= 0 && int(d) < n }
	groups, copies = make([]int32, n), make([]bool, n)
	for g := 1; g < len(at); g++ {
		if at[g-1] > at[g] || int(at[g]) > len(docs) {
			return nil, nil, flatfile.ErrForeign
		}
		for _, d := range docs[at[g-1]:at[g]] {
			if !inside(d) {
				return nil, nil, flatfile.ErrForeign
			}
			groups[d] = int32(g)
		}
	}
	for _, d := range marked {
		if !inside(d) {
			return nil, nil, flatfile.ErrForeign
		}
		copies[d] = true
	}
	return groups, copies, nil
}

// saveSegment writes the segment of a state that is published in layers, if the image below is there and its own tools
// are all known. A failure is only logged: other processes build the index then. The caller holds mu.
func (c *Catalog) saveSegment(ctx context.Context, st *state, set *tool.Set) {
	x := c.searchIndexer()
	if x == nil || x.to == nil || !c.o.Images || x.layers.image == nil || !c.complete || st.damaged {
		return
	}
	snap := x.to.Current()
	if snap == nil || !snap.IsLayered() || snap.Set() != set || st.partial && !st.hasAll(x.layers.changed) {
		return
	}
	head, err := c.o.Store.ReadHead(ctx)
	if err != nil || head.Generation != st.generation || head.Damaged { // another process has changed it since
		return
	}
	if st.partial {
		st.stamp = head.Stamp
	}
	var k segmentKey
	k.Key = c.imageKey(head.Generation, head.Stamp)
	if json.Unmarshal([]byte(x.layers.image.key), &k.Image) != nil || !isAt(k.Key.path(c.o.Dir), k.Image) {
		return
	}
	if err := x.writeSegment(k, c.o.Dir, st, set, snap); err != nil {
		c.o.Logger.Debug("what has changed could not be written beside the index", "error", err)
		return
	}
	c.remember(head)
}

// writeSegment writes a segment.
func (x *searchable) writeSegment(k segmentKey, dir string, st *state, set *tool.Set, snap *index.Snapshot) error {
	_, extra, _ := snap.Parts()
	sections, err := extra.Image()
	if err != nil {
		return err
	}
	var entries []entry
	for _, list := range [][]entry{st.entries, st.held} {
		for _, e := range list {
			if x.layers.changed[e.tool.Server] {
				entries = append(entries, e)
			}
		}
	}
	slices.SortFunc(entries, compareID)
	meta := imageMeta{Mixed: x.layers.image.meta.Mixed}
	for s := range x.layers.changed {
		meta.Servers = append(meta.Servers, s)
	}
	slices.Sort(meta.Servers)
	var (
		at     = []uint32{0}
		docs   []int32
		copies []int32
	)
	for _, g := range snap.DuplicateGroups() {
		docs = append(docs, g...)
		at = append(at, uint32(len(docs)))
	}
	for i := range snap.Len() {
		if snap.IsCopy(i) {
			copies = append(copies, int32(i))
		}
	}
	lists := flatfile.Parts(flatfile.Bytes(at), flatfile.Bytes(docs), flatfile.Bytes(copies))
	return writeTools(k.Key.segmentPath(dir), k.encode(), st, set, entries, meta, append(lists, flatfile.Parts(sections...)...))
}

// removeSegment removes the segment of an image that was replaced by one of this key, unless it is of a later state.
func removeSegment(key imageKey, dir string) {
	path := key.segmentPath(dir)
	var k segmentKey
	b, err := flatfile.ReadKey(path)
	if err == nil && (json.Unmarshal(b, &k) != nil || k.Key.Generation > key.Generation && k.Key.Layout == key.Layout) {
		return
	}
	_ = os.Remove(path) // what cannot be removed is not used either
}
