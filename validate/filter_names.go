package validate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// maxNamed is how many servers or categories an error lists, and maxNameBytes how much of each name.
const (
	maxNamed     = 20
	maxNameBytes = 80
)

// FilterNames returns an Invalid error for the first server or category of a filter of which there are no tools in set,
// with the nearest name and those that exist. What Allow hides does not exist for the caller: the error is the same for
// a hidden name and for an invented one. isServer reports whether a server without tools may be named all the same, as
// one whose tools are not known yet; nil for none.
func FilterNames(set *tool.Set, f *tool.Filter, isServer func(name string) bool) error {
	for _, name := range f.Servers {
		if !hasServer(set, f, name) && (isServer == nil || !isServer(name)) {
			return unknownName("server", name, existingNames(set, f, func(t *tool.Tool) string { return t.Server }))
		}
	}
	categoryOf := func(t *tool.Tool) string { return cmp.Or(t.Category, "other") }
	for _, name := range f.Categories {
		if !slices.ContainsFunc(set.All(), func(t *tool.Tool) bool {
			return strings.EqualFold(categoryOf(t), name) && (f.Allow == nil || f.Allow(t))
		}) {
			return unknownName("category", name, existingNames(set, f, categoryOf))
		}
	}
	return nil
}

// hasServer reports whether the caller may know of a tool of a server. The tools of one server follow each other.
func hasServer(set *tool.Set, f *tool.Filter, name string) bool {
	all := set.All()
	first, _ := slices.BinarySearchFunc(all, tool.MakeID(name, ""), func(t *tool.Tool, id tool.ID) int {
		return cmp.Compare(t.ID(), id)
	})
	for _, t := range all[first:] {
		if t.Server != name {
			break
		}
		if f.Allow == nil || f.Allow(t) {
			return true
		}
	}
	return false
}

// existingNames returns the names of all tools that the caller may know of, disabled ones included.
func existingNames(set *tool.Set, f *tool.Filter, nameOf func(*tool.Tool) string) map[string]bool {
	out := map[string]bool{}
	for _, t := range set.All() {
		if name := nameOf(t); !out[name] && (f.Allow == nil || f.Allow(t)) {
			out[name] = true
		}
	}
	return out
}

// unknownName returns the error for a name that is not among those that exist.
func unknownName(what, name string, existing map[string]bool) error {
	names := slices.Sorted(maps.Keys(existing))
	hint := "there are none; leave the filter out"
	if len(names) > 0 {
		short := make([]string, 0, maxNamed)
		for _, one := range names[:min(len(names), maxNamed)] {
			short = append(short, sanitize.Clip(one, maxNameBytes))
		}
		hint = "choose from " + strings.Join(short, ", ")
		if more := len(names) - len(short); more > 0 {
			hint += fmt.Sprintf(" and %d more", more)
		}
		if near := Nearest(name, names); near != "" {
			hint = "did you mean " + sanitize.Clip(near, maxNameBytes) + "? Otherwise " + hint
		}
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "filter", Hint: hint,
		Msg: fmt.Sprintf("there are no tools of a %s %q", what, sanitize.Clip(name, maxNameBytes)),
	}
}
