package catalog

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"tooldex/catalog/sources"
	"tooldex/store"
	"tooldex/tool"
)

// A change of a few sources needs what is stored of them and of the servers in the addition to the index. Of all other
// tools it needs what an image has. So a process that has opened an image reads little for such a change, and its state
// stays partial.

// mostFew is how many sources a change may have that is made so.
const mostFew = 16

// fewNames returns the names of sources of a change that may be made so; nil if it must not.
func fewNames(all []sources.Source) []string {
	if len(all) > mostFew {
		return nil
	}
	names := make([]string, len(all))
	for i, src := range all {
		names[i] = src.Name()
	}
	return names
}

// areOwn reports whether each offer has tools of the server of its own name only.
func areOwn(offers []*offer) bool {
	return !slices.ContainsFunc(offers, func(o *offer) bool {
		return slices.ContainsFunc(o.tools, func(t *tool.Tool) bool { return t.Server != o.name })
	})
}

// widen reads what is stored of some servers, and of those in the addition to the index, into the partial state. It
// returns false if the state is not partial, if a change of these servers needs more than that, or if the store has
// another state by now. The caller holds mu.
func (c *Catalog) widen(ctx context.Context, names []string) bool {
	st, x := c.st.Load(), c.searchIndexer()
	if !st.partial || names == nil || x == nil || x.to == nil || x.layers.image == nil || !c.complete ||
		x.layers.base.Len() < cmp.Or(x.layerFrom, leastLayered) ||
		slices.ContainsFunc(names, func(name string) bool { return st.mixed[name] }) {
		return false
	}
	missing := slices.DeleteFunc(slices.AppendSeq(slices.Clone(names), maps.Keys(x.layers.changed)), func(name string) bool {
		return st.scope[name]
	})
	if len(missing) == 0 && st.scope != nil {
		return true
	}
	wide, err := c.readServers(ctx, st, missing)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, store.ErrChanged) && !errors.Is(err, errNotFew) {
			c.o.Logger.Debug("what is stored of a server cannot be read alone", "error", err)
		}
		return false
	}
	c.st.Store(wide)
	return true
}

// hasAll reports whether a partial state has all that is stored of some servers.
func (st *state) hasAll(servers map[string]bool) bool {
	for s := range servers {
		if !st.scope[s] {
			return false
		}
	}
	return true
}

var errNotFew = errors.New("catalog: what is stored does not agree with the image, or is damaged")

// readServers returns a partial state with what is stored of some more servers.
func (c *Catalog) readServers(ctx context.Context, st *state, names []string) (*state, error) {
	view := c.o.indexer.view()
	snap, err := c.o.Store.LoadServers(ctx, names)
	switch {
	case err != nil:
		return nil, err
	case snap.Generation != st.generation:
		return nil, store.ErrChanged
	case len(snap.Damaged) > 0:
		return nil, errNotFew
	}
	more := newState(snap, view.Model.Fingerprint, c.trust, c.o.Logger)
	var hashes []tool.Hash
	for _, e := range more.allEntries() {
		hashes = append(hashes, e.hash)
	}
	have, err := c.o.Store.ReadDerived(ctx, view, st.generation, hashes, textOf)
	if err != nil {
		return nil, err
	}
	out := st.clone()
	out.stamp, out.damaged = st.stamp, more.damaged
	out.servers, out.stopped, out.overlays = more.servers, more.stopped, more.overlays
	if out.scope = maps.Clone(st.scope); st.scope == nil {
		out.scope, out.records, out.sources = map[string]bool{}, map[tool.ID]store.Record{}, map[string]store.SourceState{}
	}
	maps.Copy(out.scope, nameSet(names))
	maps.Copy(out.records, more.records)
	maps.Copy(out.sources, more.sources)
	out.trust = st.trust.With(snap.Trust, more.servers)
	out.derived.addContent(&derived{model: view.Model.Fingerprint, vectors: have.Vectors, lent: have.Analyses})
	out.derived.model = view.Model.Fingerprint
	out.entries, out.held = slices.Concat(st.entries, more.entries), slices.Concat(st.held, more.held)
	slices.SortFunc(out.entries, compareID)
	slices.SortFunc(out.held, compareID)
	// What is shown of these tools is what the image shows.
	set := c.set.Load()
	out.shown = make([]*tool.Tool, len(out.entries))
	for i, e := range out.entries {
		shown, ok := set.Get(e.tool.ID())
		if !ok {
			return nil, errNotFew
		}
		out.shown[i] = shown
	}
	for _, r := range more.records {
		if r.Source != r.Tool.Server {
			return nil, errNotFew
		}
	}
	if out.damaged {
		return nil, errNotFew
	}
	return out, nil
}

