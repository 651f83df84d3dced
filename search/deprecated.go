package search

import (
	"math"
	"slices"
	"strings"

	"tooldex/tool"
)

// deprecatedFactor multiplies the score of a deprecated tool.
const deprecatedFactor = .94

// deprecation is a deprecated tool, and the tool that its server names in its place, -1 if that is not known.
type deprecation struct{ old, replacement int }

// findDeprecations returns the enabled deprecated tools of a set, with the tools that replace them.
func findDeprecations(set *tool.Set) (out []deprecation) {
	for i, t := range set.All() {
		if t.Deprecated != "" && !t.Disabled {
			out = append(out, deprecation{i, replacementOf(set, t)})
		}
	}
	return out
}

// replacementVerbs are words behind which a message names a tool even where it is written like an ordinary word.
var replacementVerbs = []string{"use", "see", "prefer", "call", "by", "of", "to", "with"}

// replacementOf returns the tool that t's message names: one of its server that is not deprecated, or one that is named
// together with its server. It returns -1 if there is none, or several.
func replacementOf(set *tool.Set, t *tool.Tool) int {
	last := ""
	for _, word := range strings.Fields(t.Deprecated) {
		found := toolsNamedBy(set, word)
		bare := strings.TrimFunc(word, isNameSeparator)
		if len(found) == 0 && slices.Contains(replacementVerbs, last) {
			found = set.Spelled(bare)
		}
		last = strings.ToLower(bare)
		// A message names tools of its own server by their plain names; those of other servers must be spelled in full,
		// to exclude chance.
		own := filterTools(set, found, func(one *tool.Tool) bool {
			return one.Server == t.Server && one.Name != t.Name && one.Deprecated == "" && !one.Disabled
		})
		if len(own) == 0 {
			own = filterTools(set, found, func(one *tool.Tool) bool {
				full := strings.EqualFold(bare, string(one.ID())) || strings.EqualFold(bare, set.Exposed(one.ID()))
				return one.Server != t.Server && full && one.Deprecated == "" && !one.Disabled
			})
		}
		if len(own) == 1 {
			return own[0]
		}
	}
	return -1
}

// lowerDeprecated lowers the scores of deprecated tools, and puts what replaces one right above it: a request for the
// old tool needs the new one. A tool that the request names as only names are written stays first: its caller knows it.
func (s *scratch) lowerDeprecated(all []deprecation, text string) {
	for _, d := range all {
		before := s.fused[d.old]
		if before >= exactBonus {
			if strings.ContainsAny(text, "_-.:/`") || isCamelCase(text) {
				continue
			}
			before -= exactBonus // of a name that is ordinary words, such as read file
		}
		if !s.allowed[d.old] {
			continue
		}
		s.fused[d.old] = min(before, before*deprecatedFactor)
		if d.replacement < 0 || !s.allowed[d.replacement] {
			continue
		}
		after := max(s.fused[d.replacement], before)
		if after <= s.fused[d.old] {
			// just above, so that nothing comes between the two
			after = math.Nextafter32(s.fused[d.old], math.MaxFloat32)
		}
		s.fused[d.replacement] = after
	}
}
