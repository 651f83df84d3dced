package tool

import "encoding/json"

// Skill is a folder of instructions for models that people keep beside the tools. It is read by its URI and never
// called, and counts as no tool.
type Skill struct {
	Name        string `json:"name"`
	URI         string `json:"uri"` // of its SKILL.md
	Description string `json:"description,omitempty"`
	Warning     string `json:"warning,omitempty"` // why it looks suspicious; "" if it does not
	// 0 to 1: the calibrated probability that it serves, as of a Hit; 0 in a list
	Score float64 `json:"score,omitempty"`
}

// SkillFile is a file of a skill, as it is served.
type SkillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and 64 hexadecimal digits
	Size   int64  `json:"size"`   // bytes
}

// Skills are the skills that a caller may see. Its methods are safe for concurrent use.
type Skills interface {
	// List returns the skills of this moment, by name.
	List() []Skill
	// Entry returns a skill by the URI of its SKILL.md, with its front matter, which is nil for one that clients would
	// refuse, and its files. The error is NotFound if there is none.
	Entry(uri string) (s Skill, frontMatter json.RawMessage, files []SkillFile, err error)
	// Read returns the result of resources/read for a URI. The error is NotFound for one that is no skill's.
	Read(uri string) (json.RawMessage, error)
}
