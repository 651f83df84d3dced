package knowledge

import (
	"strings"

	"tooldex/tool"
)

// The longest parts of a tool that are read for matching and embedding, in bytes: what comes after says little new and
// would let a long description outweigh a good one.
const (
	maxDescription = 2000
	maxParamNames  = 600
	maxParamTexts  = 1500
)

// Text returns what a tool says of itself in the three parts that are weighed apart: its name with server and title, its
// description, and the names and texts of its parameters.
func Text(t *tool.Tool) (name, description, params string) {
	name = t.Name
	if !strings.Contains(strings.ToLower(name), strings.ToLower(cut(t.Server, 6))) {
		name += " " + t.Server
	}
	if t.Title != "" && !strings.EqualFold(t.Title, t.Name) {
		description = t.Title + ". "
	}
	description += cut(t.Description, maxDescription)
	var names, texts strings.Builder
	for _, p := range t.Parameters() {
		if names.Len() < maxParamNames {
			names.WriteString(p.Name)
			names.WriteByte(' ')
		}
		if p.Description != "" && texts.Len() < maxParamTexts {
			texts.WriteString(cut(p.Description, maxParamTexts-texts.Len()))
			texts.WriteByte(' ')
		}
	}
	return name, description, names.String() + texts.String()
}

// cut returns at most n bytes of s, ending at a character's border.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
