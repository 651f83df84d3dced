package enrich

import "tooldex/tool"

// Enrichment is a stored proposal that passed the checks.
type Enrichment struct {
	tool.Proposal `yaml:",inline"`
	// Pending means that it waits for approval, and has no effect on searches until then.
	Pending bool `json:"pending,omitempty" yaml:"pending,omitempty"`
}
