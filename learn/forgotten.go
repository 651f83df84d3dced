package learn

import (
	"encoding/json"
	"slices"
	"time"

	"tooldex/tool"
)

// Scope selects what to forget: entries that match every field that is set. The zero Scope matches everything.
type Scope struct {
	Profile *string // nil means all profiles
	Tool    tool.ID
	Request string // a request's name, as in reports
	Client  string
}

// matchesUse reports whether the scope covers a piece of evidence.
func (s Scope) matchesUse(u *use) bool {
	return s.matchesProfile(u.profile) && (s.Tool == "" || s.Tool == u.tool) &&
		(s.Client == "" || s.Client == u.client) &&
		(s.Request == "" || s.Request == requestName(u.request))
}

// matchesMissed reports whether the scope covers a missed request. These are stored without clients, so a scope with a
// client covers none.
func (s Scope) matchesMissed(m *missedRequest) bool {
	return s.matchesProfile(m.profile) && s.Client == "" && (s.Request == "" || s.Request == requestName(m.request)) &&
		(s.Tool == "" || slices.Contains(m.called, s.Tool))
}

// matchesApproval reports whether the scope covers an approval.
func (s Scope) matchesApproval(a *approval) bool {
	return s.matchesProfile(a.profile) && s.Client == "" && (s.Tool == "" || s.Tool == a.tool) &&
		(s.Request == "" || s.Request == requestName(a.request))
}

// matchesProfile reports whether the scope covers a profile; no profile means all.
func (s Scope) matchesProfile(p string) bool { return s.Profile == nil || *s.Profile == p }

// forgetOrder is a stored order to forget. Other processes apply it to what they have not written yet.
type forgetOrder struct {
	Scope Scope `json:"scope"`
	At    int64 `json:"at"` // milliseconds since 1970
}

// Orders are kept until every process must have written what it had pending, and in bounded number.
const (
	rememberOrders = time.Hour
	maxOrders      = 64
)

// readForgotten reads the orders. Unreadable ones count as none.
func readForgotten(v []byte) []forgetOrder {
	var out []forgetOrder
	if len(v) > 0 && json.Unmarshal(v, &out) != nil {
		return nil
	}
	return out
}

// appendForgotten returns the stored orders with one more, without those that are too old.
func appendForgotten(now []byte, order forgetOrder) []byte {
	list := slices.DeleteFunc(readForgotten(now), func(f forgetOrder) bool {
		return time.UnixMilli(order.At).Sub(time.UnixMilli(f.At)) > rememberOrders
	})
	list = append(list, order)
	b, err := json.Marshal(list[max(0, len(list)-maxOrders):])
	if err != nil { // strings and numbers always can
		return nil
	}
	return b
}

// matchingKeys returns the sorted keys of entries that a scope matches and that were last seen at or before a time.
func (b *evidenceStore) matchingKeys(s Scope, at int64) []string {
	var out []string
	for k, u := range b.uses {
		if s.matchesUse(u) && u.last <= at {
			out = append(out, k)
		}
	}
	for k, m := range b.missed {
		if s.matchesMissed(m) && m.last <= at {
			out = append(out, k)
		}
	}
	for k, a := range b.approved {
		if s.matchesApproval(a) && a.at <= at {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// applyForgotten removes the entries that orders cover, and returns their keys.
func (b *evidenceStore) applyForgotten(orders []forgetOrder) []string {
	var out []string
	for _, o := range orders {
		keys := b.matchingKeys(o.Scope, o.At)
		b.removeKeys(keys)
		out = append(out, keys...)
	}
	return out
}
