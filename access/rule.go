package access

import (
	"fmt"
	"slices"
	"strings"

	"tooldex/tool"
)

// rule grants a view to the tokens of an authorization server that meet a condition.
type rule struct {
	claim, value string // the claim holds the value; the claim "scope" is the token's scopes
	view         View
}

// ruleHint goes with every error about a rule.
const ruleHint = "write scope:NAME or claim:NAME:VALUE, and then all, read-only or profile:NAME, for example: " +
	"scope:tools.read read-only"

// parseRule reads one line: a condition, and the view it grants.
func parseRule(text string) (rule, error) {
	bad := func(why string) (rule, error) {
		return rule{}, &tool.Error{
			Code: tool.Invalid, Op: "read grants", Msg: fmt.Sprintf("%q %s", text, why),
			Hint: ruleHint,
		}
	}
	words := strings.Fields(text)
	if len(words) < 2 {
		return bad("is not a condition and what it grants")
	}
	var out rule
	kind, rest, _ := strings.Cut(words[0], ":")
	switch kind {
	case "scope":
		out.claim, out.value = "scope", rest
	case "claim":
		out.claim, out.value, _ = strings.Cut(rest, ":")
	}
	if out.claim == "" || out.value == "" {
		return bad("does not begin with a condition")
	}
	for _, word := range words[1:] {
		name, isProfile := strings.CutPrefix(word, "profile:")
		switch {
		case isProfile && name != "" && out.view.Profile == "":
			out.view.Profile = name
		case word == "read-only":
			out.view.ReadOnly = true
		case word == "all" && len(words) == 2:
		default:
			return bad(fmt.Sprintf("gives %q", word))
		}
	}
	return out, nil
}

// matchesClaims reports whether a token meets the condition.
func (r rule) matchesClaims(c *claims) bool {
	if r.claim == "scope" {
		return slices.Contains(c.scopes, r.value)
	}
	switch v := c.all[r.claim].(type) {
	case string:
		return v == r.value
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return one == r.value })
	}
	return false
}
