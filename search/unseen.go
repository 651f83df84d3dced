package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tooldex/tool"
	"tooldex/upstream"
)

const (
	maxUnseen        = 10 // of the tools that were left out, the best so many are looked at
	maxUnseenServers = 3  // that are named
)

// The reasons for which tools are left out, in the order in which they are listed.
const (
	whyServers    = "servers"    // Filter.Servers
	whyCategories = "categories" // Filter.Categories
	whyReadOnly   = "read_only"  // Filter.ReadOnly
	whyDisabled   = "disabled"   // the tools are disabled
	whyStopped    = "stopped"    // the server does not run, and its tools are not known
)

// unseen tells what the caller's own choices left out of a search that found nothing, and that might serve. What a
// permission hides is not looked at.
func (e *Engine) unseen(a ask, full string, r *scored, s *scratch) []tool.Unseen {
	var out []tool.Unseen
	if f := &a.q.Filter; leftOut(a.snap.Set(), f, s) {
		might := e.mightServe(a, full, r, s)
		for _, why := range []string{whyServers, whyCategories, whyReadOnly, whyDisabled} {
			if u, ok := unseenFor(why, f, might); ok {
				out = append(out, u)
			}
		}
	}
	if u, ok := e.stopped(a, r.terms, s); ok {
		out = append(out, u)
	}
	return out
}

// leftOut fills s.unseen with what only the caller's own choices leave out, and reports whether there is any.
func leftOut(set *tool.Set, f *tool.Filter, s *scratch) (any bool) {
	for i, t := range set.All() {
		s.unseen[i] = !s.allowed[i] && (f.Allow == nil || f.Allow(t))
		any = any || s.unseen[i]
	}
	return any
}

// mightServe judges the tools of s.unseen as if only they were there, and returns those that would be found with
// confidence. The fused scores of the search are lost by that.
func (e *Engine) mightServe(a ask, full string, r *scored, s *scratch) []*tool.Tool {
	them := *r
	s.allowed, s.unseen = s.unseen, s.allowed
	defer func() { s.allowed, s.unseen = s.unseen, s.allowed }()
	them.fuseAll(a.snap, s)
	them.exact = s.liftNamed()
	order := top(s.fused, s.allowed, maxUnseen, nil)
	j := e.judge(a.snap, full, &them, order, s)
	var out []*tool.Tool
	for _, i := range order {
		if j.score(s.fused[i]) >= leastProbability {
			out = append(out, a.snap.Set().All()[i])
		}
	}
	return out
}

// reason is the first of a caller's choices that leaves t out.
func reason(f *tool.Filter, t *tool.Tool) string {
	switch {
	case t.Disabled && !f.Disabled:
		return whyDisabled
	case len(f.Servers) > 0 && !slices.Contains(f.Servers, t.Server):
		return whyServers
	case f.ReadOnly && !t.ReadOnly():
		return whyReadOnly
	}
	return whyCategories
}

// unseenFor tells of those of tools that are left out for one reason.
func unseenFor(why string, f *tool.Filter, tools []*tool.Tool) (tool.Unseen, bool) {
	u := tool.Unseen{Why: why}
	for _, t := range tools {
		if reason(f, t) != why {
			continue
		}
		u.Tools++
		if why != whyDisabled && !slices.Contains(u.Servers, t.Server) && len(u.Servers) < maxUnseenServers {
			u.Servers = append(u.Servers, t.Server)
		}
	}
	if u.Tools == 0 {
		return u, false
	}
	n := "1 tool"
	if u.Tools > 1 {
		n = fmt.Sprintf("%d tools", u.Tools)
	}
	switch why {
	case whyServers:
		u.Text = n + " of other servers (" + strings.Join(u.Servers, ", ") +
			") might serve; search without the server filter."
	case whyCategories:
		u.Text = n + " of other categories might serve; search without the category filter."
	case whyReadOnly:
		u.Text = n + " not annotated as read-only might serve; search without the read-only filter."
	default:
		u.Text = strings.Replace(n, "tool", "disabled tool", 1) +
			" might serve; an overlay with enabled: true brings back what is disabled."
	}
	return u, true
}

// stopped tells of servers of which no tool is known because they do not run. Whether a caller whose permissions are
// limited may know of such a server cannot be told by its tools, so it is told of none.
func (e *Engine) stopped(a ask, terms []string, s *scratch) (tool.Unseen, bool) {
	u := tool.Unseen{Why: whyStopped}
	f := &a.q.Filter
	if e.o.Servers == nil || f.Allow != nil {
		return u, false
	}
	have := map[string]bool{}
	for _, t := range a.snap.Set().All() {
		have[t.Server] = true
	}
	for _, st := range e.o.Servers.Status() {
		down := st.State == upstream.Failed || st.State == upstream.Configured
		if down && !have[st.Server] && (len(f.Servers) == 0 || slices.Contains(f.Servers, st.Server)) {
			u.Servers = append(u.Servers, st.Server)
		}
	}
	if len(u.Servers) == 0 {
		return u, false
	}
	steered := func(server string) bool {
		return slices.ContainsFunc(s.analyzer.Terms(nil, server), func(w string) bool {
			return slices.Contains(terms,
				w)
		})
	}
	slices.SortFunc(u.Servers, func(x, y string) int {
		return cmp.Or(before(steered(x), steered(y)),
			cmp.Compare(x, y))
	})
	u.Servers = u.Servers[:min(len(u.Servers), maxUnseenServers)]
	if len(u.Servers) == 1 {
		u.Text = "The server " + u.Servers[0] + " does not run, and what it offers is not known."
	} else {
		u.Text = "The servers " + strings.Join(u.Servers, ", ") + " do not run, and what they offer is not known."
	}
	return u, true
}
