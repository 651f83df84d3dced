package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/selection"
)

// TestPreferencesHide says over HTTP what is to be hidden: it can then be neither found, selected nor called, over HTTP
// and over MCP, by the profile that said so, and that outlasts the process.
func TestPreferencesHide(t *testing.T) {
	data := t.TempDir()
	runCommand(t, data, "import", "demo/filesystem.yaml", "demo/shell.yaml")
	profiles := filepath.Join(data, "profiles.yaml")
	if err := os.WriteFile(profiles, []byte("profiles: {files: {servers: [filesystem]}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("said", func(t *testing.T) {
		base := serveHTTP(t, data, "--profiles", profiles)
		const hidden = "filesystem__delete_file"
		if got := ask(t, "POST", base+"/api/tools/select",
			`{"message":"delete the file a.txt","profile":"files"}`); !strings.Contains(got.body, hidden) {
			t.Fatalf("before it is hidden: %d %s", got.status, got.body)
		}
		prefer := `{"neverInclude":["` + hidden +
			`"],"alwaysInclude":["read_file"],"categories":{"shell":"never"},"maxTools":3}`
		got := ask(t, "PUT", base+"/api/tools/preferences", prefer, "If-Match", `"0"`)
		if got.status != http.StatusOK || got.tag != `"1"` || !strings.Contains(got.body, `"filesystem/delete_file"`) {
			t.Fatalf("%d %s %s", got.status, got.tag, got.body)
		}
		if got := ask(t, "PUT", base+"/api/tools/preferences", `{}`, "If-Match",
			`"0"`); got.status != http.StatusPreconditionFailed {
			t.Errorf("a change of what was changed: %d", got.status)
		}
		if got := ask(t, "PUT", base+"/api/tools/preferences",
			`{"neverInclude":["no_such_tool"]}`); got.status != http.StatusBadRequest {
			t.Errorf("a tool that there is not: %d", got.status)
		}
		if got := ask(t, "GET", base+"/api/tools/preferences?profile=nobody", ""); got.status != http.StatusNotFound {
			t.Errorf("a profile that there is not: %d", got.status)
		}
		checkHidden(t, base)
		if got := ask(t, "POST", base+"/api/tools/select",
			`{"message":"delete the file a.txt","profile":"files"}`); !strings.Contains(got.body, hidden) {
			t.Errorf("another profile hides it: %s", got.body)
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		base := serveHTTP(t, data, "--profiles", profiles)
		if got := ask(t, "GET", base+"/api/tools/preferences", ""); got.tag != `"1"` ||
			!strings.Contains(got.body, `"maxTools":3`) {
			t.Errorf("%s %s", got.tag, got.body)
		}
		checkHidden(t, base)
	})
}

func checkHidden(t *testing.T, base string) {
	t.Helper()
	for _, request := range []string{"delete the file a.txt", "execute a command in the shell"} {
		for _, path := range []string{"/search", "/api/tools/select"} {
			field := map[string]string{"/search": "query", "/api/tools/select": "message"}[path]
			got := ask(t, "POST", base+path, `{"`+field+`":"`+request+`","detail":"name"}`)
			if path != "/search" {
				got = ask(t, "POST", base+path, `{"`+field+`":"`+request+`"}`)
			}
			if got.status != http.StatusOK || strings.Contains(got.body, "delete_file") ||
				strings.Contains(got.body, "execute_command") {
				t.Errorf("%s of %q gives %d %s", path, request, got.status, got.body)
			}
		}
	}
	var res selection.Selection
	if err := json.Unmarshal([]byte(ask(t, "POST", base+"/api/tools/select", `{"message":"make a directory"}`).body),
		&res); err != nil {
		t.Fatal(err)
	}
	if len(res.Selected) != 3 || !strings.Contains(string(res.Tools[2])+string(res.Tools[1])+string(res.Tools[0]),
		`"filesystem__read_file"`) {
		t.Errorf("selected %+v", res.Selected)
	}
	for _, id := range []string{"filesystem/delete_file", "shell/execute_command"} {
		if got := ask(t, "POST", base+"/api/tools/"+id+"/call", `{}`); got.status != http.StatusNotFound {
			t.Errorf("a call of %s gives %d %s", id, got.status, got.body)
		}
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem__delete_file","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	got := ask(t, "POST", base+"/mcp", call, "Mcp-Protocol-Version", "2026-07-28", "Accept",
		"application/json, text/event-stream", "Mcp-Method", "tools/call", "Mcp-Name", "filesystem__delete_file")
	if !strings.Contains(got.body, "no tool") {
		t.Errorf("a call over MCP gives %d %s", got.status, got.body)
	}
}

type answered struct {
	status    int
	body, tag string
}

// ask sends a request; a body makes it JSON.
func ask(t *testing.T, method, target, body string, headers ...string) answered {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{res.StatusCode, string(b), res.Header.Get("ETag")}
}

// TestPreferencesReachTheList changes what a profile always includes while MCP clients are connected: each is notified,
// and lists the tool in search and dynamic mode for as long as the preferences say so. A selection gives the same tool
// with the origin "preference".
func TestPreferencesReachTheList(t *testing.T) {
	base := serveHTTP(t, t.TempDir(), "--demo")
	const preferred = "filesystem__read_file"
	prefer := func(preferences string) {
		t.Helper()
		if got := ask(t, "PUT", base+"/api/tools/preferences", preferences); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for _, mode := range []string{"search", "dynamic"} {
		t.Run(mode, func(t *testing.T) {
			prefer(`{}`)
			changed := make(chan struct{}, 100)
			session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			}).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp/" + mode},
				&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			listed := func() bool { return slices.Contains(toolNames(t, session), preferred) }
			if listed() {
				t.Fatal("the tool is listed although nobody prefers it")
			}
			prefer(`{"alwaysInclude":["` + preferred + `"]}`)
			waitFor(t, changed, listed)
			got := ask(t, "POST", base+"/api/tools/select", `{"message":"send a message"}`)
			if !strings.Contains(got.body, `"source":"preference"`) {
				t.Errorf("the selection lacks the preferred tool: %s", got.body)
			}
			prefer(`{}`)
			waitFor(t, changed, func() bool { return !listed() })
		})
	}
}
