package catalog

import (
	"fmt"
	"slices"

	"tooldex/internal/sanitize"
	"tooldex/tool"
	"tooldex/validate"
)

// checkExamples leaves out the examples of a tool whose arguments do not fit its schema: a model would copy them.
func checkExamples(schemas *validate.Schemas, t *tool.Tool) []sanitize.Finding {
	var found []sanitize.Finding
	t.Examples = slices.DeleteFunc(t.Examples, func(e tool.Example) bool {
		if len(e.Invocation) == 0 {
			return false
		}
		m := schemas.Of(string(t.ID()), t.InputSchema).Check(e.Invocation)
		if m == nil {
			return false
		}
		problem := m.Reason
		if m.Field != "" {
			problem = m.Field + ": " + m.Reason
		}
		found = append(found, sanitize.Finding{
			Tool: t.ID(), Field: "examples", Problem: fmt.Sprintf("an invocation does not fit the input schema: %s", problem),
			Repair: "left out",
		})
		return true
	})
	if len(t.Examples) == 0 {
		t.Examples = nil
	}
	return found
}
