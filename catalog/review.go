package catalog

import (
	"cmp"
	"context"
	"fmt"
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
	st := c.loaded()
	c.reviewing.Lock()
	defer c.reviewing.Unlock()
	if c.reviewed != st { // finding the copies looks at every description, and the panel asks again and again
		c.reviews, c.reviewed = st.review(), st
	}
	return slices.Clone(c.reviews)
}

// review is Catalog.Review of one state.
func (st *state) review() []scan.Review {
	var out []scan.Review
	for _, rec := range st.records {
		if r, ok := st.trust.Review(formOf(rec), rec.Changed); ok {
			out = append(out, r)
		}
	}
	out = st.addCopies(append(out, st.trust.ReviewFeatures()...))
	slices.SortFunc(out, func(a, b scan.Review) int {
		if a.Held != b.Held {
			return map[bool]int{true: -1, false: 1}[a.Held]
		}
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind, b.Kind))
	})
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
