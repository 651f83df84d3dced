package catalog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/scan"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
	"tooldex/upstream"
	"tooldex/validate"
)

// Report is the result of a sync. The IDs are sorted.
type Report struct {
	Source    string    `json:"source"`
	Added     []tool.ID `json:"added,omitempty"`
	Changed   []tool.ID `json:"changed,omitempty"`
	Removed   []tool.ID `json:"removed,omitempty"`
	Unchanged int       `json:"unchanged"`
	Stale     bool      `json:"stale,omitempty"` // the source failed or was empty: what was stored of it is kept
	// Held lists those of Added and Changed that cannot be used until they are approved.
	Held     []tool.ID          `json:"held,omitempty"`
	Findings []sanitize.Finding `json:"findings,omitempty"` // what was wrong with single tools
}

// Optional methods of a [sources.Source]; sources.File has all of them.
type (
	// digester has a digest that changes whenever its tools do. While it is the stored one, the tools are not read.
	digester interface{ Digest() [32]byte }
	// findingReader also returns what was wrong with single tools that it read.
	findingReader interface {
		Read(ctx context.Context) ([]*tool.Tool, []sanitize.Finding, error)
	}
	// partialLister also returns the names of tools that it may have and does not offer now. Those stay stored.
	partialLister interface {
		ListTools(ctx context.Context) (tools []*tool.Tool, hidden []string, err error)
	}
	// filed is a source in a file, whose path is absolute.
	filed interface{ Path() string }
)

// Changes counts the tools that an import added, changed and removed.
func (r Report) Changes() int { return len(r.Added) + len(r.Changed) + len(r.Removed) }

// offer is what a source answered, cleaned. A sync has two parts: reading, which may take long and holds no lock, and
// comparing, which is repeated if another process changed the store meanwhile. Between them an offer is all that is
// kept of a source; comparing does not change it.
type offer struct {
	name   string
	path   string // of the file that the source is in; "" for others
	digest [32]byte
	same   bool // the digest is the one stored: the tools were not read
	tools  []*tool.Tool
	found  []sanitize.Finding
	kept   map[tool.ID]bool       // tools that were refused; stored forms of them stay. nil if the source was not asked
	raw    map[tool.ID]*tool.Tool // the tools before cleaning, which removes what the scanner looks for
	about  upstream.About         // what the source says of itself, unread
	err    error
}

// Sync makes the stored tools of src equal to those that it offers. It is SyncAll of one source.
func (c *Catalog) Sync(ctx context.Context, src sources.Source) (Report, error) {
	reports, err := c.SyncAll(ctx, []sources.Source{src})
	if len(reports) == 0 {
		return Report{}, err
	}
	return reports[0], err
}

// SyncAll makes the stored tools of each source equal to those that it offers, all in one durable step, and returns a
// report for each, in the same order. A source that fails does not stop the others: its error is among those that are
// joined, with the code it had, or Unavailable. The error of the step itself is Timeout, if ctx ended or the store
// stayed locked, or Internal; then nothing was changed, and there are no reports.
func (c *Catalog) SyncAll(ctx context.Context, all []sources.Source) ([]Report, error) {
	return (&importing{c: c}).sync(ctx, importStep{all, c.readOffers(ctx, all, map[string]bool{})}, true)
}

// readIfChanged reads a source, unless it is known and unchanged.
func readIfChanged(ctx context.Context, known knownSources, src sources.Source) *offer {
	var digest [32]byte
	if d, ok := src.(digester); ok {
		digest = d.Digest()
		if known.isUnchanged(src.Name(), digest) {
			return &offer{name: src.Name(), digest: digest, same: true}
		}
	}
	return readOffer(ctx, src, digest)
}

