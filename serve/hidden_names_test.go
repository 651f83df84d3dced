package serve

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/selection"
	"tooldex/tool"
)

// TestHiddenNamesAreInvented asks for tools that a profile hides, and for tools that do not exist, by every tool, method
// and route that takes a name, in every spelling: the answers are the same but for the name.
func TestHiddenNamesAreInvented(t *testing.T) {
	st := serveTools(t, []*tool.Tool{
		{
			Server: "github", Name: "open_issue", Description: "Open an issue.", Category: "development",
			Related: []tool.ID{"vault/unlock", "github/teleport"},
		},
		{Server: "github", Name: "teleport", Description: "Move a repository elsewhere.", Category: "moving"},
		{
			Server: "vault", Name: "unlock", Description: "Unlock a safe.", Category: "secrets",
			Utterances: []tool.Utterance{{Text: "open my safe"}},
		},
	}, func(c *config.Config) {
		c.Profiles = map[string]config.Profile{"work": {Servers: []string{"github"}}}
		c.Serve.Scripts = "on"
	})
	_, version, err := st.all.views.Preferences(t.Context(), "work")
	if err == nil {
		_, _, err = st.all.views.SetPreferences(t.Context(), "work", version, selection.Preferences{
			NeverInclude: []string{"github/teleport"},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	one, err := st.all.surfaceOf(access.View{Profile: "work"})
	if err != nil {
		t.Fatal(err)
	}
	api, err := one.http()
	if err != nil {
		t.Fatal(err)
	}
	work := st.connect("/mcp/work")
	ways := map[string]func(name string) string{}
	for name, args := range map[string]string{
		"get_tool_description": `{"name":NAME}`, "invoke_tool": `{"name":NAME,"arguments":{}}`,
		"list_available_tools": `{"server":NAME}`, "load_server_tools": `{"server":NAME}`,
		"search_tools":             `{"query":"unlock","server":NAME}`,
		"propose_utterances":       `{"tools":[{"tool":NAME,"utterances":["open my safe","unlock the safe please"]}]}`,
		"propose_utterances both":  `{"tools":[{"tool":NAME,"utterances":["open my safe"]},{"tool":"github/open_issue","utterances":["open my safe"]}]}`,
		"propose_utterances named": `{"tools":[{"tool":"github/open_issue","utterances":["please run NAME for me"]}]}`,
		"propose_utterances of":    `{"tools":[{"tool":"github/open_issue","utterances":["open my SAFE please"]}]}`,
		"write_utterances":         `{"tools":[{"tool":NAME,"utterances":["open my safe"]}]}`,
		"run_script":               `{"script":"return callTool('NAME', {})"}`,
		"read_result":              `{"id":NAME}`,
	} {
		called, _, _ := strings.Cut(name, " ")
		ways[name] = func(asked string) string {
			res, err := work.CallTool(t.Context(), &mcp.CallToolParams{
				Name: called, Arguments: json.RawMessage(fill(args, asked)),
			})
			return said(res, err)
		}
	}
	ways["tools/call"] = func(asked string) string {
		res, err := work.CallTool(t.Context(), &mcp.CallToolParams{Name: asked, Arguments: map[string]any{"a": 1}})
		return said(res, err)
	}
	ways["prompts/get"] = func(asked string) string {
		res, err := work.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: asked})
		return said(res, err)
	}
	ways["prompt of search phrases"] = func(asked string) string {
		res, err := work.GetPrompt(t.Context(), &mcp.GetPromptParams{
			Name: "enrich_tools", Arguments: map[string]string{"server": asked},
		})
		return said(res, err)
	}
	for _, route := range []string{
		"GET /api/tools/NAME", "POST /api/tools/NAME/call {}", "GET /api/overlays/NAME", "PUT /api/overlays/NAME {}",
		"GET /api/insights/NAME", "GET /api/servers/NAME/log", "POST /api/servers/NAME/start {}",
		"POST /api/servers/NAME/stop {}", "GET /search?q=unlock&server=NAME", "GET /api/tools?server=NAME",
		`POST /api/feedback {"query":"open my safe","tool":"NAME"}`,
		`POST /api/quarantine/approve {"tools":[{"id":"NAME","form":"0011223344556677"}]}`,
		`POST /api/quarantine/approve {"tools":[{"id":"NAME","kind":"prompt","form":"0011223344556677"}]}`,
		`POST /api/tools/select {"mode":"manual","explicitTools":["NAME"]}`,
	} {
		ways[route] = func(asked string) string {
			parts := strings.SplitN(route, " ", 3)
			body := ""
			if len(parts) == 3 {
				body = strings.ReplaceAll(parts[2], "NAME", asked)
			}
			at := strings.ReplaceAll(parts[1], "NAME", url.PathEscape(asked))
			req := httptest.NewRequestWithContext(t.Context(), parts[0], "http://localhost"+at, strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("X-Request-Id", "same")
			rec := httptest.NewRecorder()
			api.Handler().ServeHTTP(rec, req)
			return fmt.Sprint(rec.Code, " ", rec.Body.String())
		}
	}
	pairs := [][2]string{
		{"vault/unlock", "vaumt/unmock"},
		{"vault__unlock", "vaumt__unmock"},
		{"unlock", "unmock"},
		{"vault", "vaumt"},
		{"github/teleport", "github/zyqxwvut"},
		{"github__teleport", "github__zyqxwvut"},
	}
	for way, ask := range ways {
		for _, pair := range pairs {
			var answers [2]string
			for i, name := range pair {
				answers[i] = ask(name)
				for _, spelt := range []string{url.PathEscape(name), name, "cupboard", "safe"} {
					answers[i] = strings.ReplaceAll(answers[i], spelt, "NAME")
				}
			}
			if answers[0] != answers[1] {
				t.Errorf("%s: hidden %s gives\n%s\ninvented %s gives\n%s", way, pair[0], answers[0], pair[1], answers[1])
			}
		}
	}
}

// fill writes a name into a request: as a JSON string for NAME without quotes, as it is within a string. SAFE is a word
// of the hidden tool unlock where the name is its own, and another word otherwise.
func fill(args, name string) string {
	word := "cupboard"
	if strings.Contains(name, "unlock") {
		word = "safe"
	}
	quoted, _ := json.Marshal(name) // a string always encodes
	out := strings.ReplaceAll(args, "SAFE", word)
	out = strings.ReplaceAll(out, ":NAME", ":"+string(quoted))
	return strings.ReplaceAll(out, "NAME", name)
}
