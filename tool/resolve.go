package tool

import (
	"cmp"
	"slices"
	"strings"
)

// maxChoices bounds how many tools an error offers instead.
const maxChoices = 5

// Resolve finds the tool that a client means by name: an ID, an exposed name, a name in a client's own decoration
// (mcp__server__name, server:name, server.name, server/name), or a tool's own name where only one tool has it; case and
// the choice of separators do not matter. It returns a NotFound error that names the nearest tools, an Invalid one
// that names the choices where several tools are meant, or a Denied one that says why the tool is held.
func (s *Set) Resolve(name string) (*Tool, error) {
	matches := s.Spelled(name)
	switch len(matches) {
	case 1:
		return s.tools[matches[0]], nil
	case 0:
		if err := s.heldError(name); err != nil {
			return nil, err
		}
		return nil, s.notFound(name)
	}
	choices := make([]string, 0, maxChoices)
	for _, i := range matches[:min(len(matches), maxChoices)] {
		choices = append(choices, s.exposed[i])
	}
	return nil, &Error{
		Code: Invalid, Op: "resolve", Msg: "tool name " + quoteName(name) + " is ambiguous",
		Hint: "use one of: " + strings.Join(choices, ", "),
	}
}

// Spelled returns the positions in All of the tools that name spells in one of the forms that Resolve takes: exactly
// one for an ID or an exposed name, all that have it for a tool's own name, none for anything else.
func (s *Set) Spelled(name string) []int {
	if i, ok := s.find(ID(name)); ok {
		return []int{i}
	}
	key := Fold(name)
	if key == "" || s.lazy == nil {
		return nil
	}
	names := s.lazy.names()
	if matches := names.exposed.find(name); len(matches) > 0 {
		return matches[len(matches)-1:]
	}
	if matches := names.plain.find(key); len(matches) > 0 {
		return matches
	}
	if matches := names.full.find(key); len(matches) > 0 {
		return matches
	}
	if bare, ok := strings.CutPrefix(key, "mcp"); ok {
		return names.full.find(bare)
	}
	return nil
}

// notFound returns the NotFound error for a name, with the three nearest names as the hint.
func (s *Set) notFound(name string) error {
	e := &Error{
		Code: NotFound, Op: "resolve", Msg: "no tool is named " + quoteName(name),
		Hint: "search_tools finds tools by what they do",
	}
	if near := s.nearestNames(name, 3); len(near) > 0 {
		e.Hint = "nearest: " + strings.Join(near, ", ") + "; search_tools finds tools by what they do"
	}
	return e
}

// nearestNames returns the exposed names of the n enabled tools whose names are most like name, best first.
func (s *Set) nearestNames(name string, n int) []string {
	type scored struct {
		i    int
		like float64
	}
	grams := trigramsOf(Fold(name))
	var found []scored
	for i, t := range s.tools {
		if t.Disabled {
			continue
		}
		like := max(diceOverlap(grams, trigramsOf(Fold(t.Name))), diceOverlap(grams, trigramsOf(Fold(s.exposed[i]))))
		if like > 0.2 {
			found = append(found, scored{i, like})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.like, a.like) })
	out := make([]string, 0, n)
	for _, f := range found[:min(n, len(found))] {
		out = append(out, s.exposed[f.i])
	}
	return out
}

// trigramsOf returns the runs of three bytes of s, with marks for its beginning and end.
func trigramsOf(s string) map[string]bool {
	s = "^" + s + "$"
	out := make(map[string]bool, len(s))
	for i := 0; i+3 <= len(s); i++ {
		out[s[i:i+3]] = true
	}
	return out
}

// diceOverlap is the Dice coefficient of two sets of trigrams.
func diceOverlap(a, b map[string]bool) float64 {
	both := 0
	for g := range a {
		if b[g] {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}
