package scan

// Severity says how sure and how bad a suspicion is.
type Severity string

// The severities.
const (
	Medium Severity = "medium" // such texts are seldom honest
	High   Severity = "high"   // no honest tool needs it
)

// Finding is one thing in a tool that looks like an attack on the model that reads it, or on the person who trusts
// it.
type Finding struct {
	Rule     string   `json:"rule"` // its ID, one word
	Severity Severity `json:"severity"`
	Field    string   `json:"field"` // as in JSON: "description", "inputSchema.properties.note.description"
	// of the field, on one line, with what is invisible written out; some 160 characters at most
	Excerpt string `json:"excerpt"`
	Why     string `json:"why"`
	Remedy  string `json:"remedy"`
}
