package serve

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/httpapi"
	"tooldex/tool"
	"tooldex/upstream"
)

// startLedger serves a real MCP server that knows its users by their keys: it refuses others, and answers each with a
// name and what that user wrote down in the session.
func startLedger(t *testing.T) (url string, seen func() []string) {
	t.Helper()
	var mu sync.Mutex
	var keys []string
	users := map[string]string{"Bearer key-ana": "Ana", "Bearer key-ben": "Ben", "Bearer key-whole": "the operator"}
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		user, note := users[r.Header.Get("Authorization")], "nothing"
		s := mcp.NewServer(&mcp.Implementation{Name: "ledger", Version: "1"}, nil)
		s.AddTool(&mcp.Tool{Name: "write", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				mu.Lock()
				defer mu.Unlock()
				before := note
				note = string(r.Params.Arguments)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: user + " had " + before}}}, nil
			})
		return s
	}, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys = append(keys, r.Header.Get("Authorization"))
		mu.Unlock()
		if users[r.Header.Get("Authorization")] == "" {
			http.Error(w, "unknown", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), keys...)
	}
}

// ledgerStack serves the ledger to the holders of tokens.
func ledgerStack(t *testing.T, url string, tokens ...access.Token) *stack {
	t.Helper()
	st := serveTools(t, []*tool.Tool{{Server: "ledger", Name: "write", Description: "Write a note into the ledger."}},
		func(c *config.Config) {
			c.Serve.Mode = "full"
			c.Credentials.Key = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
			c.Profiles = map[string]config.Profile{"other": {Servers: []string{"mail"}}}
		}, tokens...)
	st.gateway.Set([]upstream.Server{{Name: "ledger", URL: url, Headers: map[string]string{"Authorization": "Bearer ${user:KEY}"}}})
	return st
}

// store stores a key with the token of a user, and returns the status.
func (st *stack) store(user, key string) (int, string) {
	st.token = st.secrets[user]
	return st.request(http.MethodPut, "/api/credentials/ledger", fmt.Sprintf(`{"name":"KEY","value":%q}`, key))
}

// TestCredentialsOfUsers has two users with keys of their own, one without, and one who may see less, over MCP and over
// HTTP, and attacks what keeps them apart.
func TestCredentialsOfUsers(t *testing.T) {
	url, seen := startLedger(t)
	st := ledgerStack(t, url, access.Token{Name: "ana"}, access.Token{Name: "ben"}, access.Token{Name: "carl"},
		access.Token{Name: "dora", View: access.View{Profile: "other"}}, access.Token{Name: "eve", View: access.View{ReadOnly: true}})
	for user, key := range map[string]string{"ana": "key-ana", "ben": "key-ben"} {
		if status, body := st.store(user, key); status != http.StatusOK {
			t.Fatalf("%s: %d %s", user, status, body)
		}
	}
	sessions := map[string]*mcp.ClientSession{}
	for _, user := range []string{"ana", "ben", "carl"} {
		st := *st
		st.token = st.secrets[user]
		sessions[user] = st.connect("/mcp")
	}
	write := func(user, note string) (string, bool) {
		return st.callText(sessions[user], "write", map[string]string{"note": note})
	}
	var calls sync.WaitGroup
	for _, user := range []string{"ana", "ben"} {
		for i := range 10 {
			calls.Go(func() {
				text, failed := write(user, fmt.Sprint(user, i))
				own, other := strings.ToUpper(user[:1])+user[1:], map[string]string{"ana": "ben", "ben": "ana"}[user]
				if failed || !strings.HasPrefix(text, own+" had ") || strings.Contains(text, other) {
					t.Errorf("%s reads %s", user, text)
				}
			})
		}
	}
	calls.Wait()
	if text, failed := write("carl", "c"); !failed || !strings.Contains(text, "your own KEY") || strings.Contains(text, "had") {
		t.Errorf("carl reads %s", text)
	}
	// The same over HTTP.
	for user, want := range map[string]string{"ana": "Ana had", "ben": "Ben had", "carl": "your own KEY"} {
		st.token = st.secrets[user]
		if _, body := st.request(http.MethodPost, "/api/tools/ledger/write/call", `{"arguments":{}}`); !strings.Contains(body, want) {
			t.Errorf("%s reads %s", user, body)
		}
	}
	for _, key := range seen() {
		if key != "Bearer key-ana" && key != "Bearer key-ben" {
			t.Errorf("the server is sent %q", key)
		}
	}
	st.attackCredentials(t)
	// Ana's own end does not touch Ben.
	st.token = st.secrets["ana"]
	if status, body := st.request(http.MethodDelete, "/api/credentials/ledger", ""); status != http.StatusOK || body != `{"removed":1}`+"\n" {
		t.Errorf("%d %q", status, body)
	}
	if text, failed := write("ana", "x"); !failed || !strings.Contains(text, "your own KEY") {
		t.Errorf("ana reads %s", text)
	}
	if text, failed := write("ben", "x"); failed || !strings.HasPrefix(text, "Ben had {") {
		t.Errorf("ben reads %s", text)
	}
	// The operator revokes Ben's.
	st.token = st.secrets["carl"]
	_, body := st.request(http.MethodGet, "/api/credentials?all=true", "")
	var all struct{ Credentials []httpapi.CredentialLine }
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Credentials) != 1 || all.Credentials[0].Who != "token ben" {
		t.Fatalf("%s, %v", body, err)
	}
	if status, body := st.request(http.MethodDelete, "/api/credentials/ledger?user="+all.Credentials[0].User, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if text, failed := write("ben", "x"); !failed || !strings.Contains(text, "your own KEY") {
		t.Errorf("ben reads %s", text)
	}
}

