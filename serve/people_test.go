package serve

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/httpapi"
	"tooldex/tool"
)

// TestPeople lists profiles, tokens and clients, to those who may see them.
func TestPeople(t *testing.T) {
	tools := []*tool.Tool{
		{Server: "files", Name: "read", Description: "Read a file", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Server: "mail", Name: "send", Description: "Send a mail", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}
	st := serveTools(t, tools, func(c *config.Config) {
		c.Profiles = map[string]config.Profile{"reading": {Servers: []string{"files"}, Mode: "full"}}
	}, access.Token{Name: "whole"}, access.Token{Name: "scoped", View: access.View{Profile: "reading"}})
	st.token = st.secrets["scoped"]
	st.begin("/mcp")
	st.want(404, "GET", "/api/access", nil, nil)
	st.want(404, "GET", "/api/audit", nil, nil)
	var me struct {
		Name, Profile string
		Guarded       bool
	}
	st.want(200, "GET", "/api/whoami", nil, &me)
	if me.Name != "token scoped" || me.Profile != "reading" || !me.Guarded {
		t.Errorf("who am I: %+v", me)
	}
	st.token = st.secrets["whole"]
	session := st.begin("/mcp/servers/mail")
	var got httpapi.AccessReport
	answer := st.want(200, "GET", "/api/access", nil, &got)
	if len(got.Profiles) != 1 || got.Profiles[0].Tools != 1 || got.Profiles[0].Mode != "full" {
		t.Errorf("profiles %+v", got.Profiles)
	}
	if len(got.Tokens) != 2 || got.Tokens[1].Profile != "reading" || strings.Contains(answer, "sha256") ||
		strings.Contains(answer, st.token) {
		t.Errorf("tokens %s", answer)
	}
	if len(got.Clients) != 2 || got.Clients[0].Who != "token scoped" || got.Clients[0].Profile != "reading" ||
		got.Clients[1].Who != "token whole" || got.Clients[1].Server != "mail" || got.Clients[1].Name != "test" {
		t.Fatalf("clients %+v", got.Clients)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	st.want(200, "GET", "/api/access", nil, &got)
	if len(got.Clients) != 1 {
		t.Errorf("after one has left, the clients are %+v", got.Clients)
	}
}

// begin opens a session in a revision of the protocol that has sessions, until the test ends.
func (st *stack) begin(path string) *mcp.ClientSession {
	st.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(st.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: st.url + path, HTTPClient: st.client(), MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(func() { _ = session.Close() })
	return session
}
