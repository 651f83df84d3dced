package tool

// Stranger is a tool that is like nothing that is known of kinds of tools, so that only its own words find it.
type Stranger struct {
	ID   ID      `json:"tool"`
	Like float64 `json:"like"` // how like the nearest known kind is, 0 to 1
}

// Proposal is what somebody, most likely a language model, wrote to help a tool being found. It is a claim about the
// tool and nothing more: what is wrong with it is reported, and it counts only once it was checked.
type Proposal struct {
	Tool       ID       `json:"tool" yaml:"tool"`
	Utterances []string `json:"utterances" yaml:"utterances"`                 // requests that should find the tool
	Synonyms   []string `json:"synonyms,omitempty" yaml:"synonyms,omitempty"` // other words for what it works on
	// By is who wrote it, as far as that is known: a name that a client or a model gives itself. "" means a person, or
	// that it is not known.
	By string `json:"by,omitempty" yaml:"by,omitempty"`
}
