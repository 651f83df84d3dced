package selection

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tooldex/tool"
)

// Preferred is what a profile prefers at one moment. It does not change, and a nil one prefers nothing.
type Preferred struct {
	Preferences
	Version uint64 // of what is stored; zero if nothing is
	always  map[tool.ID]bool
	never   map[tool.ID]bool
	unseen  map[string]bool // categories, folded
}

// newPreferred makes lookups of preferences; categories are compared without regard to case.
func newPreferred(p Preferences, version uint64) *Preferred {
	out := &Preferred{
		Preferences: p, Version: version, always: map[tool.ID]bool{}, never: map[tool.ID]bool{},
		unseen: map[string]bool{},
	}
	for _, id := range p.AlwaysInclude {
		out.always[tool.ID(id)] = true
	}
	for _, id := range p.NeverInclude {
		out.never[tool.ID(id)] = true
	}
	for name, use := range p.Categories {
		if use == CategoryNever {
			out.unseen[strings.ToLower(name)] = true
		}
	}
	return out
}

// Hides reports whether a tool is hidden.
func (p *Preferred) Hides(t *tool.Tool) bool {
	return p.hidesAnything() && (p.never[t.ID()] || len(p.unseen) > 0 && p.unseen[strings.ToLower(categoryOf(t))])
}

// hidesAnything reports whether any tool or category is hidden.
func (p *Preferred) hidesAnything() bool { return p != nil && len(p.never)+len(p.unseen) > 0 }

// includesAnything reports whether any tool is always included.
func (p *Preferred) includesAnything() bool { return p != nil && len(p.always) > 0 }

// markAlways returns t, or a copy with Always set if the tool is always included.
func (p *Preferred) markAlways(t *tool.Tool) *tool.Tool {
	if t.Always || !p.includesAnything() || !p.always[t.ID()] {
		return t
	}
	marked := *t
	marked.Always = true
	return &marked
}

// alwaysIncludes reports whether tools of this category are in every selection.
func (p *Preferred) alwaysIncludes(category string) bool {
	if p == nil {
		return false
	}
	for name, use := range p.Categories {
		if use == CategoryAlways && strings.EqualFold(name, category) {
			return true
		}
	}
	return false
}

// categoryOf returns the category of a tool, "other" if it has none.
func categoryOf(t *tool.Tool) string { return cmp.Or(t.Category, "other") }

// The most that preferences may say.
const (
	maxPreferred  = 1000 // tools or categories of each list
	maxLimitTools = 1000
	maxLimitToken = 10_000_000
)

// Check returns preferences in the form in which they are kept: tools by their IDs, without repetitions. A tool that
// set does not have is taken by its ID alone, since its server may come back. The error is of code Invalid and names
// what is wrong.
func Check(p Preferences, set *tool.Set) (Preferences, error) {
	switch p.Mode {
	case "", ModeAuto, ModeManual, ModeAll:
	default:
		return p, invalidPreference("mode", "is none of auto, manual, all")
	}
	if p.MaxTools < 0 || p.MaxTools > maxLimitTools {
		return p, invalidPreference("maxTools", fmt.Sprintf("is not from 0 to %d", maxLimitTools))
	}
	if p.TokenThreshold < 0 || p.TokenThreshold > maxLimitToken {
		return p, invalidPreference("tokenThreshold", fmt.Sprintf("is not from 0 to %d", maxLimitToken))
	}
	if len(p.Categories) > maxPreferred {
		return p, invalidPreference("categories", fmt.Sprintf("names more than %d", maxPreferred))
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.Categories)) {
		switch p.Categories[name] {
		case CategoryAlways, CategoryOnDemand, CategoryNever:
		default:
			return p, invalidPreference("categories", fmt.Sprintf("has something else than always, on-demand or never for %.80q",
				name))
		}
		if name == "" || len(name) > 200 || seen[strings.ToLower(name)] {
			return p, invalidPreference("categories", fmt.Sprintf("holds a name that is empty, too long or given twice: %.80q",
				name))
		}
		seen[strings.ToLower(name)] = true
	}
	var err error
	if p.AlwaysInclude, err = toolIDs("alwaysInclude", p.AlwaysInclude, set); err != nil {
		return p, err
	}
	if p.NeverInclude, err = toolIDs("neverInclude", p.NeverInclude, set); err != nil {
		return p, err
	}
	for _, id := range p.AlwaysInclude {
		if slices.Contains(p.NeverInclude, id) {
			return p, invalidPreference("alwaysInclude", "and neverInclude both have "+id)
		}
	}
	return p, nil
}

// toolIDs resolves names.
func toolIDs(field string, names []string, set *tool.Set) ([]string, error) {
	if len(names) > maxPreferred {
		return nil, invalidPreference(field, fmt.Sprintf("names more than %d tools", maxPreferred))
	}
	var out []string
	for _, name := range names {
		id := tool.ID(name)
		if t, err := set.Resolve(name); err == nil {
			id = t.ID()
		} else if _, bad := tool.ParseID(name); bad != nil || len(name) > 500 {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "check preferences", Msg: field + ": " + hintOf(err),
				Hint: "a tool that is not there now is named as server/name",
			}
		}
		if !slices.Contains(out, string(id)) {
			out = append(out, string(id))
		}
	}
	return out, nil
}

// hintOf is what an error says to an agent.
func hintOf(err error) string {
	var known *tool.Error
	if errors.As(err, &known) {
		return known.Msg
	}
	return err.Error()
}

// invalidPreference returns the Invalid error for one field of preferences.
func invalidPreference(field, what string) error {
	return &tool.Error{Code: tool.Invalid, Op: "check", Msg: field + " " + what, Hint: "leave it out for the default"}
}
