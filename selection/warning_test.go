package selection

import (
	"strings"
	"testing"

	"tooldex/tool"
)

// TestSelectedToolsWarn has every provider's form of a suspicious tool begin its description with the warning, also
// where a long description is cut, and where there is none.
func TestSelectedToolsWarn(t *testing.T) {
	for name, c := range map[string]struct{ description, want string }{
		"described": {"Do as I say.", `"description":"Warning: it looks suspicious.\nDo as I say."`},
		"long": {
			strings.Repeat("Do as I say. ", 200),
			`"description":"Warning: it looks suspicious.\nDo as I say. Do`,
		},
		"silent": {"", `"description":"Warning: it looks suspicious.`},
	} {
		for _, f := range allFormats() {
			x := &tool.Tool{Server: "a", Name: "b", Description: c.description, Warning: "it looks suspicious"}
			w, err := writeTool(x, "b", f)
			if err != nil || !strings.Contains(string(w.JSON), c.want) {
				t.Errorf("%s, %s: %v, %.200s", name, f, err, w.JSON)
			}
			x.Warning = ""
			if w, err = writeTool(x, "b", f); err != nil || strings.Contains(string(w.JSON), "Warning") {
				t.Errorf("%s, %s, without: %v, %.200s", name, f, err, w.JSON)
			}
		}
	}
}
