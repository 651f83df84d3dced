package scan

import "tooldex/tool"

// Change is one field that differs between two forms of a tool.
type Change struct {
	Field string `json:"field"`         // its path, as in Finding
	Was   string `json:"was,omitempty"` // "" if the field was absent
	Now   string `json:"now,omitempty"` // "" if the field is gone
}

// Review is a tool, or something else that a server offers, that a person should look at: it is held, or served with a
// warning.
type Review struct {
	ID    tool.ID `json:"id"`
	Kind  string  `json:"kind,omitempty"` // "prompt", "resource", "template" or "server"; "" for a tool
	Held  bool    `json:"held"`           // until it is approved, it is not found, listed or called
	Why   string  `json:"why"`            // one sentence, which quotes nothing of the tool
	Form  string  `json:"form"`           // identifies this form of the tool: an approval covers this form only
	Since string  `json:"since,omitempty"`
	// Suspicions are those of the form that the server offers now. Changes are those since the form that was accepted;
	// empty if none was.
	Suspicions []Finding `json:"suspicions,omitempty"`
	Changes    []Change  `json:"changes,omitempty"`
}

// Approval names a tool, and the form of it that a person looked at.
type Approval struct {
	ID   tool.ID `json:"id"`
	Kind string  `json:"kind,omitempty"` // as in a Review
	Form string  `json:"form,omitempty"` // of a Review; "" approves the current form, whatever it is
}

// Label names what is reviewed to people: its ID, after its kind if it is no tool.
func (r Review) Label() string {
	if r.Kind == "" {
		return string(r.ID)
	}
	return r.Kind + " " + string(r.ID)
}

// CopyFinding returns the finding of a tool that is nearly a copy of another server's.
func CopyFinding(of tool.ID) Finding {
	return Finding{
		Rule: "copy", Severity: Medium, Field: "description", Excerpt: excerptOf("the text of " + string(of)),
		Why:    "it is nearly a copy of another server's tool, and its server has copies of several servers' tools",
		Remedy: ask,
	}
}