// readOffer reads the tools of a source and cleans them one by one, so that a bad tool does not affect the others. The
// error is in the offer.
func readOffer(ctx context.Context, src sources.Source, digest [32]byte) *offer {
	o := &offer{name: src.Name(), digest: digest, kept: map[tool.ID]bool{}, raw: map[tool.ID]*tool.Tool{}}
	if f, ok := src.(filed); ok {
		o.path = f.Path()
	}
	if o.err = sources.CheckName(o.name); o.err != nil {
		return o
	}
	var tools []*tool.Tool
	switch r := src.(type) {
	case findingReader:
		tools, o.found, o.err = r.Read(ctx)
	case partialLister:
		var hidden []string
		tools, hidden, o.err = r.ListTools(ctx)
		// A hidden tool was neither offered nor removed, so its stored form is kept like that of a refused one.
		for _, name := range hidden {
			o.kept[tool.MakeID(o.name, name)] = true
		}
	default:
		tools, o.err = src.Tools(ctx)
	}
	if o.err != nil {
		o.err = sourceError(o.name, o.err)
		return o
	}
	if a, ok := src.(aboutReader); ok {
		o.about = a.About()
	}
	seen := make(map[tool.ID]bool, len(tools))
	schemas := &validate.Schemas{}
	for i, t := range tools {
		if t == nil {
			continue
		}
		t.Server = cmp.Or(t.Server, o.name)
		// The scanner needs the text as the server wrote it: cleaning removes invisible characters, which are evidence.
		id, raw := t.ID(), *t
		found, err := sanitize.Tool(t)
		if err == nil && sources.CheckName(t.Server) != nil {
			err = &tool.Error{Code: tool.Invalid, Msg: fmt.Sprintf("%.80q cannot name a server", t.Server)}
		}
		switch {
		case err != nil:
			f := refusedFinding(id, err)
			if t.Name == "" {
				f.Tool, f.Problem = "", fmt.Sprintf("tool %d of %s has no name", i+1, o.name)
			}
			o.found = append(o.found, f)
			o.kept[id] = true
		case seen[id]:
			o.found = append(o.found, sanitize.Finding{
				Tool: id, Field: "name", Problem: "the name is offered twice",
				Repair: "the first tool is kept",
			})
		default:
			seen[id] = true
			o.tools, o.raw[id] = append(o.tools, t), &raw
			o.found = append(append(o.found, found...), checkExamples(schemas, t)...)
		}
	}
	return o
}

// sourceError adds the name of the source to an error, and keeps the code and the hint of a cause that has them. A
// cause that names the source says enough by itself.
func sourceError(name string, err error) error {
	if named := (*tool.Error)(nil); errors.As(err, &named) && strings.Contains(named.Msg, strconv.Quote(name)) {
		return &tool.Error{Code: named.Code, Msg: named.Msg, Hint: named.Hint, Err: named.Err}
	}
	e := &tool.Error{
		Code: tool.Unavailable, Op: "sync", Msg: "source " + name + " could not be read",
		Hint: "what is stored of it stays in use", Err: err,
	}
	var cause *tool.Error
	if errors.As(err, &cause) {
		e.Code = cause.Code
		e.Hint = cmp.Or(cause.Hint, e.Hint)
	}
	return e
}

// syncDiff compares offers with a state and collects in batch what must be written. It serves one attempt at a step.
type syncDiff struct {
	now   time.Time
	st    *state
	batch store.Batch
	owned map[string][]tool.ID // the stored tools of the sources of this step, sorted
	owner map[tool.ID]string   // by tool: the source in this step that offered it first
	trust *trust.Inspection
	// aboutChanges are the decisions about what sources say of themselves, as they are stored.
	aboutChanges map[tool.ID][]byte
	// scanner returns one that knows all tools.
	scanner func() *scan.Scanner
}

// compareOffer adds to the batch what changes by an offer, and returns the report. An offer without usable tools only
// marks the source stale.
func (d *syncDiff) compareOffer(o *offer) Report {
	r := Report{Source: o.name, Findings: o.found}
	stored, known := d.st.sources[o.name]
	mine := d.owned[o.name]
	// Nothing was read: the findings of the last reading are still true.
	if o.same {
		r.Unchanged, r.Findings = len(mine), decodeFindings(stored.Note)
		return r
	}
	if o.kept == nil { // never asked: the first source of this name decides
		r.Unchanged = len(mine)
		return r
	}
	// A server that answers with no tools is more likely broken than empty. Removing a source takes a command.
	if o.err != nil || len(o.tools) == 0 {
		r.Unchanged, r.Stale = len(mine), len(mine) > 0
		if o.err == nil && r.Stale {
			r.Findings = append(r.Findings, sanitize.Finding{
				Problem: o.name + " answered without a usable tool",
				Repair:  fmt.Sprintf("its %d stored tools are kept", len(mine)),
			})
		}
		if r.Stale && !stored.Stale {
			stored.Name, stored.Stale = o.name, true
			d.batch.Sources = append(d.batch.Sources, stored)
		}
		return r
	}
	rules := d.st.trust.RulesVersion(o.name)
	// All tools that are new, changed or not yet scanned by these rules are scanned at once, on all processors.
	d.trust.Scan(slices.DeleteFunc(slices.Clone(o.tools), func(t *tool.Tool) bool {
		rec, ok := d.st.records[t.ID()]
		return ok && stored.Rules == rules && rec.Hash == t.Hash()
	}), func(t *tool.Tool) *tool.Tool { return cmp.Or(o.raw[t.ID()], t) })
	var forms []trust.Form
	how := comparison{before: known, anew: stored.Rules != rules, rewritten: d.isRewritten(o, len(mine))}
	for _, t := range o.tools {
		if rec, ok := d.compareTool(o, t, &r, how); ok {
			forms = append(forms, formOf(rec))
		}
	}
	// A tool that is stored but not offered any more is removed, unless it was refused or hidden this time.
	offered := make(map[tool.ID]bool, len(o.tools))
	for _, t := range o.tools {
		offered[t.ID()] = true
	}
	for _, id := range mine {
		switch {
		case offered[id]:
		case o.kept[id]:
			r.Unchanged++
		default:
			r.Removed = append(r.Removed, id)
			d.trust.Removed(formOf(d.st.records[id]))
		}
	}
	d.batch.Remove = append(d.batch.Remove, r.Removed...)
	slices.Sort(r.Added)
	slices.Sort(r.Changed)
	held, found := d.trust.Findings(forms)
	r.Findings = append(r.Findings, found...)
	for _, id := range held {
		_, added := slices.BinarySearch(r.Added, id)
		if _, changed := slices.BinarySearch(r.Changed, id); added || changed {
			r.Held = append(r.Held, id)
		}
	}
	about, suspicious := d.judgeAbout(o, known)
	r.Findings = append(r.Findings, suspicious...)
	// The entry of the source is written only if it would differ, so that an unchanged import writes nothing.
	note := encodeFindings(r.Findings)
	if !known || stored.Stale || stored.Digest != o.digest || !bytes.Equal(stored.Note, note) ||
		stored.Rules != rules || stored.About != about || len(r.Added)+len(r.Changed)+len(r.Removed) > 0 {
		d.batch.Sources = append(d.batch.Sources, store.SourceState{
			Name: o.name, Digest: o.digest, Synced: d.now,
			Note: note, Path: o.path, Rules: rules, About: about,
		})
	}
	return r
}

