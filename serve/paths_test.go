package serve

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/tool"
)

// pathTools are the tools of three servers.
func pathTools() []*tool.Tool {
	yes := true
	return []*tool.Tool{
		{
			Server: "github", Name: "list_issues", Description: "List issues.", InputSchema: []byte(`{"type":"object"}`),
			Annotations: &tool.Annotations{ReadOnlyHint: &yes},
		},
		{Server: "github", Name: "open_issue", Description: "Open an issue."},
		{Server: "mail", Name: "send", Description: "Send a message."},
		{Server: "vault", Name: "unlock", Description: "Unlock a safe."},
	}
}

// listedTools returns the names of tools/list.
func (st *stack) listedTools(session *mcp.ClientSession) []string {
	st.t.Helper()
	res, err := session.ListTools(st.t.Context(), nil)
	if err != nil {
		st.t.Fatal(err)
	}
	var names []string
	for _, one := range res.Tools {
		names = append(names, one.Name)
	}
	return names
}

// connectSSE opens a session over the older transport, until the test ends.
func (st *stack) connectSSE(path string) *mcp.ClientSession {
	st.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(st.t.Context(),
		&mcp.SSEClientTransport{Endpoint: st.url + path, HTTPClient: st.client()}, nil)
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestServerPath holds that /mcp/servers/{name} and /sse/servers/{name} show one server's tools and nothing else.
func TestServerPath(t *testing.T) {
	st := serveTools(t, pathTools(), func(c *config.Config) { c.Serve.Mode = "search" })
	for path, session := range map[string]*mcp.ClientSession{
		"/mcp": st.connect("/mcp/servers/github"), "/sse": st.connectSSE("/sse/servers/github"),
	} {
		want := []string{"github__list_issues", "github__open_issue"}
		if got := st.listedTools(session); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", path, got, want)
		}
		text, isError := st.callText(session, "search_tools", map[string]any{"query": "send a message"})
		if isError || strings.Contains(text, "mail") {
			t.Errorf("%s: a search finds %s", path, text)
		}
		if text, isError := st.callText(session, "mail/send", nil); !isError || !strings.Contains(text, "not_found") {
			t.Errorf("%s: a call of another server's tool is answered with %s", path, text)
		}
	}
}

// TestServerPathOfAProfile holds that what a token may see goes on to hold below /mcp/servers, and that what it hides
// is answered for as what does not exist.
func TestServerPathOfAProfile(t *testing.T) {
	st := serveTools(t, pathTools(), func(c *config.Config) {
		c.Profiles = map[string]config.Profile{"work": {Servers: []string{"github", "mail", "absent"}}}
	}, access.Token{Name: "reader", View: access.View{Profile: "work", ReadOnly: true}})
	st.token = st.secrets["reader"]
	if got := st.listedTools(st.connect("/mcp/servers/github")); !slices.Equal(got, []string{"github__list_issues"}) {
		t.Errorf("a reader is shown %q", got)
	}
	for _, transport := range []string{"/mcp", "/sse"} {
		var answers []string
		for _, name := range []string{"vault", "zebra", "absent"} {
			status, body := st.request(http.MethodGet, transport+"/servers/"+name, "")
			if status != http.StatusNotFound {
				t.Errorf("%s of %s: status %d", transport, name, status)
			}
			answers = append(answers, strings.ReplaceAll(body, name, "NAME"))
		}
		if answers[0] != answers[1] || answers[0] != answers[2] {
			t.Errorf("%s: a hidden, an invented and an absent server are answered with %q", transport, answers)
		}
		if status, _ := st.request(http.MethodGet, transport+"/servers", ""); status != http.StatusNotFound {
			t.Errorf("%s without a name: status %d", transport, status)
		}
	}
}

// TestSSE holds that the older transport has the paths of the newer one, and the same checks before it.
func TestSSE(t *testing.T) {
	st := serveTools(t, pathTools(), func(c *config.Config) {
		c.Profiles = map[string]config.Profile{"work": {Servers: []string{"mail"}, Mode: "full"}}
	})
	text, isError := st.callText(st.connectSSE("/sse/search"), "search_tools", map[string]any{"query": "open an issue"})
	if isError || !strings.Contains(text, "open_issue") {
		t.Errorf("a search finds %s", text)
	}
	if got := st.listedTools(st.connectSSE("/sse/work")); !slices.Equal(got, []string{"mail__send"}) {
		t.Errorf("the profile lists %q", got)
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"another site":    {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"another name":    {func(r *http.Request) { r.Host = "evil.example" }, http.StatusForbidden},
		"no such profile": {func(r *http.Request) { r.URL.Path = "/sse/nobody" }, http.StatusNotFound},
		"no session":      {func(r *http.Request) { r.Method = http.MethodPost }, http.StatusNotFound},
		"a form": {func(r *http.Request) {
			r.Method = http.MethodPost
			r.Header.Set("Content-Type", "text/plain")
		}, http.StatusUnsupportedMediaType},
		"another method": {func(r *http.Request) { r.Method = http.MethodPut }, http.StatusMethodNotAllowed},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, st.url+"/sse", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		c.change(req)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", name, res.StatusCode, c.status)
		}
	}
}

// TestSSEToken holds that a session belongs to the token that began it, and ends with it.
func TestSSEToken(t *testing.T) {
	st := serveTools(t, pathTools(), nil, access.Token{Name: "ours"}, access.Token{Name: "theirs"})
	st.token = st.secrets["ours"]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, st.url+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := st.client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	lines := bufio.NewScanner(stream.Body)
	address := ""
	for address == "" && lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			address = data
		}
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, want := range map[string]int{"theirs": 404, "": 401, "ours": 202} {
		st.token = st.secrets[name]
		if status, body := st.request(http.MethodPost, address, ping); status != want {
			t.Errorf("with the token %q the status is %d, want %d: %s", name, status, want, body)
		}
	}
	if err := st.tokens.Revoke("ours"); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until the stream ends
	}
}

// TestSessionsAreBoundedInAll holds that the bound of sessions is one for all paths: a new session anywhere replaces
// the one that was used least recently, wherever that is.
func TestSessionsAreBoundedInAll(t *testing.T) {
	st := serveTools(t, pathTools(), func(c *config.Config) { c.Serve.MaxSessions = 3 })
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	begin := func(path string) (string, int) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, st.url+path, strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return res.Header.Get("Mcp-Session-Id"), res.StatusCode
	}
	for _, path := range []string{"/mcp", "/mcp/servers/github", "/mcp/search", "/mcp/servers/mail", "/mcp/servers/vault"} {
		if id, status := begin(path); id == "" || status != http.StatusOK {
			t.Errorf("%s: status %d", path, status)
		}
		if n := st.all.countSessions(); n > 3 {
			t.Errorf("%s: %d sessions are open", path, n)
		}
	}
}
