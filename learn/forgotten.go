package learn

import (
	"encoding/json"
	"slices"
	"time"

	"tooldex/tool"
)

// Scope says what to forget: what matches all that is given. The zero Scope matches everything.
type Scope struct {
	Profile *string // nil: of all profiles
	Tool    tool.ID
	Request string // a request's name, as in reports
	Client  string
}

func (s Scope) use(u *use) bool {
	return s.profile(u.profile) && (s.Tool == "" || s.Tool == u.tool) && (s.Client == "" || s.Client == u.client) &&
		(s.Request == "" || s.Request == requestName(u.request))
}

// missed matches requests of nobody in particular: those of a client are not told apart.
func (s Scope) missed(m *missed) bool {
	return s.profile(m.profile) && s.Client == "" && (s.Request == "" || s.Request == requestName(m.request)) &&
		(s.Tool == "" || slices.Contains(m.called, s.Tool))
}

func (s Scope) approval(a *approval) bool {
	return s.profile(a.profile) && s.Client == "" && (s.Tool == "" || s.Tool == a.tool) &&
		(s.Request == "" || s.Request == requestName(a.request))
}

func (s Scope) profile(p string) bool { return s.Profile == nil || *s.Profile == p }

// forgotten is an order to forget, which other processes follow with what they have not written yet.
type forgotten struct {
	Scope Scope `json:"scope"`
	At    int64 `json:"at"` // milliseconds since 1970
}

// The orders that are remembered: so long that every process has written what it had, and no more of them than that.
const (
	rememberOrders = time.Hour
	maxOrders      = 64
)

// readForgotten reads the orders, none where they cannot be read.
func readForgotten(v []byte) []forgotten {
	var out []forgotten
	if len(v) > 0 && json.Unmarshal(v, &out) != nil {
		return nil
	}
	return out
}

// withOrder returns the stored orders with one more.
func withOrder(now []byte, order forgotten) []byte {
	list := slices.DeleteFunc(readForgotten(now), func(f forgotten) bool {
		return time.UnixMilli(order.At).Sub(time.UnixMilli(f.At)) > rememberOrders
	})
	list = append(list, order)
	b, err := json.Marshal(list[max(0, len(list)-maxOrders):])
	if err != nil { // strings and numbers always can
		return nil
	}
	return b
}

// matching returns the keys of what a scope matches, of what was last seen at or before a time.
func (b *book) matching(s Scope, at int64) []string {
	var out []string
	for k, u := range b.uses {
		if s.use(u) && u.last <= at {
			out = append(out, k)
		}
	}
	for k, m := range b.missed {
		if s.missed(m) && m.last <= at {
			out = append(out, k)
		}
	}
	for k, a := range b.approved {
		if s.approval(a) && a.at <= at {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// forget drops what orders speak of and returns its keys.
func (b *book) forget(orders []forgotten) []string {
	var out []string
	for _, o := range orders {
		keys := b.matching(o.Scope, o.At)
		b.drop(keys)
		out = append(out, keys...)
	}
	return out
}
