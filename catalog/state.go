package catalog

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/scan"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
	"tooldex/upstream"
)

// state is the content of the catalogue at one generation of the store. It is not changed once it is published.
type state struct {
	generation uint64
	records    map[tool.ID]store.Record // as the sources offer them
	sources    map[string]store.SourceState
	overlays   []*sources.Overlay // by name, which is the order in which they apply
	servers    []upstream.Server
	stopped    map[string]bool // disabled servers, whose tools are served as disabled
	entries    []entry         // what is served, sorted by ID: the records with the overlays applied, without held ones
	held       []entry         // the same for the held ones
	// shown are the tools of entries as clients see them, in that order; nil before annotate
	shown   []*tool.Tool
	trust   *trust.Ledger
	derived *derived
	owned   map[string]map[tool.ID]bool // IDs of the records, by source; only while an import of several steps lasts
	offers  map[string]map[string]bool  // sources that have or had tools of a server, by server; as long as owned
	damaged bool                        // something stored was left out
	taken   bool                        // nothing else uses the tools; see forImage
	reviews []scan.Review               // of a taken state
	// partial is set in a state that was opened from an image. It has the generation, the servers and the trust in
	// servers; Catalog.loaded returns the whole.
	partial bool
	stamp   store.Stamp // of the store that the image was made of; only in a partial state
	// scope has the servers of which a partial state has all that is stored: records, sources, entries, what was made
	// of them and what was decided about them; nil before widen.
	scope map[string]bool
	mixed map[string]bool // in a partial state: imageMeta.Mixed
	// image is the one from which a partial state was opened, and since has the servers that have changed since.
	image *openedImage
	since map[string]bool
}

// newState makes a state of a snapshot, which it takes over, with vectors of the given model. If something was damaged,
// the digests of sources are dropped, so that the next sync reads every source.
func newState(snap *store.Snapshot, model string, o trust.Options, log *slog.Logger) *state {
	var damaged []tool.ID
	for _, d := range snap.Damaged {
		if d.Kind == "trust" {
			damaged = append(damaged, tool.ID(d.Key))
		}
	}
	// Decisions may be lost with damage. The ledger then holds the tool, which is the safe side.
	ledger, lost := trust.NewLedger(o, snap.Servers, snap.Trust, damaged)
	for _, id := range lost {
		log.Warn("what was decided about a tool is lost; it is held until it is approved", "tool", id)
	}
	st := &state{
		generation: snap.Generation, records: make(map[tool.ID]store.Record, len(snap.Records)), sources: snap.Sources,
		servers: snap.Servers, derived: &derived{model: model, vectors: snap.Vectors, lent: snap.Analyses},
		trust: ledger, damaged: len(snap.Damaged)+len(lost) > 0, stopped: map[string]bool{},
	}
	for _, s := range st.servers {
		if s.Disabled {
			st.stopped[s.Name] = true
		}
	}
	for _, r := range snap.Records {
		st.records[r.Tool.ID()] = r
	}
	if len(snap.Damaged) > 0 {
		for name, s := range st.sources {
			s.Digest = [32]byte{}
			st.sources[name] = s
		}
	}
	for _, name := range slices.Sorted(maps.Keys(snap.Overlays)) {
		o, err := sources.DecodeOverlay(name, snap.Overlays[name])
		if err != nil {
			log.Warn("a stored overlay cannot be read and is left out; import it again", "overlay", name, "error", err)
			st.damaged = true
			continue
		}
		st.overlays = append(st.overlays, o)
	}
	st.mergeOverlays()
	return st
}

// formOf returns a record as package trust takes it.
func formOf(r store.Record) trust.Form { return trust.Form{Tool: r.Tool, Hash: r.Hash} }

// clone returns a copy of st that can be changed by apply. The derived data is copied, too, since the indexer adds to
// it. Entries and held are left out. Maps are copied as a whole, but records are shared: nothing changes a record in
// place.
func (st *state) clone() *state {
	out := &state{
		generation: st.generation, records: maps.Clone(st.records), sources: maps.Clone(st.sources),
		servers: st.servers, stopped: st.stopped, overlays: st.overlays, trust: st.trust,
		partial: st.partial, scope: st.scope, mixed: st.mixed, image: st.image, since: st.since,
		derived: &derived{
			model: st.derived.model, vectors: maps.Clone(st.derived.vectors), lent: maps.Clone(st.derived.lent),
		},
	}
	return out
}

