package enrich

import "tooldex/tool"

// Enrichment is a proposal that was checked and is kept.
type Enrichment struct {
	tool.Proposal `yaml:",inline"`
	// it waits for somebody to approve it, and finds nothing until then
	Pending bool `json:"pending,omitempty" yaml:"pending,omitempty"`
}
