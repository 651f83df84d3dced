package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// A URL that some clients give for the older HTTP transport, without saying so, is reached by it.
func TestOlderTransportIsFound(t *testing.T) {
	old := listen(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sdkServer(false) }, nil))
	g := startGateway(t, Options{}, upstream.Server{Name: "old", URL: old.URL},
		upstream.Server{Name: "strict", URL: old.URL, Transport: upstream.HTTP})
	for range 2 {
		if got := call(t, g, "old/echo", `{"a":1}`); got != `{"a":1}` {
			t.Errorf("answers %s", got)
		}
		g.Set([]upstream.Server{{Name: "old", URL: old.URL}})
	}
	g.Set([]upstream.Server{{Name: "strict", URL: old.URL, Transport: upstream.HTTP}})
	callError(t, g, t.Context(), "strict/echo", tool.Unavailable)
}

// A server of the newer protocol may want arguments repeated in headers, also of a call that no listing came before.
func TestArgumentsInHeaders(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "headed", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{
		Name: "where", InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Extra.Header.Get("Mcp-Param-Region")}}}, nil
	})
	web := listen(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true}))
	g := startGateway(t, Options{}, upstream.Server{Name: "s", URL: web.URL})
	if got := call(t, g, "s/where", `{"region":"eu"}`); got != "eu" {
		t.Errorf("the header is %q", got)
	}
}

func TestEnvFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte("# a comment\nexport A_KEY=\"quoted value\"\nB=plain # kept\nOWN=lost\n1X=no\nno line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { return file, name == "ENV_FILE" }
	s := self(t, "s", "sdk")
	s.EnvFile, s.Env["OWN"] = "${ENV_FILE}", "kept"
	g := startGateway(t, Options{LookupEnv: lookup}, s)
	got := "\n" + call(t, g, "s/env", "") + "\n"
	for _, want := range []string{"\nA_KEY=quoted value\n", "\nB=plain # kept\n", "\nOWN=kept\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Contains(got, "1X") {
		t.Errorf("what is no variable is in %s", got)
	}
	s.EnvFile = file + ".missing"
	g.Set([]upstream.Server{s})
	if e := callError(t, g, t.Context(), "s/env", tool.Invalid); !strings.Contains(e.Msg, "envFile") {
		t.Errorf("error is %v", e)
	}
}
