package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tooldex/tool"
	"tooldex/upstream"
)

// The most that an answer lists of each, so that advice stays a few lines.
const (
	maxKinds      = 3
	maxCategories = 3
	maxUnplaced   = 8
)

// makeAdvice describes what to try where no tool fits: the kinds of servers that would serve, the words that are not
// understood, the nearest categories, and what the caller's filter left out. It overwrites the fused scores.
func (e *Engine) makeAdvice(ask request, full string, r *scored, j confidence, s *scratch) *tool.Advice {
	a := &tool.Advice{
		Message: "No tool here seems to do this.", NotUnderstood: e.wordsNotUnderstood(ask, s),
		Excluded: e.excludedTools(ask, full, r, s),
	}
	// Small talk gets no list of servers. If the filter left out tools that might serve, or servers are still being
	// read, the text was a request after all.
	if j.asksForNothing() && !slices.ContainsFunc(a.Excluded, func(u tool.Excluded) bool {
		return u.Tools > 0 || isReading(u)
	}) {
		a.NoRequest, a.Message = true, "No tool fits: this does not ask for anything that a tool does."
		if j.evidence[evUnderstood] == 0 {
			a.Message = "No tool fits: this is not understood. Say in other words what it should do."
		}
		return a
	}
	for _, n := range j.archetypes {
		if len(a.Kinds) == maxKinds {
			break
		}
		if kind := e.o.Base.Kind(n.Archetype); kind != "" && !slices.Contains(a.Kinds, kind) {
			a.Kinds = append(a.Kinds, kind)
		}
	}
	if len(a.Kinds) > 0 {
		a.Message = "No tool here seems to do this; a server of this kind would: " + strings.Join(a.Kinds, ", ") + "."
	}
	// best tool first, so the nearest categories come first
	for _, i := range s.order[:min(len(s.order), leastDepth)] {
		c := ask.snap.Set().All()[i].Category
		if c != "" && !slices.Contains(a.Categories, c) && len(a.Categories) < maxCategories {
			a.Categories = append(a.Categories, c)
		}
	}
	if i := slices.IndexFunc(a.Excluded, isReading); i >= 0 {
		// It cannot be known yet that no tool here does this.
		a.Message = a.Excluded[i].Text
		a.Excluded = slices.Delete(a.Excluded, i, i+1)
	}
	return a
}

// isReading reports whether u stands for servers that are still being read.
func isReading(u tool.Excluded) bool { return u.Why == whyReading }

// wordsNotUnderstood returns the words of a request that are known neither to the catalogue nor to the archetypes.
func (e *Engine) wordsNotUnderstood(ask request, s *scratch) []string {
	if e.o.Base == nil {
		return nil
	}
	words := e.o.Base.NotUnderstood(ask.text, func(stem string) bool { return ask.snap.HasTerm(stem, s.allowed) })
	return words[:min(len(words), maxUnplaced)]
}

const (
	maxExcluded        = 10 // this many of the best tools that were left out are looked at
	maxExcludedServers = 3  // that are named
	leastExcluded      = .3 // probability from which a tool that was left out is said to be one that might serve
)

// The reasons for which tools are left out, in the order in which they are listed.
const (
	whyServers    = "servers"    // Filter.Servers
	whyCategories = "categories" // Filter.Categories
	whyReadOnly   = "read_only"  // Filter.ReadOnly
	whyDisabled   = "disabled"   // the tools are disabled
	whyReading    = "reading"    // the server is being started for the first time, and its tools are not known yet
	whyStopped    = "stopped"    // the server does not run, and its tools are not known
)

// excludedTools lists what the caller's own filter left out of a search that found nothing, and that might serve. Tools
// that a permission hides are never looked at, so that advice cannot reveal them.
func (e *Engine) excludedTools(a request, full string, r *scored, s *scratch) []tool.Excluded {
	var out []tool.Excluded
	if f := &a.query.Filter; markExcluded(e.factsOf(a.snap.Set()), f, s) {
		might := e.findExcluded(a, full, r, s)
		for _, why := range []string{whyServers, whyCategories, whyReadOnly, whyDisabled} {
			if u, ok := describeExcluded(why, f, might); ok {
				out = append(out, u)
			}
		}
	}
	for _, why := range []string{whyReading, whyStopped} {
		if u, ok := e.unreadServers(why, a, r.terms, s); ok {
			out = append(out, u)
		}
	}
	return out
}

