package confirm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tooldex/tool"
)

// Mode says which tools need confirmation for what their servers say of them.
type Mode string

// The modes, each with the tools of the one before, too.
const (
	Off       Mode = "off"       // none; the default
	Annotated Mode = "annotated" // those that are said to be destructive
	// those that are not said to be otherwise: MCP takes a tool for destructive that does not say
	Destructive Mode = "destructive"
	Writes      Mode = "writes" // all that are not said to be read-only
)

// Modes lists them all.
func Modes() []Mode { return []Mode{Off, Annotated, Destructive, Writes} }

// Check returns an error of code Invalid if m is no mode. "" is Off.
func (m Mode) Check() error {
	if m == "" || slices.Contains(Modes(), m) {
		return nil
	}
	return &tool.Error{Code: tool.Invalid, Op: "confirm", Msg: fmt.Sprintf("there is no way to confirm called %q",
		string(m)), Hint: "use off, annotated, destructive or writes"}
}

// Rules say which tools need confirmation. The zero Rules say that none does.
type Rules struct {
	Mode Mode // "" means Off
	// Tools need it whatever Mode says, and those of Except never do, unless they are among Tools. Both hold patterns
	// of ids, as "github/delete_*", or of names on any server, as "delete_*": a star stands for any characters.
	Tools, Except []string
	// Within is how long a person has for an answer; zero means DefaultTime.
	Within time.Duration
}

// How long a person may have for an answer. Clients that are asked by a result are waited for no longer than the most.
const (
	LeastTime   = 5 * time.Second
	DefaultTime = 2 * time.Minute
	MostTime    = 5 * time.Minute
)

// None reports whether no tool needs confirmation.
func (r Rules) None() bool { return (r.Mode == Off || r.Mode == "") && len(r.Tools) == 0 }

// Needs reports whether a call of t needs to be confirmed.
func (r Rules) Needs(t *tool.Tool) bool {
	switch {
	case matchesAny(r.Tools, t):
		return true
	case matchesAny(r.Except, t), t.ReadOnly():
		return false
	}
	var hint *bool
	if t.Annotations != nil {
		hint = t.Annotations.DestructiveHint
	}
	switch r.Mode {
	case Annotated:
		return hint != nil && *hint
	case Destructive:
		return hint == nil || *hint
	case Writes:
		return true
	}
	return false
}

func matchesAny(patterns []string, t *tool.Tool) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if strings.Contains(p, "/") {
			return matchPattern(p, string(t.ID()))
		}
		return matchPattern(p, t.Name)
	})
}

// matchPattern reports whether all of s is like the pattern.
func matchPattern(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}
