package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// DefaultTemplate makes exposed names of the tools of several servers. A template may hold {server} and {name}; other
// characters stand for themselves.
const DefaultTemplate = "{server}__{name}"

// maxExposed is the longest name that every client and model provider accepts.
const maxExposed = 64

// ExposedNames gives each of tools, which are sorted by ID, a unique name that matches ^[A-Za-z0-9_-]{1,64}$. Where
// there is only one server and the template is the default, a tool keeps its own name. A name that is too long, or that
// two tools would share, ends in six hexadecimal digits of its ID's SHA-256, so that names stay the same from run to
// run whatever else is in the catalogue changes order.
func ExposedNames(tools []*Tool, template string) []string {
	if template == "" {
		template = DefaultTemplate
		if oneServer(tools) {
			template = "{name}"
		}
	}
	names := make([]string, len(tools))
	uses := make(map[string]int, len(tools))
	for i, t := range tools {
		names[i] = portableName(fillTemplate(template, t))
		uses[names[i]]++
	}
	for i, t := range tools {
		names[i] = exposedName(names[i], t, uses)
	}
	return names
}

// exposedName returns the exposed name of a tool whose name would be name, which so many tools have.
func exposedName(name string, t *Tool, uses map[string]int) string {
	if len(name) > maxExposed || uses[name] > 1 || name == "" {
		return withDigest(name, t.ID())
	}
	return name
}

// fillTemplate puts the names of a tool into a template.
func fillTemplate(template string, t *Tool) string {
	if template == DefaultTemplate {
		return t.Server + "__" + t.Name
	}
	return strings.NewReplacer("{server}", t.Server, "{name}", t.Name).Replace(template)
}

// oneServer reports whether all tools of some lists are of one server. Names need no server then.
func oneServer(lists ...[]*Tool) bool {
	var first *Tool
	for _, tools := range lists {
		for _, t := range tools {
			if first == nil {
				first = t
			}
			if t.Server != first.Server {
				return false
			}
		}
	}
	return true
}

// portableName replaces each run of characters that clients refuse by one underscore.
func portableName(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !isPortable(r) }) < 0 { // nearly every name
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case isPortable(r):
			b.WriteRune(r)
		default:
			if n := b.Len(); n == 0 || b.String()[n-1] != '_' {
				b.WriteByte('_')
			}
		}
	}
	return b.String()
}

// isPortable reports whether all clients accept a character in a name.
func isPortable(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// withDigest appends six digits of the hash of the ID, and shortens the name so that the result fits. The same tool
// gets the same name in every run.
func withDigest(name string, id ID) string {
	sum := sha256.Sum256([]byte(id))
	suffix := "_" + hex.EncodeToString(sum[:3])
	if len(name) > maxExposed-len(suffix) {
		name = name[:maxExposed-len(suffix)]
	}
	return name + suffix
}
