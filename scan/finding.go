package scan

import "slices"

// Severity grades a suspicion: how likely it is, and how much harm it can do.
type Severity string

// The severities.
const (
	Low    Severity = "low"    // honest tools have such texts; a person should look, and no model is warned
	Medium Severity = "medium" // honest tools seldom have such texts
	High   Severity = "high"   // no honest tool needs such texts
)

// Finding is one thing in a tool that looks like an attack on the model that reads it, or on the person who trusts
// it.
type Finding struct {
	Rule     string   `json:"rule"` // its ID, one word
	Severity Severity `json:"severity"`
	Field    string   `json:"field"` // as in JSON: "description", "inputSchema.properties.note.description"
	// Excerpt quotes the field on one line, with invisible characters written out as <U+200B>. It has 160 characters at
	// most, and ends in "…" where it was cut. It is the server's text: it must not be shown to a model as anything
	// else.
	Excerpt string `json:"excerpt"`
	Why     string `json:"why"`    // as in the Rule
	Remedy  string `json:"remedy"` // as in the Rule
}

// Grave reports whether one of the findings is more than a low one.
func Grave(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Severity != Low })
}
