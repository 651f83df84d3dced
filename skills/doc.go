// Package skills reads skills from folders: instructions for models that people keep in files beside their tools.
//
// A skill is a folder with a SKILL.md, whose YAML front matter has at least a name and a description, and with further
// files that the instructions refer to. https://agentskills.io describes the format. [Read] reads the SKILL.md of each
// skill of some folders; a skill that cannot be used becomes a [Problem], and the others are served. Files beside a
// SKILL.md are read when somebody asks for them.
//
// # Caveats
//
// A skill is text of strangers as far as this package is concerned. It removes hidden characters and scans for attacks,
// but decides nothing: package trust does. No path and no link leads out of a skill's folder.
package skills
