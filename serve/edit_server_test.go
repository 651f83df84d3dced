package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/httpapi"
	"tooldex/upstream"
)

// weather is a real MCP server over HTTP with one tool.
func weather(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "forecast", Description: "Tell the weather of tomorrow"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, nil
		})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web.URL
}

// want sends a request, and fails unless it is answered with the status. It reads the answer into out, which may be nil.
func (st *stack) want(status int, method, path string, body, out any) string {
	st.t.Helper()
	text := ""
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			st.t.Fatal(err)
		}
		text = string(b)
	}
	got, answer := st.request(method, path, text)
	if got != status {
		st.t.Fatalf("%s %s answers %d, want %d: %s", method, path, got, status, answer)
	}
	if out != nil {
		if err := json.Unmarshal([]byte(answer), out); err != nil {
			st.t.Fatal(err)
		}
	}
	return answer
}

// states returns the states of the servers, by name.
func (st *stack) states() map[string]upstream.State {
	st.t.Helper()
	var list struct{ Servers []upstream.Status }
	st.want(200, "GET", "/api/servers", nil, &list)
	out := map[string]upstream.State{}
	for _, one := range list.Servers {
		out[one.Server] = one.State
	}
	return out
}

// TestServersAreEdited adds a server, tries, starts, disables, enables and removes it over HTTP.
func TestServersAreEdited(t *testing.T) {
	st := serveTools(t, nil, nil)
	settings := httpapi.ServerSettings{URL: weather(t), StartTimeout: 20, CallTimeout: 30}
	var trial httpapi.ServerTrial
	st.want(200, "POST", "/api/servers/weather/try", settings, &trial)
	if !trial.OK || !slices.Equal(trial.Tools, []string{"forecast"}) {
		t.Errorf("the trial says %+v", trial)
	}
	if len(st.states()) != 0 {
		t.Errorf("a trial stored %v", st.states())
	}
	st.want(200, "PUT", "/api/servers/weather", settings, nil)
	if got := st.states()["weather"]; got != upstream.Configured {
		t.Errorf("a server that was only stored is %q", got)
	}
	var stored httpapi.ServerSettings
	st.want(200, "GET", "/api/servers/weather", nil, &stored)
	if diff := gocmp.Diff(settings, stored); diff != "" {
		t.Errorf("stored is another server:\n%s", diff)
	}
	st.want(200, "POST", "/api/servers/weather/start", nil, nil)
	if got := st.states()["weather"]; got != upstream.Running {
		t.Errorf("a started server is %q", got)
	}
	st.want(200, "POST", "/api/servers/weather/disable", nil, nil)
	if got := st.states()["weather"]; got != upstream.Off {
		t.Errorf("a disabled server is %q", got)
	}
	st.want(404, "POST", "/api/servers/weather/start", nil, nil)
	st.want(200, "POST", "/api/servers/weather/enable", nil, nil)
	if got := st.states()["weather"]; got != upstream.Configured {
		t.Errorf("an enabled server is %q", got)
	}
	st.want(200, "DELETE", "/api/servers/weather", nil, nil)
	if len(st.states()) != 0 {
		t.Errorf("a removed server is still %v", st.states())
	}
	for _, request := range [][2]string{
		{"GET", ""}, {"DELETE", ""}, {"POST", "/enable"}, {"POST", "/disable"}, {"POST", "/login"}, {"POST", "/logout"},
	} {
		st.want(404, request[0], "/api/servers/weather"+request[1], nil, nil)
	}
}

