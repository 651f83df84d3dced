package catalog

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
	"tooldex/upstream"
)

// state is all that is known at one generation of the store. It is not changed once it is published.
type state struct {
	generation uint64
	records    map[tool.ID]store.Record // as the sources offer them
	sources    map[string]store.SourceState
	overlays   []*sources.Overlay // by name, which is the order in which they apply
	servers    []upstream.Server
	entries    []entry // by ID: the records with the overlays applied, but for those that are held
	held       []entry // by ID
	trust      *trust.Ledger
	derived    *derived
}

// newState takes over a snapshot, whose vectors are of a model. After damage no digest is believed, so that the next
// sync reads every source.
func newState(snap *store.Snapshot, model string, o trust.Options, log *slog.Logger) *state {
	var damaged []tool.ID
	for _, d := range snap.Damaged {
		if d.Kind == "trust" {
			damaged = append(damaged, tool.ID(d.Key))
		}
	}
	ledger, lost := trust.NewLedger(o, snap.Servers, snap.Trust, damaged)
	for _, id := range lost {
		log.Warn("what was decided about a tool is lost; it is held until it is approved", "tool", id)
	}
	st := &state{
		generation: snap.Generation, records: make(map[tool.ID]store.Record, len(snap.Records)), sources: snap.Sources,
		servers: snap.Servers, derived: &derived{model: model, vectors: snap.Vectors, lent: snap.Analyses},
		trust: ledger,
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
			continue
		}
		st.overlays = append(st.overlays, o)
	}
	st.mergeOverlays()
	return st
}

// formOf returns a record as package trust takes it.
func formOf(r store.Record) trust.Form { return trust.Form{Tool: r.Tool, Hash: r.Hash} }

// withBatch returns a copy of st with batch applied.
func (st *state) withBatch(b *store.Batch, overlays []*sources.Overlay) *state {
	out := &state{
		generation: st.generation, records: maps.Clone(st.records), sources: maps.Clone(st.sources),
		servers:  st.servers,
		overlays: overlays, derived: newDerived(),
	}
	out.derived.add(st.derived)
	for _, id := range b.Remove {
		delete(out.records, id)
	}
	if len(b.RemoveServers) > 0 {
		out.servers = slices.DeleteFunc(slices.Clone(st.servers), func(s upstream.Server) bool {
			return slices.Contains(b.RemoveServers, s.Name)
		})
	}
	out.trust = st.trust.With(b.Trust, out.servers)
	for _, r := range b.Records {
		out.records[r.Tool.ID()] = r
	}
	for _, name := range b.RemoveSources {
		delete(out.sources, name)
	}
	for _, s := range b.Sources {
		out.sources[s.Name] = s
	}
	out.mergeOverlays()
	return out
}

// mergeOverlays makes the entries of the records and the overlays.
func (st *state) mergeOverlays() {
	st.entries, st.held = make([]entry, 0, len(st.records)), nil
	for _, r := range st.records {
		e := entry{r.Tool, r.Hash}
		if patched, ok, _ := st.withPatches(r.Tool); ok {
			e = entry{patched, patched.Hash()}
		}
		if st.trust.HoldReason(formOf(r)) != "" {
			st.held = append(st.held, e)
			continue
		}
		if w := st.trust.Warning(formOf(r)); w != "" {
			warned := *e.tool
			warned.Warning = w
			warned.InputSchema, warned.OutputSchema = sanitize.StripHidden(warned.InputSchema),
				sanitize.StripHidden(warned.OutputSchema)
			e.tool = &warned
		}
		st.entries = append(st.entries, e)
	}
	byID := func(a, b entry) int { return cmp.Compare(a.tool.ID(), b.tool.ID()) }
	slices.SortFunc(st.entries, byID)
	slices.SortFunc(st.held, byID)
}

// set makes the set of all tools, of which those that are held are kept back: names stay what they are while one is.
func (st *state) set() *tool.Set {
	all, held := st.tools(), map[tool.ID]string{}
	for _, e := range st.held {
		all = append(all, e.tool)
		held[e.tool.ID()] = st.trust.HoldReason(formOf(st.records[e.tool.ID()]))
	}
	return tool.NewSet(all, "").Withhold(func(t *tool.Tool) string { return held[t.ID()] })
}

// withPatches returns t with the overlays that speak of it applied, and false if none does or the outcome cannot be served.
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

// toolsOfServer returns the tools that an overlay's key for all tools of a server stands for, and none for another key.
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

func (st *state) tools() []*tool.Tool {
	out := make([]*tool.Tool, len(st.entries))
	for i, e := range st.entries {
		out[i] = e.tool
	}
	return out
}

// refusedFinding says that a tool is left out because of err.
func refusedFinding(id tool.ID, err error) sanitize.Finding {
	return sanitize.Finding{Tool: id, Problem: err.Error(), Repair: "left out", Refused: true}
}

// encodeFindings keeps findings beside a source, so that a report of an unchanged one repeats them.
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

func decodeFindings(b []byte) []sanitize.Finding {
	var found []sanitize.Finding
	if len(b) > 0 && json.Unmarshal(b, &found) != nil {
		return nil
	}
	return found
}
