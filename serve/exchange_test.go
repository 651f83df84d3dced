package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/internal/authtest"
	"tooldex/tool"
	"tooldex/upstream"
)

// resource is the audience of access tokens of these tests.
const resource = "https://tools.example.com"

// protectedLedger is a real MCP server that accepts the tokens of an authorization server and knows its users by them.
func protectedLedger(t *testing.T, as *authtest.Server) *authtest.Resource {
	t.Helper()
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		user := r.Header.Get("X-Person")
		s := mcp.NewServer(&mcp.Implementation{Name: "ledger", Version: "1"}, nil)
		s.AddTool(&mcp.Tool{Name: "write", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the ledger of " + user}}}, nil
			})
		return s
	}, nil)
	return as.Protect(t, func(person string, w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Person", person)
		handler.ServeHTTP(w, r)
	})
}

// TestTokensAreExchanged has two people come with access tokens, in sessions and over HTTP, and wants the server to get
// a token for each that was made for it, and never theirs; also after they renewed it in the middle of a session.
func TestTokensAreExchanged(t *testing.T) {
	as := authtest.New(t)
	ledger := protectedLedger(t, as)
	as.Change(func() { as.Audiences[ledger.URL] = true })
	st := serveTools(t, []*tool.Tool{{Server: "ledger", Name: "write", Description: "Write a note into the ledger."}},
		func(c *config.Config) {
			c.Serve.Mode = "full"
			c.OAuth.Issuers, c.OAuth.Resource = []string{as.URL}, resource
		}, access.Token{Name: "carl"})
	t.Setenv("LEDGER_SECRET", authtest.ClientSecret)
	st.gateway.Set([]upstream.Server{{Name: "ledger", URL: ledger.URL, OAuth: &upstream.OAuth{
		Exchange: as.URL + "/token", Audience: ledger.URL, ClientID: authtest.ClientID, ClientSecret: "${LEDGER_SECRET}",
	}}})
	var all []string // the callers' tokens
	tokenOf := func(user string) string {
		all = append(all, as.TokenFor(user, "desk", resource, time.Hour))
		return all[len(all)-1]
	}
	sessions := map[string]*mcp.ClientSession{}
	stacks := map[string]*stack{}
	for _, user := range []string{"ana", "ben"} {
		own := *st
		own.token = tokenOf(user)
		// The older protocol has sessions, whose context is that of the request which began them.
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: st.url + "/mcp", HTTPClient: own.client(), MaxRetries: -1},
			&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		stacks[user], sessions[user] = &own, session
	}
	for range 2 {
		for user, session := range sessions {
			if text, failed := st.callText(session, "write", map[string]string{}); failed || text != "the ledger of "+user {
				t.Errorf("%s reads %s", user, text)
			}
			if _, body := stacks[user].request(http.MethodPost, "/api/tools/ledger/write/call", `{"arguments":{}}`); !strings.Contains(body,
				"the ledger of "+user) {
				t.Errorf("%s reads %s over HTTP", user, body)
			}
		}
	}
	// The token with which the session began is gone, and another has come.
	as.RevokeToken(stacks["ana"].token)
	stacks["ana"].token = tokenOf("ana")
	if text, failed := st.callText(sessions["ana"], "write", map[string]string{}); failed || text != "the ledger of ana" {
		t.Errorf("ana reads %s", text)
	}
	as.Change(func() {
		if n := len(as.Subjects); n != 3 || as.Subjects[2] != stacks["ana"].token {
			t.Errorf("%d tokens were exchanged", n)
		}
	})
	// A token that tooldex made is exchanged nowhere.
	st.token = st.secrets["carl"]
	if _, body := st.request(http.MethodPost, "/api/tools/ledger/write/call", `{"arguments":{}}`); !strings.Contains(body, "this caller has none") {
		t.Errorf("carl reads %s", body)
	}
	carl := st.connect("/mcp")
	if text, failed := st.callText(carl, "write", map[string]string{}); !failed || !strings.Contains(text, "this caller has none") {
		t.Errorf("carl reads %s", text)
	}
	as.Change(func() {
		if n := len(as.Subjects); n != 3 {
			t.Errorf("a token that is none of the authorization server was sent to it: %d", n)
		}
	})
	for _, sent := range ledger.Tokens() {
		for _, token := range append(all, st.secrets["carl"]) {
			if sent == token {
				t.Error("the server is sent the token of a caller")
			}
		}
	}
}
