package serve

import (
	"net/http"
	"strings"
	"testing"

	"tooldex/config"
	"tooldex/tool"
)

// TestFilterNamesOverTheWire holds that a search with a server or category that does not exist names it, with the
// nearest one, over MCP and HTTP alike; and that a hidden one is answered for as one that is invented.
func TestFilterNamesOverTheWire(t *testing.T) {
	st := serveTools(t, []*tool.Tool{
		{Server: "github", Name: "open_issue", Description: "Open an issue.", Category: "development"},
		{Server: "vault", Name: "unlock", Description: "Unlock a safe.", Category: "secrets"},
	}, func(c *config.Config) {
		c.Profiles = map[string]config.Profile{"work": {Servers: []string{"github"}}}
	})
	whole, work := st.connect("/mcp/search"), st.connect("/mcp/work")

	text, isError := st.callText(whole, "search_tools", map[string]any{"query": "open", "server": "gihub"})
	if !isError || !strings.Contains(text, `invalid: there are no tools of a server "gihub"`) ||
		!strings.Contains(text, "did you mean github? Otherwise choose from github, vault") {
		t.Errorf("MCP: %s", text)
	}
	for _, answer := range []func() (int, string){
		func() (int, string) { return st.request("GET", "/search?q=open&category=secret", "") },
		func() (int, string) { return st.request("POST", "/search", `{"query":"open","category":"secret"}`) },
	} {
		status, body := answer()
		if status != http.StatusBadRequest || !strings.Contains(body, `there are no tools of a category \"secret\"`) ||
			!strings.Contains(body, "did you mean secrets?") {
			t.Errorf("HTTP: %d %s", status, body)
		}
	}
	for field, names := range map[string][2]string{"server": {"vault", "zebra"}, "category": {"secrets", "pottery"}} {
		var answers [2]string
		for i, name := range names {
			text, isError := st.callText(work, "search_tools", map[string]any{"query": "unlock", field: name})
			if !isError {
				t.Errorf("%s %s is answered: %s", field, name, text)
			}
			answers[i] = strings.ReplaceAll(text, name, "NAME")
		}
		if answers[0] != answers[1] {
			t.Errorf("a hidden %s is answered with %s\nand an invented one with %s", field, answers[0], answers[1])
		}
	}
}
