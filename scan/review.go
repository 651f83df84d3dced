package scan

import "tooldex/tool"

// Change is one field that is not the same in two forms of a tool.
type Change struct {
	Field string `json:"field"`         // as in JSON
	Was   string `json:"was,omitempty"` // "" if it was not there
	Now   string `json:"now,omitempty"` // "" if it is not there any more
}

// Review is a tool that somebody should look at: it is held, or served with a warning.
type Review struct {
	ID    tool.ID `json:"id"`
	Held  bool    `json:"held"` // it is neither found, nor listed, nor called until it is approved
	Why   string  `json:"why"`  // in one sentence, of our own words
	Form  string  `json:"form"` // names this form of the tool: an approval of it is none of another
	Since string  `json:"since,omitempty"`
	// Suspicions are of the form that its server offers now; Changes from the one that was accepted, none if none was.
	Suspicions []Finding `json:"suspicions,omitempty"`
	Changes    []Change  `json:"changes,omitempty"`
}

// Approval names a tool, and the form of it that was looked at.
type Approval struct {
	ID   tool.ID `json:"id"`
	Form string  `json:"form,omitempty"` // of a Review; "" for the one that there is now, whatever it is
}
