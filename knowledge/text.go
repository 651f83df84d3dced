package knowledge

import (
	"strings"

	"tooldex/embed"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// The longest parts of a tool that are read for matching and embedding, in bytes: what comes after says little new and
// would let a long description outweigh a good one.
const (
	maxDescription = 2000
	maxParamNames  = 600
	maxParamTexts  = 1500
)

// ToolText reads the texts of a tool. It parses the input schema, which costs more than all that is done with the
// result.
func ToolText(t *tool.Tool) embed.Document {
	out := embed.Document{Name: t.Name}
	if !strings.Contains(strings.ToLower(out.Name), strings.ToLower(sanitize.Cut(t.Server, 6))) {
		out.Name += " " + t.Server
	}
	if t.Title != "" && !strings.EqualFold(t.Title, t.Name) {
		out.Description = t.Title + ". "
	}
	out.Description += sanitize.Cut(t.Description, maxDescription)
	var names, texts strings.Builder
	for _, p := range t.Parameters() {
		if names.Len() < maxParamNames {
			names.WriteString(p.Name)
			names.WriteByte(' ')
		}
		if p.Description != "" && texts.Len() < maxParamTexts {
			texts.WriteString(sanitize.Cut(p.Description, maxParamTexts-texts.Len()))
			texts.WriteByte(' ')
		}
	}
	out.Parameters = names.String() + texts.String()
	return out
}