// markExcluded fills s.excluded with what only the caller's own choices leave out, and reports whether there is any.
func markExcluded(facts *setFacts, f *tool.Filter, s *scratch) (any bool) {
	if s.wide && facts.count == facts.set.Len() {
		return false
	}
	for i, t := range facts.set.All() {
		// Allow is the permission of the caller; the rest of the filter is the caller's choice.
		s.excluded[i] = !s.allowed[i] && (f.Allow == nil || f.Allow(t))
		any = any || s.excluded[i]
	}
	return any
}

// findExcluded scores the tools of s.excluded as if only they existed, and returns those that would be found with
// confidence. It overwrites the fused scores.
func (e *Engine) findExcluded(a request, full string, r *scored, s *scratch) []*tool.Tool {
	them := *r
	// Only the cosines of allowed tools are known, and where they are rough, exactly only those of the best.
	if them.rough = false; r.vector != nil && (r.rough || !s.wide) {
		s.compareExactly(a.snap, r, s.excluded)
	}
	// The excluded tools take the place of the allowed ones, so that the same code scores them, and their ranges are
	// their own.
	s.allowed, s.excluded = s.excluded, s.allowed
	defer func() { s.allowed, s.excluded = s.excluded, s.allowed }()
	them.fuseScores(a.snap, s)
	them.exact = s.addExactBonus()
	order := topDocuments(s.fused, s.allowed, maxExcluded, nil)
	j := e.estimateConfidence(a, full, &them, order, s)
	var out []*tool.Tool
	for _, i := range order {
		if j.toolProbability(s.fused[i]) >= leastExcluded {
			out = append(out, a.snap.Set().All()[i])
		}
	}
	return out
}

// exclusionReason returns the first part of a caller's filter that leaves t out.
func exclusionReason(f *tool.Filter, t *tool.Tool) string {
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

// describeExcluded describes those of tools that are left out for one reason, and reports whether any are.
func describeExcluded(why string, f *tool.Filter, tools []*tool.Tool) (tool.Excluded, bool) {
	u := tool.Excluded{Why: why}
	for _, t := range tools {
		if exclusionReason(f, t) != why {
			continue
		}
		u.Tools++
		if why != whyDisabled && !slices.Contains(u.Servers, t.Server) && len(u.Servers) < maxExcludedServers {
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

// unreadServers lists servers of which no tools are known, either because they are being read or because they do not
// run, those named in the request first. A caller with limited permissions gets none: without its tools, nothing shows
// whether such a caller may know of a server.
func (e *Engine) unreadServers(why string, a request, terms []string, s *scratch) (tool.Excluded, bool) {
	u := tool.Excluded{Why: why}
	f := &a.query.Filter
	if e.o.Servers == nil || f.Allow != nil {
		return u, false
	}
	have := e.factsOf(a.snap.Set()).servers()
	for _, st := range e.o.Servers.Status() {
		matches := st.State == upstream.Failed || st.State == upstream.Configured
		if why == whyReading {
			matches = st.State == upstream.Starting || st.State == upstream.Installing
		}
		if matches && !have[st.Server] && (len(f.Servers) == 0 || slices.Contains(f.Servers, st.Server)) {
			u.Servers = append(u.Servers, st.Server)
		}
	}
	if len(u.Servers) == 0 {
		return u, false
	}
	// A request that names a server is more likely about it than about another.
	steered := func(server string) bool {
		return slices.ContainsFunc(s.analyzer.Terms(nil, server), func(w string) bool {
			return slices.Contains(terms,
				w)
		})
	}
	slices.SortFunc(u.Servers, func(x, y string) int {
		return cmp.Or(trueFirst(steered(x), steered(y)),
			cmp.Compare(x, y))
	})
	n := len(u.Servers)
	u.Servers = u.Servers[:min(n, maxExcludedServers)]
	names := strings.Join(u.Servers, ", ")
	switch {
	case why == whyReading && n == 1:
		u.Text = "1 server is still being read (" + names + "): search again in a moment."
	case why == whyReading && n > len(u.Servers):
		u.Text = fmt.Sprintf("%d servers are still being read (%s, …): search again in a moment.", n, names)
	case why == whyReading:
		u.Text = fmt.Sprintf("%d servers are still being read (%s): search again in a moment.", n, names)
	case n == 1:
		u.Text = "The server " + u.Servers[0] + " does not run, and what it offers is not known."
	default:
		u.Text = "The servers " + names + " do not run, and what they offer is not known."
	}
	return u, true
}
