package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"tooldex/scan"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
	"tooldex/upstream"
)

// Review lists the tools, prompts and resources that a person should look at: those that are held, then those that are
// served with a warning, each group by ID.
func (c *Catalog) Review() []scan.Review {
	if out, ok := c.reviewOf(c.st.Load()); ok {
		return out
	}
	out, _ := c.reviewOf(c.loaded())
	return out
}

// reviewOf is Review of one state, from memory if it was asked for before: the panel asks again and again. It returns
// false for a partial state from which it cannot be made.
func (c *Catalog) reviewOf(st *state) ([]scan.Review, bool) {
	c.reviewing.Lock()
	defer c.reviewing.Unlock()
	if c.reviewed != st {
		var out []scan.Review
		if !st.partial {
			out = st.review()
		} else if o, ok := st.reviewFromImage(context.Background(), c.o.Store); ok {
			out = o
		} else {
			return nil, false
		}
		c.reviews, c.reviewed = out, st
	}
	return slices.Clone(c.reviews), true
}

// review is Catalog.Review of one state, which is not partial. It looks at every description to find the copies.
func (st *state) review() []scan.Review {
	if st.taken {
		return st.reviews
	}
	out := append(st.reviewRecords(), st.trust.ReviewFeatures()...)
	return sortReviews(st.addCopies(out, st.settled()))
}

// reviewRecords lists the tools to look at, except for copies.
func (st *state) reviewRecords() (out []scan.Review) {
	for _, rec := range st.records {
		if r, ok := st.trust.Review(formOf(rec), rec.Changed); ok {
			out = append(out, r)
		}
	}
	return out
}

// sortReviews sorts in place: first what is held, then by ID.
func sortReviews(all []scan.Review) []scan.Review {
	slices.SortFunc(all, func(a, b scan.Review) int {
		if a.Held != b.Held {
			return map[bool]int{true: -1, false: 1}[a.Held]
		}
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// reviewFromImage is Catalog.Review of a partial state: the image has the list of its time, and the servers that have
// changed since are read from the store. Copies are looked for as in the index: among the tools of these servers, and
// those of others that resemble them. It returns false if the store is not as the state was, or if these are too many.
func (st *state) reviewFromImage(ctx context.Context, from store.Backend) ([]scan.Review, bool) {
	var all []scan.Review
	if st.image == nil || json.Unmarshal(st.image.reviews, &all) != nil {
		return nil, false
	}
	if len(st.since) == 0 {
		return all, true
	}
	snap, err := from.LoadServers(ctx, slices.Collect(maps.Keys(st.since)))
	if err != nil || snap.Generation != st.generation || len(snap.Damaged) > 0 {
		return nil, false
	}
	own := &state{records: map[tool.ID]store.Record{}, trust: st.trust.With(snap.Trust, snap.Servers)}
	for _, r := range snap.Records {
		own.records[r.Tool.ID()] = r
	}
	tools := append(own.settled(), st.image.similar(own.records, st.since)...)
	if len(tools) > mostCompared {
		return nil, false
	}
	changed := func(r scan.Review) bool { return st.since[r.ID.Server()] }
	all = append(slices.DeleteFunc(all, changed), own.reviewRecords()...)
	for _, r := range own.trust.ReviewFeatures() {
		if changed(r) { // it may know of others
			all = append(all, r)
		}
	}
	return sortReviews(own.addCopies(all, tools)), true
}

// similar returns the tools of an image that some records may be copies of, except those of some servers.
func (o *openedImage) similar(records map[tool.ID]store.Record, except map[string]bool) (out []entry) {
	all, met := o.set.All(), map[int32]bool{}
	for _, r := range records {
		for _, row := range sketchOf(r.Tool) {
			found := 0
			o.near.rows.find(row, func(doc int32) bool {
				if t := all[doc]; !except[t.Server] {
					found++
					if !met[doc] {
						met[doc] = true
						out = append(out, entry{tool: t, first: o.firstSeen(int(doc))})
					}
				}
				return found < maxPerRow
			})
		}
	}
	slices.SortFunc(out, compareID)
	return out
}

// Accept approves tools in their present form, durably and for all processes, whether they are held or not. They are
// served without a warning until they change. All approvals are stored together. The error is NotFound for an unknown
// tool. It wraps tool.ErrConflict if an approval names a form that is not the present one. In both cases nothing is
// approved.
func (c *Catalog) Accept(ctx context.Context, approvals []scan.Approval) error {
	return c.applyChange(ctx, func(st *state) (*state, *store.Batch, error) {
		batch := &store.Batch{Trust: map[tool.ID][]byte{}}
		for _, a := range approvals {
			key, decision, err := st.approve(a, c.o.now())
			if err != nil {
				return nil, nil, err
			}
			if decision != nil {
				batch.Trust[key] = decision
			}
		}
		return st.withBatch(batch, st.overlays), batch, nil
	})
}

// approve returns the decision to store for an approval, nil if nothing changes, and the key under which it is stored.
func (st *state) approve(a scan.Approval, now time.Time) (key tool.ID, decision []byte, err error) {
	var present string
	rec, ok := st.records[a.ID]
	if a.Kind != "" {
		key, decision, present, ok = st.trust.ApproveFeature(a, now)
	} else if ok {
		key, present = a.ID, formOf(rec).ID()
		if decision, err = st.trust.Approve(formOf(rec), now); err != nil {
			return "", nil, fmt.Errorf("approve %s: %w", a.ID, err)
		}
	}
	switch {
	case !ok:
		return "", nil, &tool.Error{
			Code: tool.NotFound, Op: "approve",
			Msg:  fmt.Sprintf("there is no %s %s", cmp.Or(a.Kind, "tool"), a.ID),
			Hint: "tooldex servers review lists what waits for approval",
		}
	case a.Form != "" && a.Form != present:
		return "", nil, &tool.Error{
			Code: tool.Invalid, Op: "approve",
			Msg: fmt.Sprintf("%s is not any more what was looked at", a.ID), Hint: "look at it again",
			Err: tool.ErrConflict,
		}
	}
	return key, decision, nil
}

// TrustPolicy returns the policy that applies to a server: Off for one that is trusted.
func (c *Catalog) TrustPolicy(server string) trust.Policy { return c.st.Load().trust.PolicyOf(server) }

// Trust returns what was decided about tools and features. It does not change; ask again for a newer one.
func (c *Catalog) Trust() *trust.Ledger { return c.loaded().trust }

// InspectFeatures decides about what a server offers beside tools, durably and for all processes. It costs little if
// nothing has changed since it was last called.
func (c *Catalog) InspectFeatures(ctx context.Context, f upstream.Features) error {
	return c.applyChange(ctx, func(st *state) (*state, *store.Batch, error) {
		changes := st.trust.InspectFeatures(c.o.now().UTC(), func() *scan.Scanner {
			known := make([]*tool.Tool, 0, len(st.records))
			for _, r := range st.records {
				known = append(known, r.Tool)
			}
			return scan.New(known)
		}, f)
		batch := &store.Batch{Trust: changes}
		if batch.Empty() {
			return nil, batch, nil
		}
		return st.withBatch(batch, st.overlays), batch, nil
	})
}