// TestServerEditsAreChecked sends servers that cannot work, and edits of one that the configuration file has.
func TestServerEditsAreChecked(t *testing.T) {
	st := serveTools(t, nil, func(c *config.Config) {
		c.Servers = []upstream.Server{{Name: "fixed", Command: "true"}}
	})
	for name, c := range map[string]struct {
		path string
		body httpapi.ServerSettings
		says string
	}{
		"nothing":         {"/api/servers/a", httpapi.ServerSettings{}, "neither a command nor a url"},
		"both":            {"/api/servers/a", httpapi.ServerSettings{Command: "x", URL: "http://x"}, "both a command and a url"},
		"no such type":    {"/api/servers/a", httpapi.ServerSettings{Command: "x", Transport: "smoke"}, "none of stdio"},
		"a negative time": {"/api/servers/a", httpapi.ServerSettings{Command: "x", CallTimeout: -1}, "timeout"},
		"a bad name":      {"/api/servers/a%2Fb", httpapi.ServerSettings{Command: "x"}, "no usable name"},
		"hides nothing":   {"/api/servers/a", httpapi.ServerSettings{Command: "x", Env: map[string]string{"A": "***"}}, "env.A"},
		"of the file":     {"/api/servers/fixed", httpapi.ServerSettings{Command: "false"}, "configuration file"},
	} {
		if answer := st.want(400, "PUT", c.path, c.body, nil); !strings.Contains(answer, c.says) {
			t.Errorf("%s: %s", name, answer)
		}
	}
	for _, request := range [][2]string{{"DELETE", ""}, {"POST", "/disable"}} {
		st.want(400, request[0], "/api/servers/fixed"+request[1], nil, nil)
	}
	var fixed httpapi.ServerSettings
	if st.want(200, "GET", "/api/servers/fixed", nil, &fixed); !fixed.InFile {
		t.Errorf("a server of the file is shown as %+v", fixed)
	}
}

