package catalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"tooldex/catalog/sources"
	"tooldex/scan"
	"tooldex/store"
	"tooldex/tool"
)

// Import makes the stored tools of each source equal to those that it offers, one durable step after the other, and
// calls done after each step with what SyncAll would return for it. The tools of all steps become visible together, at
// the end. The time of a step depends on what it changes, not on how much is stored, so that a large import is best cut
// into steps of some thousand tools.
//
// While a step is stored, the next is read: steps is called on another goroutine.
//
// After an error of a step, which is that of SyncAll, no further step is made. What the steps before it stored stays:
// the same import, made again, skips it.
func (c *Catalog) Import(ctx context.Context, steps iter.Seq[[]sources.Source], done func([]Report, error)) error {
	im := &importing{c: c}
	ahead, stop := c.readAhead(ctx, steps)
	defer stop()
	for step := range ahead {
		reports, err := im.sync(ctx, step, false)
		if reports == nil && err != nil {
			return errors.Join(err, im.finish(ctx))
		}
		done(reports, err)
	}
	return errors.Join(stoppedError(ctx), im.finish(ctx))
}

// importStep is one step of an import, read and not compared yet.
type importStep struct {
	all    []sources.Source
	offers []*offer // of the same index
}

// readAhead reads the sources of each step while the step before is stored. Stop waits until nothing is read any more;
// steps that were not received are lost.
func (c *Catalog) readAhead(ctx context.Context, steps iter.Seq[[]sources.Source]) (ahead <-chan importStep, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan importStep)
	go func() {
		defer close(out)
		names := map[string]bool{}
		for all := range steps {
			select {
			case out <- importStep{all, c.readOffers(ctx, all, names)}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, func() {
		cancel()
		for range out { // until it is closed
		}
	}
}

// stoppedError returns the error of an import that was stopped before all sources were read, nil if it was not.
func stoppedError(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &tool.Error{
		Code: tool.Timeout, Op: "sync", Msg: "stopped before all sources were read",
		Hint: "try again", Err: ctx.Err(),
	}
}

// importing is the state of one Import. Its state is published once, at the end: publishing builds the index of all
// tools, which would make an import of many steps quadratic.
type importing struct {
	c       *Catalog
	st      *state          // what is stored, to be published; nil until a step changes something
	changed map[string]bool // the servers in which st differs from what is published; nil stands for all
	scanner *scan.Scanner   // knows the tools of st and those of added
	added   bool            // the tools that the present step offers are known to the scanner
}

// sync makes one step whose sources are read, and publishes it if it is the only one.
func (im *importing) sync(ctx context.Context, step importStep, only bool) ([]Report, error) {
	if err := stoppedError(ctx); err != nil {
		return nil, err
	}
	c, all, offers := im.c, step.all, step.offers
	var few []string // the sources of a change that needs little of what is stored
	if only && areOwn(offers) {
		few = fewNames(all)
	}
	if reports := im.reportUnchanged(ctx, offers); reports != nil {
		return reports, nil
	}
	// Other changes of this Catalog wait until the step is stored. Other processes do not: if one of them has changed
	// the store since the step began, the batch is refused with ErrChanged, and the comparison is made again on the new
	// state.
	c.mu.Lock()
	defer c.mu.Unlock()
	var reports []Report
	var errs []error
	err := c.attemptChange(ctx, func(ctx context.Context) error {
		if err := im.refresh(ctx, few); err != nil {
			return err
		}
		d := &syncDiff{now: c.o.now().UTC().Truncate(time.Millisecond), st: im.current(), owner: map[tool.ID]string{}}
		names := make([]string, len(offers))
		for i, o := range offers {
			names[i] = o.name
		}
		d.owned = d.st.ownedTools(names...)
		im.added = false
		d.scanner = func() *scan.Scanner { return im.scannerOf(offers) }
		d.trust = d.st.trust.Inspect(d.now, d.scanner,
			func(id tool.ID) bool { _, ok := d.st.records[id]; return ok })
		reports, errs = make([]Report, len(offers)), nil
		for i, o := range offers {
			if o.same && (d.st.sources[o.name].Digest != o.digest ||
				d.st.sources[o.name].Rules != d.st.trust.RulesVersion(o.name)) { // another process has changed it since
				offers[i] = readOffer(ctx, all[i], o.digest)
				o = offers[i]
			}
			reports[i] = d.compareOffer(o)
			if o.err != nil {
				errs = append(errs, o.err)
			}
		}
		d.batch.Trust = d.trust.Changes()
		maps.Copy(d.batch.Trust, d.aboutChanges)
		return im.store(ctx, &d.batch, only)
	})
	if err == nil && only {
		err = im.publish(ctx)
	}
	if err != nil {
		return nil, err
	}
	return reports, errors.Join(errs...)
}

// reportUnchanged returns the reports of a step that changes nothing, where the tools need not even be loaded to know
// that; nil for any other.
func (im *importing) reportUnchanged(ctx context.Context, offers []*offer) []Report {
	if im.st != nil || slices.ContainsFunc(offers, func(o *offer) bool { return !o.same }) {
		return nil
	}
	known := im.c.outlinedSources(ctx)
	if known.outline == nil {
		return nil
	}
	for _, o := range offers {
		if !known.isUnchanged(o.name, o.digest) {
			return nil
		}
	}
	if gen, err := im.c.o.Store.Generation(ctx); err != nil || gen != known.outline.Generation {
		return nil
	}
	reports := make([]Report, len(offers))
	for i, o := range offers {
		reports[i] = Report{
			Source: o.name, Unchanged: known.outline.Tools[o.name], Findings: decodeFindings(known.sources[o.name].Note),
		}
	}
	return reports
}

// readOffers reads the sources of one step on all processors, except for those that have not changed. Names has the
// sources of earlier steps, and gets those of this one: two of one name in one import would remove each other's tools.
func (c *Catalog) readOffers(ctx context.Context, all []sources.Source, names map[string]bool) []*offer {
	var known knownSources
	if slices.ContainsFunc(all, func(src sources.Source) bool { _, ok := src.(digester); return ok }) {
		known = c.knownSources(ctx) // other sources are read in any case
	}
	offers := make([]*offer, len(all))
	for i, src := range all {
		if name := src.Name(); names[name] {
			offers[i] = &offer{name: name, err: &tool.Error{
				Code: tool.Invalid, Op: "sync",
				Msg:  fmt.Sprintf("two sources are named %q", name),
				Hint: "rename one: a file's name is its server's name",
			}}
		}
		names[src.Name()] = true
	}
	inParallel(len(all), func() func(i int) {
		return func(i int) {
			if offers[i] == nil {
				offers[i] = readIfChanged(ctx, known, all[i])
			}
		}
	})
	return offers
}

// current returns the newest state that this import knows.
func (im *importing) current() *state {
	if im.st != nil {
		return im.st
	}
	return im.c.st.Load()
}

// refresh loads what other processes have stored since, and what this step needs: what is stored of few, or all if few
// is nil or that is not enough. The caller holds mu of the catalogue.
func (im *importing) refresh(ctx context.Context, few []string) error {
	gen, err := im.c.o.Store.Generation(ctx)
	if err != nil || gen == im.current().generation && !im.current().partial {
		return err
	}
	im.st, im.scanner = nil, nil
	// Another process has changed the store. If this process knows no newer state, load it, or else continue from it.
	if few != nil && gen != im.c.st.Load().generation && im.c.st.Load().partial {
		im.c.awaitImage(ctx)
	}
	if im.c.st.Load().generation == gen && im.c.widen(ctx, few) {
		return nil
	}
	if st := im.c.st.Load(); gen != st.generation || st.partial {
		return im.c.loadState(ctx, behind)
	}
	return nil
}

// scannerOf returns a scanner that knows what is stored and what is offered.
func (im *importing) scannerOf(offers []*offer) *scan.Scanner {
	st := im.current()
	if im.scanner == nil && im.c.scannerOf == st.generation {
		im.scanner, im.c.scanner = im.c.scanner, nil // what is added to it must not stay if the step fails
	}
	if im.scanner == nil {
		im.scanner = scan.New(im.c.knownTools(st))
	}
	if !im.added {
		im.added = true
		offered := map[tool.ID]bool{}
		for _, o := range offers {
			for _, t := range o.tools {
				id := t.ID()
				if _, known := st.records[id]; !known && !offered[id] {
					offered[id] = true
					im.scanner.Add([]*tool.Tool{t})
				}
			}
		}
	}
	return im.scanner
}

// store makes a batch durable and part of the state. The only step also makes what tools of earlier changes lack, and
// the last of several leaves that to finish. The caller holds mu of the catalogue.
func (im *importing) store(ctx context.Context, batch *store.Batch, only bool) error {
	if batch.Empty() {
		return nil
	}
	before := im.c.st.Load()
	if im.st == nil {
		im.st = before.clone()
		if !only {
			im.st.ownAll()
		}
	}
	st := im.st
	st.apply(batch)
	var entries []entry
	// One step alone prepares all tools that lack something; a step of several only those of the servers that it
	// changed.
	whole := false
	if only {
		if im.changed = st.changedServers(before, batch); im.changed != nil {
			st.mergeServers(before, im.changed)
		} else {
			st.mergeOverlays()
		}
		whole = !im.c.complete || im.changed == nil
	}
	if whole {
		entries, im.changed = st.allEntries(), nil
		if st.partial {
			im.changed = st.scope
		}
	} else {
		entries = st.changedEntries(batch)
	}
	ready, err := im.c.prepareAndStore(ctx, st, entries, batch)
	if err != nil {
		im.st, im.scanner = nil, nil // batch is in it
		// Stored before the tools that they were made for, analyses would fit none that is stored, and the next process
		// would make those again: two processes could so refuse each other's changes for long.
		if errors.Is(err, store.ErrChanged) {
			clear(im.c.unsaved.lent)
			if st.partial { // few are soon made again
				clear(im.c.unsaved.vectors)
			}
		}
		return err
	}
	im.c.complete = ready && (whole || im.c.complete)
	if im.scanner != nil || len(batch.Records) > 0 {
		im.c.scanner = im.scanner
	}
	if im.c.scannerOf = st.generation; len(batch.Remove) > 0 || !only {
		im.c.scanner = nil // it cannot forget
	}
	if !only {
		im.c.texts.moveTools(batch.Records)
		for _, r := range batch.Records {
			st.records[r.Tool.ID()] = r
		}
	}
	return nil
}

// finish makes what was stored visible, and drops what was kept for further steps.
func (im *importing) finish(ctx context.Context) error {
	im.c.mu.Lock()
	defer im.c.mu.Unlock()
	defer im.c.o.indexer.release()
	if im.st == nil {
		return nil
	}
	im.st.mergeOverlays()
	// An empty batch: the steps have stored all tools, and what is prepared here adds to them.
	var err error
	im.c.complete, err = im.c.prepareAndStore(ctx, im.st, im.st.allEntries(), &store.Batch{})
	return errors.Join(err, im.publish(ctx))
}

// publish makes the state visible, unless a later one is. The caller holds mu of the catalogue.
func (im *importing) publish(ctx context.Context) error {
	// Another goroutine of this process may have loaded a newer state meanwhile.
	if im.st == nil || im.st.generation < im.c.st.Load().generation {
		return nil
	}
	im.st.owned, im.st.offers = nil, nil
	return im.c.publish(ctx, im.st, im.changed)
}