// ownAll notes which source offers each tool, so that further steps need not look at all.
func (st *state) ownAll() {
	st.owned, st.offers = map[string]map[tool.ID]bool{}, map[string]map[string]bool{}
	for id, r := range st.records {
		st.own(id, r.Source)
	}
}

// own notes that a source offers a tool, if that is noted of all.
func (st *state) own(id tool.ID, source string) {
	if st.owned == nil {
		return
	}
	if st.owned[source] == nil {
		st.owned[source] = map[tool.ID]bool{}
	}
	st.owned[source][id] = true
	server := id.Server()
	if st.offers[server] == nil {
		st.offers[server] = map[string]bool{}
	}
	st.offers[server][source] = true
}

// withBatch returns a copy of st with batch applied, and with these overlays in place of its own.
func (st *state) withBatch(b *store.Batch, overlays []*sources.Overlay) *state {
	out := st.clone()
	out.apply(b)
	out.overlays = overlays
	out.mergeOverlays()
	return out
}

// apply changes a clone as batch says, except for the overlays. It takes time for what changes, not for what is there.
func (st *state) apply(b *store.Batch) {
	for _, id := range b.Remove {
		delete(st.owned[st.records[id].Source], id)
		delete(st.records, id)
	}
	if len(b.RemoveServers) > 0 {
		st.servers = slices.DeleteFunc(slices.Clone(st.servers), func(s upstream.Server) bool {
			return slices.Contains(b.RemoveServers, s.Name)
		})
	}
	// The ledger follows the servers, since a server that is trusted now changes what is held.
	st.trust = st.trust.With(b.Trust, st.servers)
	for _, r := range b.Records {
		id := r.Tool.ID()
		delete(st.owned[st.records[id].Source], id)
		st.records[id] = r
		st.own(id, r.Source)
	}
	for _, name := range b.RemoveSources {
		delete(st.sources, name)
	}
	for _, s := range b.Sources {
		st.sources[s.Name] = s
	}
}

// mergeOverlays sets entries and held from the records, the overlays and the trust.
func (st *state) mergeOverlays() {
	st.entries, st.held = make([]entry, 0, len(st.records)), nil
	for _, r := range st.records {
		if e, held := st.serve(r); held {
			st.held = append(st.held, e)
		} else {
			st.entries = append(st.entries, e)
		}
	}
	slices.SortFunc(st.entries, compareID)
	slices.SortFunc(st.held, compareID)
}

// changedServers returns the servers whose tools may be served otherwise in st than in before, of which a batch made
// it; nil if these may be any.
func (st *state) changedServers(before *state, b *store.Batch) map[string]bool {
	if before.shown == nil || len(b.Servers)+len(b.RemoveServers)+len(b.Overlays)+len(b.RemoveOverlays) > 0 {
		return nil
	}
	changed, from := map[string]bool{}, map[string]bool{}
	for _, r := range b.Records {
		changed[r.Tool.Server] = true
		if old, ok := before.records[r.Tool.ID()]; ok && old.Source != r.Source {
			from[old.Source], from[r.Source] = true, true
		}
	}
	for _, id := range b.Remove {
		changed[id.Server()] = true
	}
	for key := range b.Trust {
		// A decision about something else than a tool has a key that begins with its kind.
		if rest, ok := strings.CutPrefix(string(key), "/"); ok {
			_, id, _ := strings.Cut(rest, "/")
			key = tool.ID(id)
		}
		changed[key.Server()], from[key.Server()] = true, true
	}
	for _, s := range b.Sources {
		from[s.Name] = true
	}
	for _, name := range b.RemoveSources {
		from[name] = true
	}
	for _, r := range st.records {
		if from[r.Source] {
			changed[r.Tool.Server] = true
		}
	}
	return changed
}

