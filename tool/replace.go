package tool

import "slices"

// Replace returns the set in which the tools of some servers are those of with, without those for which why gives a
// reason, which are held. It is the set that NewSet and Withhold would make of all tools that s has and holds of other
// servers, and of with, if s was made with the default template; but it makes no names for tools that keep theirs. The
// IDs in with differ.
func (s *Set) Replace(servers map[string]bool, with []*Tool, why func(*Tool) string) *Set {
	with = slices.Clone(with)
	slices.SortFunc(with, compareTools)
	var (
		tools   = make([]*Tool, 0, len(s.tools)+len(with)) // of other servers, then those of them that are held
		exposed = make([]string, 0, len(s.tools)+len(with))
		reasons []string // of those that are held
		names   = nameUses{uses: map[string]int{}}
	)
	for i, t := range s.tools {
		if servers[t.Server] {
			names.watch(t)
			continue
		}
		tools, exposed = append(tools, t), append(exposed, s.exposed[i])
	}
	seen := len(tools)
	for _, h := range s.held {
		if servers[h.tool.Server] {
			names.watch(h.tool)
			continue
		}
		tools, exposed, reasons = append(tools, h.tool), append(exposed, h.exposed), append(reasons, h.why)
	}
	if oneServer(s.tools, heldTools(s.held)) || oneServer(tools, with) { // names then have no server
		held := map[*Tool]string{}
		for k, reason := range reasons {
			held[tools[seen+k]] = reason
		}
		return NewSet(slices.Concat(tools, with), "").Withhold(func(t *Tool) string {
			if servers[t.Server] {
				return why(t)
			}
			return held[t]
		})
	}
	for _, t := range with {
		names.watch(t)
	}
	// A name that came or went changes those of other tools that would have the same.
	var same []int
	for i, t := range tools {
		if names.count(t) {
			same = append(same, i)
		}
	}
	for _, t := range with {
		names.count(t)
	}
	for _, i := range same {
		exposed[i] = names.exposed(tools[i])
	}
	var held []heldTool
	for k, reason := range reasons {
		held = append(held, heldTool{tools[seen+k], exposed[seen+k], reason})
	}
	return merge(tools[:seen], exposed[:seen], with, names.exposed, why, held)
}

// merge returns the set of tools and of those of with, both sorted, for which why gives no reason. The others join
// held.
func merge(tools []*Tool, exposed []string, with []*Tool, name, why func(*Tool) string, held []heldTool) *Set {
	all, names := make([]*Tool, 0, len(tools)+len(with)), make([]string, 0, len(tools)+len(with))
	from := 0
	for _, t := range with {
		if reason := why(t); reason != "" {
			held = append(held, heldTool{t, name(t), reason})
			continue
		}
		at, _ := slices.BinarySearchFunc(tools[from:], t, compareTools)
		all, names = append(all, tools[from:from+at]...), append(names, exposed[from:from+at]...)
		all, names, from = append(all, t), append(names, name(t)), from+at
	}
	out := newSet(append(all, tools[from:]...), append(names, exposed[from:]...))
	slices.SortFunc(held, func(a, b heldTool) int { return compareTools(a.tool, b.tool) })
	out.held = held
	return out
}

// Known returns all tools, those that are held as well, in no order.
func (s *Set) Known() []*Tool { return slices.Concat(s.tools, heldTools(s.held)) }

func heldTools(held []heldTool) []*Tool {
	out := make([]*Tool, len(held))
	for i, h := range held {
		out[i] = h.tool
	}
	return out
}

// nameUses counts how many tools would have each of some names.
type nameUses struct {
	uses    map[string]int
	lengths [256]bool // of these names, as far as an index reaches
}

// watch counts a tool's name from now on.
func (u *nameUses) watch(t *Tool) {
	name := portableName(fillTemplate(DefaultTemplate, t))
	u.uses[name] += 0
	u.lengths[min(len(name), len(u.lengths)-1)] = true
}

// count counts a tool if its name is one of those that are watched, which it reports.
func (u *nameUses) count(t *Tool) bool {
	// A name of only such bytes as all clients take is as long as its parts; of others it is at most as long.
	length := min(len(t.Server)+len("__")+len(t.Name), len(u.lengths)-1)
	if !u.lengths[length] && isPlain(t.Server) && isPlain(t.Name) {
		return false
	}
	name := portableName(fillTemplate(DefaultTemplate, t))
	if _, ok := u.uses[name]; !ok {
		return false
	}
	u.uses[name]++
	return true
}

// isPlain reports whether all clients take each character of a name.
func isPlain(s string) bool {
	for i := range len(s) {
		if !isPortable(rune(s[i])) {
			return false
		}
	}
	return true
}

// exposed returns the exposed name of a tool whose name was counted.
func (u *nameUses) exposed(t *Tool) string {
	return exposedName(portableName(fillTemplate(DefaultTemplate, t)), t, u.uses)
}