// TestServersAreNotReplacedByMistake adds a server under a name that is taken.
func TestServersAreNotReplacedByMistake(t *testing.T) {
	st := serveTools(t, nil, nil)
	st.want(200, "PUT", "/api/servers/a", httpapi.ServerSettings{Command: "one"}, nil)
	req, err := http.NewRequestWithContext(t.Context(), "PUT", st.url+"/api/servers/a", strings.NewReader(`{"command":"two"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("If-None-Match", "*")
	res, err := st.client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var kept httpapi.ServerSettings
	if st.want(200, "GET", "/api/servers/a", nil, &kept); res.StatusCode != 400 || kept.Command != "one" {
		t.Errorf("%d, and the command is %q", res.StatusCode, kept.Command)
	}
}

// TestSecretsOfServersStayHidden stores secrets, and holds that they are never shown and survive an edit of the rest.
func TestSecretsOfServersStayHidden(t *testing.T) {
	st := serveTools(t, nil, nil)
	settings := httpapi.ServerSettings{
		Command: "program", Args: []string{"--token", "hush-argument-1", "--verbose", "${PLACE}"},
		Env: map[string]string{"KEY": "hush-variable-1", "MODE": "hush-mode-1", "TOKEN": "${TOKEN}"},
	}
	var saved struct{ Plain []string }
	answer := st.want(200, "PUT", "/api/servers/a", settings, &saved)
	if !slices.Contains(saved.Plain, "env.KEY") {
		t.Errorf("the answer does not say that a secret is stored as it is: %s", answer)
	}
	web := httpapi.ServerSettings{
		URL:     "https://example.com/mcp?api_key=hush-address-1",
		Headers: map[string]string{"Authorization": "Bearer ${TOKEN}", "X-Key": "hush-header-1"},
	}
	st.want(200, "PUT", "/api/servers/b", web, nil)
	for name, before := range map[string]httpapi.ServerSettings{"a": settings, "b": web} {
		var shown httpapi.ServerSettings
		if answer := st.want(200, "GET", "/api/servers/"+name, nil, &shown); strings.Contains(answer, "hush") {
			t.Errorf("a secret is shown: %s", answer)
		}
		shown.CallTimeout = 77
		st.want(200, "PUT", "/api/servers/"+name, shown, nil)
		stored, _, err := st.all.views.Service.Server(name)
		if err != nil {
			t.Fatal(err)
		}
		got := httpapi.ServerSettings{
			Command: stored.Command, Args: stored.Args, Env: stored.Env, URL: stored.URL, Headers: stored.Headers,
		}
		if diff := gocmp.Diff(before, got); diff != "" || stored.Timeout.Seconds() != 77 {
			t.Errorf("an edit changed what it did not touch, or not the timeout (%v):\n%s", stored.Timeout, diff)
		}
	}
	var shown httpapi.ServerSettings
	st.want(200, "GET", "/api/servers/a", nil, &shown)
	if diff := gocmp.Diff(map[string]string{"KEY": "***", "MODE": "***", "TOKEN": "${TOKEN}"}, shown.Env); diff != "" {
		t.Errorf("variables are shown as:\n%s", diff)
	}
}

// TestServersStartOnlyWhenAsked stores a command and holds that it runs in a trial, and not before.
func TestServersStartOnlyWhenAsked(t *testing.T) {
	st := serveTools(t, nil, nil)
	ran := filepath.Join(t.TempDir(), "ran")
	settings := httpapi.ServerSettings{Command: "sh", Args: []string{"-c", "echo it ran; echo no licence >&2; touch " + ran + "; exit 3"}}
	st.want(200, "PUT", "/api/servers/a", settings, nil)
	st.want(200, "GET", "/api/servers/a", nil, nil)
	st.want(200, "POST", "/api/servers/a/disable", nil, nil)
	st.want(200, "POST", "/api/servers/a/enable", nil, nil)
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("the command ran though nobody asked for it")
	}
	var trial httpapi.ServerTrial
	st.want(200, "POST", "/api/servers/a/try", settings, &trial)
	if _, err := os.Stat(ran); err != nil {
		t.Error("the trial did not run the command")
	}
	printed := slices.ContainsFunc(trial.Lines, func(l upstream.LogLine) bool {
		return l.From == upstream.FromServer && l.Text == "no licence"
	})
	if trial.OK || trial.Error == "" || !printed {
		t.Errorf("the trial says %+v", trial)
	}
	if got := st.states()["a"]; got != upstream.Configured {
		t.Errorf("after a trial the server is %q", got)
	}
}

// TestServerEditsNeedTheWholeToken sends all changes with tokens for less.
func TestServerEditsNeedTheWholeToken(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	st := serveTools(t, nil, func(c *config.Config) {
		c.Profiles = map[string]config.Profile{"some": {Servers: []string{"a"}}}
	}, access.Token{Name: "whole"}, access.Token{Name: "scoped", View: access.View{Profile: "some"}},
		access.Token{Name: "reading", View: access.View{ReadOnly: true}})
	settings := httpapi.ServerSettings{Command: "touch", Args: []string{ran}}
	st.token = st.secrets["whole"]
	st.want(200, "PUT", "/api/servers/a", httpapi.ServerSettings{Command: "before"}, nil)
	for name, status := range map[string]int{"scoped": 404, "reading": 403, "": 401} {
		st.token = st.secrets[name]
		for _, request := range [][2]string{
			{"PUT", ""},
			{"DELETE", ""},
			{"POST", "/enable"},
			{"POST", "/disable"},
			{"POST", "/try"},
			{"POST", "/login"},
			{"POST", "/logout"},
		} {
			st.want(status, request[0], "/api/servers/a"+request[1], settings, nil)
		}
	}
	st.token = st.secrets["scoped"]
	st.want(404, "GET", "/api/servers/a", nil, nil)
	st.token = st.secrets["whole"]
	var kept httpapi.ServerSettings
	if st.want(200, "GET", "/api/servers/a", nil, &kept); kept.Command != "before" || kept.Disabled {
		t.Errorf("a token for less has changed the server to %+v", kept)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a token for less has started a command")
	}
}

// TestIsolationIsEdited changes a server by a client that does not know of isolation: it stays.
func TestIsolationIsEdited(t *testing.T) {
	st := serveTools(t, nil, nil)
	isolate := &upstream.Isolation{Write: []string{"/srv"}, Memory: "512MB"}
	of := func() *upstream.Isolation {
		var stored httpapi.ServerSettings
		st.want(200, "GET", "/api/servers/files", nil, &stored)
		return stored.Isolate
	}
	for _, step := range []struct {
		name string
		put  httpapi.ServerSettings
		want *upstream.Isolation
	}{
		{"set", httpapi.ServerSettings{Command: "files", Isolate: isolate}, isolate},
		{"left out", httpapi.ServerSettings{Command: "other"}, isolate},
		{"changed", httpapi.ServerSettings{Command: "other", Isolate: &upstream.Isolation{}}, &upstream.Isolation{}},
		{"no command any more", httpapi.ServerSettings{URL: "https://files.example/mcp"}, nil},
	} {
		st.want(200, "PUT", "/api/servers/files", step.put, nil)
		if diff := gocmp.Diff(step.want, of()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	st.want(400, "PUT", "/api/servers/files", `{"command":"files","isolate":{"memory":"lots"}}`, nil)
	st.want(400, "PUT", "/api/servers/files", `{"command":"files","isolate":{"netwrok":true}}`, nil)
}
