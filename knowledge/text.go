package knowledge

import (
	"strings"

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

// Texts is what a tool says of itself, in the three parts that are weighed apart.
type Texts struct {
	Name        string // with the server's
	Description string // with the title
	Params      string // names, then what is said about them
}

// Text reads the texts of a tool. It parses the input schema, which costs more than all that is done with the result.
func Text(t *tool.Tool) Texts {
	out := Texts{Name: t.Name}
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
	out.Params = names.String() + texts.String()
	return out
}