// comparison says how the tools of a source are compared with those that are stored.
type comparison struct {
	before    bool // the source was read before
	anew      bool // its tools were not scanned by the present rules
	rewritten bool // it changed most of its texts at once
}

// isRewritten reports whether a source with this number of stored tools changed most of their texts at once.
func (d *syncDiff) isRewritten(o *offer, stored int) bool {
	changed := 0
	for _, t := range o.tools {
		if rec, ok := d.st.records[t.ID()]; ok && rec.Source == o.name && rec.Hash != t.Hash() &&
			!scan.SameTexts(rec.Tool, t) {
			changed++
		}
	}
	return trust.Rewritten(changed, stored)
}

// compareTool decides about one tool, and returns the record that it has from now on; false if the tool is left out.
func (d *syncDiff) compareTool(o *offer, t *tool.Tool, r *Report, how comparison) (store.Record, bool) {
	id := t.ID()
	rec, known := d.st.records[id]
	owner := rec.Source
	// Within a step, the first source to offer an ID keeps it; among stored tools, the source that has it.
	if first, ok := d.owner[id]; ok {
		known, owner = true, first
	}
	if known && owner != o.name {
		r.Findings = append(r.Findings, sanitize.Finding{
			Tool: id, Problem: "is already offered by the source " + owner,
			Repair: "left out", Refused: true,
		})
		return rec, false
	}
	d.owner[id] = o.name
	hash := t.Hash()
	switch {
	case !known:
		rec.First = d.now
		r.Added = append(r.Added, id)
		d.trust.Added(trust.Form{Tool: t, Hash: hash}, !how.before)
	case rec.Hash == hash:
		r.Unchanged++
		// The tool is the same, but the rules are not: what was decided by the older rules may be too lenient.
		if how.anew {
			d.trust.Rescanned(formOf(rec), t)
		}
		return rec, true
	default:
		r.Changed = append(r.Changed, id)
		d.trust.Changed(formOf(rec), trust.Form{Tool: t, Hash: hash}, how.rewritten)
	}
	rec.Tool, rec.Source, rec.Hash, rec.Changed = t, o.name, hash, d.now
	d.batch.Records = append(d.batch.Records, rec)
	return rec, true
}

// ownedTools returns the IDs of the stored tools of each of these sources, sorted. It looks at all records once, since
// a step of an import may have thousands of sources.
func (st *state) ownedTools(names ...string) map[string][]tool.ID {
	out := make(map[string][]tool.ID, len(names))
	for _, name := range names {
		out[name] = slices.Collect(maps.Keys(st.owned[name]))
	}
	if st.owned == nil {
		for id, r := range st.records {
			if ids, asked := out[r.Source]; asked {
				out[r.Source] = append(ids, id)
			}
		}
	}
	for _, ids := range out {
		slices.Sort(ids)
	}
	return out
}