// attackCredentials tries what must not work: of those who may see less, with wrong input, and by moving the server.
func (st *stack) attackCredentials(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		user, method, path, body string
		status                   int
	}{
		{"", "GET", "/api/credentials", "", 401},
		{"", "PUT", "/api/credentials/ledger", `{"name":"KEY","value":"v"}`, 401},
		{"dora", "PUT", "/api/credentials/ledger", `{"name":"KEY","value":"v"}`, 404}, // cannot see the server
		{"dora", "GET", "/api/credentials?all=true", "", 404},
		{"dora", "DELETE", "/api/credentials/ledger?user=token:0", "", 404},
		{"dora", "DELETE", "/api/credentials/ledger?user=operator", "", 404},
		{"dora", "PUT", "/api/credentials/ledger", `{"name":"KEY","value":"v","user":"operator"}`, 404},
		{"eve", "PUT", "/api/credentials/ledger", `{"name":"KEY","value":"v"}`, 403}, // may only read
		{"eve", "DELETE", "/api/credentials/ledger", "", 403},
		{"carl", "PUT", "/api/credentials/mail", `{"name":"KEY","value":"v"}`, 404},
		{"carl", "PUT", "/api/credentials/ledger", `{"name":"OTHER","value":"v"}`, 404},
		{"carl", "PUT", "/api/credentials/ledger", `{"name":"KEY","value":"a\r\nX: b"}`, 400},
		{"carl", "PUT", "/api/credentials/ledger", `{"name":"KEY","value":""}`, 400},
		{"carl", "PUT", "/api/credentials/ledger", `{"name":"KEY","value":"v","user":"whole"}`, 400},
		{"carl", "PUT", "/api/credentials/..%2Fledger", `{"name":"KEY","value":"v"}`, 404},
	} {
		st.token = st.secrets[c.user]
		if status, body := st.request(c.method, c.path, c.body); status != c.status {
			t.Errorf("%s: %s %s %s is answered with %d %s", c.user, c.method, c.path, c.body, status, body)
		}
	}
	for user, want := range map[string]string{"ana": `"stored":true`, "carl": `"stored":false`, "dora": `"credentials":[]`} {
		st.token = st.secrets[user]
		_, body := st.request(http.MethodGet, "/api/credentials", "")
		if !strings.Contains(body, want) || strings.Contains(body, "key-") {
			t.Errorf("%s lists %s", user, body)
		}
	}
	files, err := filepath.Glob(filepath.Join(st.all.views.Service.Dir(), "credentials.json*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if raw, err := os.ReadFile(files[0]); err != nil || strings.Contains(string(raw), "key-ana") {
		t.Errorf("the file has %s, %v", raw, err)
	}
}

// TestOperatorsCredential lists the tools with the credential that the operator stores for that, and wants it to be used
// for nothing else.
func TestOperatorsCredential(t *testing.T) {
	url, seen := startLedger(t)
	st := ledgerStack(t, url, access.Token{Name: "ana"})
	st.token = st.secrets["ana"]
	ledger, _ := st.gateway.Upstream("ledger")
	if _, err := ledger.Tools(t.Context()); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("listed without a credential: %v", err)
	}
	if status, body := st.request(http.MethodPut, "/api/credentials/ledger", `{"name":"KEY","value":"key-whole","user":"operator"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	tools, err := ledger.Tools(t.Context())
	if err != nil || len(tools) != 1 {
		t.Errorf("listed are %v, %v", tools, err)
	}
	before := len(seen())
	if _, body := st.request(http.MethodPost, "/api/tools/ledger/write/call", `{"arguments":{}}`); !strings.Contains(body, "your own KEY") {
		t.Errorf("a user without a credential reads %s", body)
	}
	if now := len(seen()); now != before {
		t.Errorf("the server was sent %v", seen()[before:])
	}
	if status, body := st.request(http.MethodDelete, "/api/credentials/ledger?user=operator", ""); status != http.StatusOK || !strings.Contains(body, ":1}") {
		t.Errorf("%d %s", status, body)
	}
	if _, err := ledger.Tools(t.Context()); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("listed with a credential that was removed: %v", err)
	}
}

// TestCredentialsStayHome moves a server elsewhere, as somebody who may change servers could, and wants no key to follow.
func TestCredentialsStayHome(t *testing.T) {
	url, _ := startLedger(t)
	st := ledgerStack(t, url, access.Token{Name: "ana"})
	if status, body := st.store("ana", "key-ana"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	thief, seen := startLedger(t)
	st.gateway.Set([]upstream.Server{{Name: "ledger", URL: thief, Headers: map[string]string{"Authorization": "Bearer ${user:KEY}"}}})
	if _, body := st.request(http.MethodPost, "/api/tools/ledger/write/call", `{"arguments":{}}`); !strings.Contains(body, "your own KEY") {
		t.Errorf("the answer is %s", body)
	}
	if got := seen(); len(got) != 0 {
		t.Errorf("the thief is sent %v", got)
	}
	if _, body := st.request(http.MethodGet, "/api/credentials", ""); !strings.Contains(body, `"stored":false`) {
		t.Errorf("listed is %s", body)
	}
}

// TestNoCredentials wants the routes to say that nothing is kept, without a key.
func TestNoCredentials(t *testing.T) {
	st := serveTools(t, pathTools(), nil)
	for _, c := range [][3]string{
		{"GET", "/api/credentials", ""},
		{"PUT", "/api/credentials/github", `{"name":"A","value":"b"}`},
		{"DELETE", "/api/credentials/github", ""},
	} {
		if status, body := st.request(c[0], c[1], c[2]); status != http.StatusNotFound || !strings.Contains(body, "no credentials of users are kept") {
			t.Errorf("%v: %d %s", c, status, body)
		}
	}
}
