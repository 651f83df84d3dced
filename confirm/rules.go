package confirm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tooldex/tool"
)

// Mode says which tools need confirmation because of what their servers say about them.
type Mode string

// The modes. Each includes the tools of the one before.
const (
	Off       Mode = "off"       // none; the default
	Annotated Mode = "annotated" // tools annotated as destructive
	// Destructive includes tools without an annotation: MCP's default is that a tool is destructive.
	Destructive Mode = "destructive"
	Writes      Mode = "writes" // all tools not annotated as read-only
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{Off, Annotated, Destructive, Writes} }

// Check returns an error of code Invalid if m is no mode. "" is Off.
func (m Mode) Check() error {
	if m == "" || slices.Contains(Modes(), m) {
		return nil
	}
	return &tool.Error{Code: tool.Invalid, Op: "confirm", Msg: fmt.Sprintf("unknown confirmation mode %q",
		string(m)), Hint: "use off, annotated, destructive or writes"}
}

// Rules say which tools need confirmation. By the zero Rules none does.
type Rules struct {
	Mode Mode // "" means Off
	// Tools need confirmation in every Mode. Those of Except never do, unless they are among Tools. Both hold
	// patterns of IDs, such as "github/delete_*", or of names on any server, such as "delete_*"; a star stands for any
	// characters.
	Tools, Except []string
	// Within is how long a person has to answer; zero means DefaultTime.
	Within time.Duration
}

// Bounds of the time to answer. A client that is asked by a result gets no more than the most either.
const (
	LeastTime   = 5 * time.Second
	DefaultTime = 2 * time.Minute
	MostTime    = 5 * time.Minute
)

// None reports whether no tool needs confirmation.
func (r Rules) None() bool { return (r.Mode == Off || r.Mode == "") && len(r.Tools) == 0 }

// Needs reports whether calls of t need confirmation.
func (r Rules) Needs(t *tool.Tool) bool {
	switch {
	case MatchesAny(r.Tools, t):
		return true
	case MatchesAny(r.Except, t), t.ReadOnly():
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

// MatchesAny reports whether one of the patterns matches the tool's ID or, if it has no slash, its name.
func MatchesAny(patterns []string, t *tool.Tool) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if strings.Contains(p, "/") {
			return MatchPattern(p, string(t.ID()))
		}
		return MatchPattern(p, t.Name)
	})
}

// MatchPattern reports whether the pattern, in which a star stands for any characters, matches all of s.
func MatchPattern(pattern, s string) bool {
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

// Unconfirmed is in the chain of errors, of code Denied, that refuse a call because no person confirmed it. It says why
// not.
type Unconfirmed string

// Why a call was not confirmed.
const (
	Unasked    Unconfirmed = "unasked"    // the client cannot be asked, and did not confirm by itself
	Declined   Unconfirmed = "declined"   // the answer was no
	Dismissed  Unconfirmed = "dismissed"  // the question was closed without an answer
	Unanswered Unconfirmed = "unanswered" // no answer came in time, or none that can be read
)

// Error returns the reason.
func (u Unconfirmed) Error() string { return "the call is not confirmed: " + string(u) }
