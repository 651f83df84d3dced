package tool

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
