package catalog

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tooldex/scan"
	"tooldex/store"
	"tooldex/tool"
)

// Review lists the tools that somebody should look at, those that are held before those that are served with a warning,
// by ID.
func (c *Catalog) Review() []scan.Review {
	st := c.st.Load()
	var out []scan.Review
	for id, rec := range st.records {
		held, warning := st.holds(rec), st.warning(rec)
		if held == "" && warning == "" {
			continue
		}
		r := scan.Review{ID: id, Held: held != "", Form: form(rec.Hash), Since: timestamp(rec.Changed)}
		d := st.decisions[id]
		if d != nil {
			r.Suspicions = suspicions(d)
			r.Why = reasons(d.Found)
			if d.Accepted != nil {
				r.Changes = scan.Difference(d.Accepted, rec.Tool)
			}
		}
		if held != "" {
			r.Why = held
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b scan.Review) int {
		if a.Held != b.Held {
			return map[bool]int{true: -1, false: 1}[a.Held]
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return out
}

// suspicions lists what was found in a tool, and what speaks against its change.
func suspicions(d *decision) []scan.Finding {
	out := slices.Clone(d.Worse)
	for _, f := range d.Found {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// form names a form of a tool.
func form(h tool.Hash) string { return hex.EncodeToString(h[:8]) }

// Accept accepts tools in the form that they have now, durably and for all processes, whether they are held or not;
// they are served without a warning until they change. Of approvals that name a form, each must be of the form that
// there is: else nothing is approved, and the error wraps tool.ErrConflict. The error is NotFound for a tool that is
// not known.
func (c *Catalog) Accept(ctx context.Context, approvals []scan.Approval) error {
	return c.change(ctx, func(st *state) (*state, *store.Batch, error) {
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
			if a.Form != "" && a.Form != form(rec.Hash) {
				return nil, nil, &tool.Error{
					Code: tool.Invalid, Op: "approve",
					Msg: fmt.Sprintf("%s is not any more what was looked at", a.ID), Hint: "look at it again",
					Err: tool.ErrConflict,
				}
			}
			d := decision{By: byApproval, Hash: rec.Hash, At: c.o.now().UTC()}
			if before := st.decisions[a.ID]; before != nil {
				d.Found = before.Found
				if before.By == byApproval && before.accepted(rec) {
					continue
				}
			}
			b, err := json.Marshal(&d)
			if err != nil {
				return nil, nil, fmt.Errorf("approve %s: %w", a.ID, err)
			}
			batch.Trust[a.ID] = b
		}
		return st.next(batch, st.overlays), batch, nil
	})
}

// timestamp formats the Since of a Review; it is "" for the zero time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