// Remove deletes a source with all of its tools, a server, and an overlay of that name, in one durable step, and
// reports what was removed. The error is NotFound if none of them exists.
func (c *Catalog) Remove(ctx context.Context, name string) (Report, error) {
	var report Report
	err := c.applyChange(ctx, func(st *state) (*state, *store.Batch, error) {
		report = Report{Source: name, Removed: st.ownedTools(name)[name]}
		batch := &store.Batch{Remove: report.Removed, Trust: st.trust.Forget(name)}
		if _, ok := st.sources[name]; ok || len(report.Removed) > 0 {
			batch.RemoveSources = []string{name}
		}
		overlays := slices.DeleteFunc(slices.Clone(st.overlays), func(o *sources.Overlay) bool {
			return o.Name == name
		})
		if len(overlays) < len(st.overlays) {
			batch.RemoveOverlays = []string{name}
		}
		if slices.ContainsFunc(st.servers, func(s upstream.Server) bool { return s.Name == name }) {
			batch.RemoveServers = []string{name}
		}
		if batch.Empty() {
			return nil, nil, &tool.Error{
				Code: tool.NotFound, Op: "remove",
				Msg:  fmt.Sprintf("there is no source or overlay named %q", name),
				Hint: "list shows the servers that are known",
			}
		}
		return st.withBatch(batch, overlays), batch, nil
	})
	if err != nil {
		return Report{}, err
	}
	return report, nil
}

// ApplyOverlay stores an overlay, replacing one of the same name. It reports the tools that changed and the problems of
// the overlay. IDs that no source offers yet are among the problems; they take effect when one does.
func (c *Catalog) ApplyOverlay(ctx context.Context, o *sources.Overlay) (Report, error) {
	return c.changeOverlay(ctx, o.Name, func(*sources.Overlay) *sources.Overlay { return o })
}

// changeOverlay replaces the overlay of this name, nil if there is none, by what change returns for it. Change may be
// called again, with what another process has stored meanwhile.
func (c *Catalog) changeOverlay(
	ctx context.Context, name string, change func(have *sources.Overlay) *sources.Overlay,
) (Report, error) {
	if err := sources.CheckName(name); err != nil {
		return Report{}, err
	}
	var report Report
	err := c.applyChange(ctx, func(st *state) (*state, *store.Batch, error) {
		report = Report{Source: name}
		have := st.overlayNamed(name)
		o := change(have)
		encoded, err := o.Encode()
		if err != nil {
			return nil, nil, &tool.Error{
				Code: tool.Invalid, Op: "apply overlay",
				Msg: "overlay " + name + " cannot be stored", Err: err,
			}
		}
		overlays := slices.DeleteFunc(slices.Clone(st.overlays), func(have *sources.Overlay) bool {
			return have.Name == name
		})
		overlays = append(overlays, o)
		slices.SortFunc(overlays, func(a, b *sources.Overlay) int { return cmp.Compare(a.Name, b.Name) })
		batch := &store.Batch{Overlays: map[string][]byte{name: encoded}}
		next := st.withBatch(batch, overlays)
		// Comparing states before checking for equality fills the report also if the overlay is stored already.
		report.compareStates(st, next)
		report.Findings = overlayFindings(next, o)
		if have != nil {
			if old, err := have.Encode(); err == nil && bytes.Equal(old, encoded) {
				return nil, &store.Batch{}, nil
			}
		}
		return next, batch, nil
	})
	if err != nil {
		return Report{}, err
	}
	return report, nil
}

// compareStates adds to the report the served tools that differ between two states.
func (r *Report) compareStates(before, after *state) {
	was := map[tool.ID]tool.Hash{}
	for _, e := range before.entries {
		was[e.tool.ID()] = e.hash
	}
	for _, e := range after.entries {
		if was[e.tool.ID()] != e.hash {
			r.Changed = append(r.Changed, e.tool.ID())
		}
	}
	r.Unchanged = len(after.entries) - len(r.Changed)
}

// overlayFindings returns what is wrong with an overlay in a state: unknown tools, and patches that cleaning repairs.
func overlayFindings(st *state, o *sources.Overlay) []sanitize.Finding {
	var out []sanitize.Finding
	spoken := map[tool.ID]bool{} // stored tools that the overlay is about
	for _, id := range o.IDs() {
		if _, ok := st.records[id]; ok {
			spoken[id] = true
			continue
		}
		whole := st.toolsOfServer(id)
		for _, one := range whole {
			spoken[one] = true
		}
		if len(whole) == 0 {
			out = append(out, sanitize.Finding{
				Tool: id, Problem: "no source offers this tool",
				Repair: "kept for when one does",
			})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(spoken)) {
		_, _, found := st.withPatches(st.records[id].Tool)
		out = append(out, found...)
	}
	return out
}
