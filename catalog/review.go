package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tooldex/scan"
	"tooldex/store"
	"tooldex/tool"
)

// Review lists the tools that a person should look at: those that are held, then those that are served with a warning,
// each group by ID.
func (c *Catalog) Review() []scan.Review {
	st := c.loaded()
	var out []scan.Review
	for _, rec := range st.records {
		if r, ok := st.trust.Review(formOf(rec), rec.Changed); ok {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b scan.Review) int {
		if a.Held != b.Held {
			return map[bool]int{true: -1, false: 1}[a.Held]
		}
		return cmp.Compare(a.ID, b.ID)
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
			rec, ok := st.records[a.ID]
			if !ok {
				return nil, nil, &tool.Error{
					Code: tool.NotFound, Op: "approve",
					Msg:  fmt.Sprintf("there is no tool %s", a.ID),
					Hint: "tooldex servers review lists what waits for approval",
				}
			}
			if a.Form != "" && a.Form != formOf(rec).ID() {
				return nil, nil, &tool.Error{
					Code: tool.Invalid, Op: "approve",
					Msg: fmt.Sprintf("%s is not any more what was looked at", a.ID), Hint: "look at it again",
					Err: tool.ErrConflict,
				}
			}
			decision, err := st.trust.Approve(formOf(rec), c.o.now())
			if err != nil {
				return nil, nil, fmt.Errorf("approve %s: %w", a.ID, err)
			}
			if decision != nil {
				batch.Trust[a.ID] = decision
			}
		}
		return st.withBatch(batch, st.overlays), batch, nil
	})
}
