package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/httpapi"
	"tooldex/tool"
)

// get reads a URL without a token, with headers in pairs.
func (st *stack) get(url string, headers ...string) (*http.Response, string) {
	st.t.Helper()
	req, err := http.NewRequestWithContext(st.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		st.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		st.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		st.t.Fatal(err)
	}
	return res, string(body)
}

// TestDiscovery finds the server as the draft of server cards describes it: from the catalog of the domain to the card,
// and from the card to the connection. Neither needs a token; the connection does.
func TestDiscovery(t *testing.T) {
	st := serveTools(t, pathTools(), func(c *config.Config) { c.Serve.Card = "com.example.tools/main" },
		access.Token{Name: "ana"})
	res, body := st.get(st.url+"/.well-known/mcp/catalog.json", "Origin", "https://elsewhere.example")
	var catalog struct {
		SpecVersion string `json:"specVersion"`
		Entries     []struct{ Identifier, DisplayName, Type, URL string }
	}
	if err := json.Unmarshal([]byte(body), &catalog); err != nil || res.StatusCode != http.StatusOK || len(catalog.Entries) != 1 {
		t.Fatalf("%d %s, %v", res.StatusCode, body, err)
	}
	entry := catalog.Entries[0]
	if entry.Identifier != "urn:air:tools.example.com:main" || entry.Type != "application/mcp-server-card+json" ||
		res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%+v %v", entry, res.Header)
	}
	res, body = st.get(entry.URL, "Accept", entry.Type)
	var card struct {
		Schema  string `json:"$schema"`
		Name    string
		Version string
		Remotes []struct{ Type, URL string }
	}
	if err := json.Unmarshal([]byte(body), &card); err != nil || res.Header.Get("Content-Type") != entry.Type {
		t.Fatalf("%s %v, %v", body, res.Header, err)
	}
	if card.Name != "com.example.tools/main" || card.Schema != "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json" ||
		card.Version == "" || len(card.Remotes) != 1 || card.Remotes[0].Type != "streamable-http" {
		t.Errorf("%s", body)
	}
	for _, secret := range []string{"list_issues", "github", "vault"} {
		if strings.Contains(body, secret) {
			t.Errorf("the card names %s: %s", secret, body)
		}
	}
	if res, body := st.get(entry.URL, "If-None-Match", `"x", W/`+res.Header.Get("ETag")); res.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("an unchanged card is answered with %d %s", res.StatusCode, body)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	remote := &mcp.StreamableClientTransport{Endpoint: card.Remotes[0].URL, MaxRetries: -1}
	if _, err := client.Connect(t.Context(), remote, nil); err == nil {
		t.Error("a client without a token connects")
	}
	remote.HTTPClient = st.client()
	st.token = st.secrets["ana"]
	session, err := client.Connect(t.Context(), remote, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = session.Close()
}

// TestNoCard wants nothing to be told unless the setting says so, and a name that is none to be refused.
func TestNoCard(t *testing.T) {
	st := serveTools(t, pathTools(), nil, access.Token{Name: "ana"})
	for _, path := range []string{"/.well-known/mcp/catalog.json", "/mcp/server-card"} {
		if res, body := st.get(st.url + path); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s is answered with %d %s", path, res.StatusCode, body)
		}
	}
	for _, name := range []string{"none", "a/b/c", "com.example/", "/a", "com example/a", strings.Repeat("a", 200) + "/b"} {
		if _, err := httpapi.New(httpapi.Options{Card: name}); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("the name %.20q is taken: %v", name, err)
		}
	}
}

// TestCardOpensNothingElse wants the path of the card to need a token for everything but reading the card, also where a
// profile has its name.
func TestCardOpensNothingElse(t *testing.T) {
	st := serveTools(t, pathTools(), func(c *config.Config) {
		c.Serve.Card = "com.example/main"
		c.Profiles = map[string]config.Profile{"server-card": {Servers: []string{"vault"}}}
	}, access.Token{Name: "ana"})
	const hello = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	for _, method := range []string{http.MethodPost, http.MethodHead, http.MethodDelete, http.MethodPut} {
		if status, body := st.request(method, "/mcp/server-card", hello); status != http.StatusUnauthorized {
			t.Errorf("%s without a token is answered with %d %s", method, status, body)
		}
	}
	for _, path := range []string{"/mcp/server-card/", "/mcp/server-card/x", "//mcp/server-card", "/mcp/servers/server-card"} {
		if status, body := st.request(http.MethodGet, path, ""); status != http.StatusUnauthorized {
			t.Errorf("%s without a token is answered with %d %s", path, status, body)
		}
	}
}