// mergeServers is mergeOverlays for a state that differs from before only in the tools of some servers. What is shown
// of those is left to annotate.
func (st *state) mergeServers(before *state, changed map[string]bool) {
	var entries, held []entry
	for _, r := range st.records {
		if !changed[r.Tool.Server] {
			continue
		}
		if e, isHeld := st.serve(r); isHeld {
			held = append(held, e)
		} else {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, compareID)
	st.held = slices.DeleteFunc(slices.Clone(before.held), func(e entry) bool { return changed[e.tool.Server] })
	st.held = append(st.held, held...)
	slices.SortFunc(st.held, compareID)
	st.entries = make([]entry, 0, len(before.entries)+len(entries))
	st.shown = make([]*tool.Tool, 0, cap(st.entries))
	add := func(e entry, shown *tool.Tool) { st.entries, st.shown = append(st.entries, e), append(st.shown, shown) }
	// The places of the tools that have changed are looked up, since a comparison of two IDs makes both.
	start := 0
	keep := func(end int) {
		for i := start; i < end; i++ {
			if e := before.entries[i]; !changed[e.tool.Server] {
				add(e, before.shown[i])
			}
		}
		start = end
	}
	for _, e := range entries {
		at, _ := slices.BinarySearchFunc(before.entries, e, compareID)
		keep(at)
		add(e, nil)
	}
	keep(len(before.entries))
}

// serve returns a tool as it is served, or as it is held. A tool with a warning is a copy, with hidden characters
// removed from its schemas, and so is one that says in its texts that it is deprecated; an overlay may deny that.
func (st *state) serve(r store.Record) (e entry, held bool) {
	// Each step copies the tool before it changes it: records are shared with other states.
	e = entry{tool: r.Tool, hash: r.Hash, first: r.First}
	if d := sanitize.Deprecation(r.Tool); d != r.Tool.Deprecated {
		marked := *r.Tool
		marked.Deprecated = d
		e.tool = &marked
	}
	if patched, ok, _ := st.withPatches(e.tool); ok {
		e.tool, e.hash = patched, patched.Hash()
	}
	if st.stopped[e.tool.Server] && !e.tool.Disabled {
		stopped := *e.tool
		stopped.Disabled = true
		e.tool, e.hash = &stopped, stopped.Hash()
	}
	if st.trust.HoldReason(formOf(r)) != "" {
		e.held = true
		return e, true
	}
	if w := st.trust.Warning(formOf(r)); w != "" {
		warned := *e.tool
		warned.Warning = w
		warned.InputSchema, warned.OutputSchema = sanitize.StripHidden(warned.InputSchema),
			sanitize.StripHidden(warned.OutputSchema)
		e.tool = &warned
	}
	return e, false
}

// allEntries returns the served and the held tools, sorted by ID. What is prepared of tools must not depend on which of
// them are held: that differs between processes of different policies, which share what they prepare. Prepared analyses
// depend on all tools of a server, because those compete for borrowed words.
func (st *state) allEntries() []entry {
	out := slices.Concat(st.entries, st.held)
	slices.SortFunc(out, compareID)
	return out
}

// changedEntries returns all tools of the servers that a batch is about, after it was applied, sorted by ID.
func (st *state) changedEntries(b *store.Batch) []entry {
	changed := map[string]bool{}
	for _, r := range b.Records {
		changed[r.Tool.Server] = true
	}
	for _, id := range b.Remove {
		changed[id.Server()] = true
	}
	for id := range b.Trust {
		changed[id.Server()] = true
	}
	var out []entry
	add := func(r store.Record) {
		if changed[r.Tool.Server] {
			e, _ := st.serve(r)
			out = append(out, e)
		}
	}
	if st.owned == nil {
		for _, r := range st.records {
			add(r)
		}
	} else {
		// Looking at all tools in each of many steps would be quadratic.
		from := map[string]bool{}
		for server := range changed {
			maps.Copy(from, st.offers[server])
		}
		for source := range from {
			for id := range st.owned[source] {
				add(st.records[id])
			}
		}
	}
	slices.SortFunc(out, compareID)
	return out
}

// compareID orders entries by the IDs of their tools. It makes the IDs, which takes most of the time, only where the
// name of one server begins with that of the other.
func compareID(a, b entry) int {
	s, o := a.tool.Server, b.tool.Server
	switch {
	case s == o:
		return cmp.Compare(a.tool.Name, b.tool.Name)
	case strings.HasPrefix(s, o), strings.HasPrefix(o, s):
		return cmp.Compare(a.tool.ID(), b.tool.ID())
	}
	return cmp.Compare(s, o)
}

// visibleSet returns the set of all tools with held ones withheld. They are in it so that the names of other tools stay
// the same while they are held.
func (st *state) visibleSet() *tool.Set {
	all, held := slices.Clone(st.servedTools()), map[tool.ID]string{}
	for _, e := range st.held {
		all = append(all, e.tool)
		held[e.tool.ID()] = st.trust.HoldReason(formOf(st.records[e.tool.ID()]))
	}
	// Names depend on all tools: with held ones left out, approving one could change the name of another.
	return tool.NewSet(all, "").Withhold(func(t *tool.Tool) string { return held[t.ID()] })
}

// withPatches returns a copy of t with the overlays applied that are in force, those for its whole server first. It
// returns false if none applies, or if the result cannot be served, with a finding.
func (st *state) withPatches(t *tool.Tool) (*tool.Tool, bool, []sanitize.Finding) {
	if len(st.overlays) == 0 {
		return nil, false, nil
	}
	id := t.ID()
	var out *tool.Tool
	for _, o := range st.overlays {
		if o.Pending {
			continue
		}
		// Overlays apply in the order of their names; in each, what is for the whole server comes before what is for
		// the tool.
		for _, key := range [...]tool.ID{tool.MakeID(t.Server, sources.AllTools), id} {
			p, ok := o.Tools[key]
			if !ok {
				continue
			}
			if out == nil {
				c := *t
				out = &c
			}
			p.Apply(out)
		}
	}
	if out == nil {
		return nil, false, nil
	}
	found, err := sanitize.Tool(out)
	if err != nil {
		return nil, false, []sanitize.Finding{refusedFinding(id, err)}
	}
	return out, true, found
}

// toolsOfServer returns the stored tools that an overlay's key such as server/* stands for, and nil for the key of one
// tool.
func (st *state) toolsOfServer(key tool.ID) (out []tool.ID) {
	if key.Name() != sources.AllTools {
		return nil
	}
	for id := range st.records {
		if id.Server() == key.Server() {
			out = append(out, id)
		}
	}
	return out
}

// sourceOf returns the name of the source that offers a stored tool: that of its server, unless a record says otherwise.
func (st *state) sourceOf(t *tool.Tool) string {
	if r, ok := st.records[t.ID()]; ok {
		return r.Source
	}
	return t.Server
}

// forImage takes a state apart that nothing else uses any more, and returns as much of it as its image is written from,
// with what is to be reviewed. It shares the tools, which can then be changed in place.
func (st *state) forImage() *state {
	out := &state{
		generation: st.generation, records: map[tool.ID]store.Record{}, sources: st.sources, entries: st.entries,
		held: st.held, trust: st.trust, derived: newDerived(), taken: true, reviews: st.review(),
	}
	for _, e := range st.held {
		out.records[e.tool.ID()] = st.records[e.tool.ID()]
	}
	for _, e := range st.entries {
		if r, ok := st.records[e.tool.ID()]; ok && r.Source != e.tool.Server {
			out.records[e.tool.ID()] = r
		}
	}
	return out
}

// showAs sets what is shown of the served tools to the tools of a set, and returns false if those are others.
func (st *state) showAs(set *tool.Set) bool {
	shown := set.All()
	if len(shown) != len(st.entries) {
		return false
	}
	for i, e := range st.entries {
		if e.tool.Server != shown[i].Server || e.tool.Name != shown[i].Name {
			return false
		}
	}
	st.shown = shown
	return true
}

// servedTools returns the tools that are served, by ID.
func (st *state) servedTools() []*tool.Tool {
	if st.shown != nil {
		return st.shown
	}
	out := make([]*tool.Tool, len(st.entries))
	for i, e := range st.entries {
		out[i] = e.tool
	}
	return out
}

// refusedFinding returns the finding of a tool that is left out because of err.
func refusedFinding(id tool.ID, err error) sanitize.Finding {
	return sanitize.Finding{Tool: id, Problem: err.Error(), Repair: "left out", Refused: true}
}

// encodeFindings encodes findings as the note of a source, so that the report of an unchanged source repeats them. It
// keeps the first 200.
func encodeFindings(found []sanitize.Finding) []byte {
	const most = 200
	if len(found) == 0 {
		return nil
	}
	b, err := json.Marshal(found[:min(len(found), most)])
	if err != nil { // findings are plain strings
		return nil
	}
	return b
}

// decodeFindings decodes what encodeFindings returned, and nil from anything else.
func decodeFindings(b []byte) []sanitize.Finding {
	var found []sanitize.Finding
	if len(b) > 0 && json.Unmarshal(b, &found) != nil {
		return nil
	}
	return found
}
