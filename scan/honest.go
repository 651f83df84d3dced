package scan

import "strings"

// exhibits reports whether a tool shows attacks because it detects them: whether its name says that it inspects, and
// its name or first sentence what it looks for. Such tools quote attacks in their descriptions and examples.
func (w *work) exhibits() bool {
	g := lexicon()
	return w.named.intersects(&g.inspects) && w.stated.intersects(&g.attacks)
}

// isExhibit reports whether a finding of a tool that exhibits attacks is one of them: an example, or a quotation.
func isExhibit(f Finding) bool {
	if isAny(f.Rule, "mixed", "lookalike") {
		return true
	}
	return strings.Contains(f.Field, ".examples") || strings.Contains(f.Field, ".enum") ||
		f.Rule != "hidden" && strings.ContainsAny(f.Excerpt, "\"“«")
}

// asksPerson reports whether a sentence has the model ask a person, without a denial: "check with the user before you
// upload personal data". What is done openly is seldom an attack.
func asksPerson(words []token) bool {
	g, asked := lexicon(), 0
	for i, t := range words {
		switch {
		case t.intersects(&g.denial):
			return false
		case t.intersects(&g.consults):
			asked = i + 1
		case asked > 0 && i-asked < 3 && t.intersects(&g.persons):
			return true
		}
	}
	return false
}
