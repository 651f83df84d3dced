package tool

import "time"

// Severity says how sure and how bad a suspicion is.
type Severity string

// The severities.
const (
	Medium Severity = "medium" // such texts are seldom honest
	High   Severity = "high"   // no honest tool needs it
)

// Suspicion is one thing in a tool that looks like an attack on the model that reads it, or on the person who trusts
// it.
type Suspicion struct {
	Rule     string   `json:"rule"` // its ID, one word
	Severity Severity `json:"severity"`
	Field    string   `json:"field"` // as in JSON: "description", "inputSchema.properties.note.description"
	// of the field, on one line, with what is invisible written out; some 160 characters at most
	Excerpt string `json:"excerpt"`
	Why     string `json:"why"`
	Remedy  string `json:"remedy"`
}

// Change is one field that is not the same in two forms of a tool.
type Change struct {
	Field string `json:"field"`         // as in JSON
	Was   string `json:"was,omitempty"` // "" if it was not there
	Now   string `json:"now,omitempty"` // "" if it is not there any more
}

// Review is a tool that somebody should look at: it is held, or served with a warning.
type Review struct {
	ID    ID     `json:"id"`
	Held  bool   `json:"held"` // it is neither found, nor listed, nor called until it is approved
	Why   string `json:"why"`  // in one sentence, of our own words
	Form  string `json:"form"` // names this form of the tool: an approval of it is none of another
	Since string `json:"since,omitempty"`
	// Suspicions are of the form that its server offers now; Changes from the one that was accepted, none if none was.
	Suspicions []Suspicion `json:"suspicions,omitempty"`
	Changes    []Change    `json:"changes,omitempty"`
}

// Approval names a tool, and the form of it that was looked at.
type Approval struct {
	ID   ID     `json:"id"`
	Form string `json:"form,omitempty"` // of a Review; "" for the one that there is now, whatever it is
}

// Stamp writes a time as a Review has it.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// heldTool is a tool that a set knows and keeps back.
type heldTool struct {
	tool    *Tool
	exposed string
	why     string
}

// Withhold returns the set without the tools for which why gives a reason, the others under the names that they have in
// s. What is held is as if it were not there, but that Resolve says so to whoever names it.
func (s *Set) Withhold(why func(*Tool) string) *Set {
	var held []heldTool
	is := map[*Tool]bool{}
	for i, t := range s.tools {
		if reason := why(t); reason != "" {
			held = append(held, heldTool{t, s.exposed[i], reason})
			is[t] = true
		}
	}
	if len(held) == 0 {
		return s
	}
	out := s.Subset(func(t *Tool) bool { return !is[t] })
	out.held = append(out.held, held...)
	return out
}

// refused returns the error for a name that spells a tool which is held, nil if it spells none.
func (s *Set) refused(name string) error {
	key := Fold(name)
	for _, h := range s.held {
		plain := Fold(h.tool.Name)
		if name == h.exposed || name == string(h.tool.ID()) || key == plain || key == Fold(h.tool.Server)+plain ||
			key == "mcp"+Fold(h.tool.Server)+plain {
			return WithheldError(h.tool.ID(), h.why)
		}
	}
	return nil
}

// Withheld returns why a tool is held, "" if it is not.
func (s *Set) Withheld(id ID) string {
	for _, h := range s.held {
		if h.tool.ID() == id {
			return h.why
		}
	}
	return ""
}

// WithheldError is what a call of a tool that is held is answered with. Why is of our own words: nothing that the tool
// says reaches the model by it.
func WithheldError(id ID, why string) error {
	return &Error{
		Code: Denied, Op: "resolve", Msg: "tool " + quote(string(id)) + " is held: " + why,
		Hint: `it cannot be used until the person who runs tooldex has looked at it ("tooldex servers review") and approved it; do not try to get around this`,
	}
}