// knownTools returns all stored tools of a state, in the form that is stored or shown.
func (c *Catalog) knownTools(st *state) []*tool.Tool {
	if st.partial {
		return c.set.Load().Known()
	}
	known := make([]*tool.Tool, 0, len(st.records))
	for _, r := range st.records {
		known = append(known, r.Tool)
	}
	return known
}

// publishFew is publish for a partial state: it makes the changed servers of st visible. The caller holds mu.
func (c *Catalog) publishFew(ctx context.Context, st *state, changed map[string]bool) error {
	c.o.indexer.release()
	if err := st.annotate(c.o.Model.Base, inMemory(st.derived)); err != nil {
		return err
	}
	set, x := st.replaceIn(c.set.Load(), changed), c.searchIndexer()
	snap, servers := x.layer(set, st.entries, st.derived, changed)
	if snap == nil { // too much for an addition
		return c.loadState(ctx, anew)
	}
	x.layers.note(changed)
	x.layers.changed = servers
	st.image, st.since = x.layers.image, servers
	x.to.Swap(snap)
	st.stamp = store.Stamp{}
	st.forgetUnneeded()
	c.st.Store(st)
	c.set.Store(set)
	c.saveSegment(ctx, st, set)
	return nil
}

// forgetUnneeded drops from memory what was made of earlier forms of tools. It stays stored until a process that has
// loaded all drops it: another server may need the same.
func (st *state) forgetUnneeded() {
	texts, lent := st.neededDerived()
	maps.DeleteFunc(st.derived.vectors, func(h store.TextHash, _ store.Vector) bool { return !texts[h] })
	maps.DeleteFunc(st.derived.lent, func(h tool.Hash, _ []byte) bool { return !lent[h] })
}

// replaceIn returns a set with the tools of some servers replaced by those of st.
func (st *state) replaceIn(set *tool.Set, servers map[string]bool) *tool.Set {
	var with []*tool.Tool
	held := map[*tool.Tool]string{}
	for i, e := range st.entries {
		if servers[e.tool.Server] {
			with = append(with, st.shown[i])
		}
	}
	for _, e := range st.held {
		if servers[e.tool.Server] {
			with = append(with, e.tool)
			held[e.tool] = st.trust.HoldReason(formOf(st.records[e.tool.ID()]))
		}
	}
	return set.Replace(servers, with, func(t *tool.Tool) string { return held[t] })
}

// A process that changes a large catalogue writes a segment right after the store. One that finds the store changed
// waits this long for it, and looks this often: reading all that is stored takes far longer.
const (
	segmentWait = 500 * time.Millisecond
	segmentLook = 10 * time.Millisecond
)

// awaitImage is openImage that waits for the segment of another process, if this one serves a large catalogue. The
// caller holds mu.
func (c *Catalog) awaitImage(ctx context.Context) bool {
	if c.openImage(ctx) {
		return true
	}
	x := c.searchIndexer()
	if x == nil || x.to == nil || !c.o.Images || x.layers.image == nil ||
		x.layers.base.Len() < cmp.Or(x.layerFrom, leastLayered) {
		return false
	}
	look, end := time.NewTicker(segmentLook), time.NewTimer(segmentWait)
	defer look.Stop()
	defer end.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-end.C:
			return false
		case <-look.C:
			if c.openImage(ctx) {
				return true
			}
		}
	}
}
