package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/tool"
	"tooldex/upstream"
)

// TestQuotas uses up the quotas of tokens over HTTP and MCP: the refusals say when to try again, other tokens go on,
// and metrics count them.
func TestQuotas(t *testing.T) {
	url, begun, ended := startPatient(t)
	st := serveTools(t, []*tool.Tool{
		{Server: "patient", Name: "wait", Description: "Wait."}, {Server: "patient", Name: "quick", Description: "Answer."},
	}, func(c *config.Config) { c.Serve.Mode = "full" }, access.Token{Name: "few", Limits: access.Limits{Calls: 3, Concurrent: 1}},
		access.Token{Name: "rare", Limits: access.Limits{Requests: 2}}, access.Token{Name: "free"})
	st.gateway.Set([]upstream.Server{{Name: "patient", URL: url}})
	post := func(path string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, st.url+path, strings.NewReader(`{"arguments":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := st.client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var p struct{ Code, Detail string }
		_ = json.NewDecoder(res.Body).Decode(&p) // what is no problem has none of these
		return fmt.Sprintf("%d %s %s: %s", res.StatusCode, res.Header.Get("Retry-After"), p.Code, p.Detail)
	}
	const quick = "/api/tools/patient/quick/call"

	// While one call runs in a session, others are refused: in that session, in another one, and over HTTP.
	st.token = st.secrets["few"]
	session, other := st.connect("/mcp"), st.connectSSE("/sse")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _, _ = session.CallTool(ctx, &mcp.CallToolParams{Name: "wait"}) }()
	await(t, begun, "the call begins")
	for name, one := range map[string]*mcp.ClientSession{"the same": session, "another": other} {
		if text, failed := st.callText(one, "quick", nil); !failed || !strings.HasPrefix(text, "unavailable: this token permits 1 calls at once") {
			t.Errorf("a second call in %s session reads %q", name, text)
		}
	}
	if got := post(quick); got != "429 1 rate_limited: this token permits 1 calls at once" {
		t.Errorf("a second call over HTTP: %s", got)
	}
	cancel()
	await(t, ended, "the call ends")

	// Two more calls are permitted in this minute, whatever their protocol; refusals did not count.
	got := post(quick)
	for strings.Contains(got, "at once") { // until the end of the first has come through
		got = post(quick)
	}
	if got != "200  : " {
		t.Errorf("the second call of the minute: %s", got)
	}
	if text, failed := st.callText(other, "quick", nil); failed || text != "done" {
		t.Errorf("the third call of the minute reads %q", text)
	}
	if text, failed := st.callText(session, "quick", nil); !failed || !strings.Contains(text, "this token permits 3 calls a minute") {
		t.Errorf("the fourth call of the minute reads %q", text)
	}
	if got := post(quick); !strings.HasPrefix(got, "429 20 rate_limited: this token permits 3 calls a minute") &&
		!strings.HasPrefix(got, "429 19 rate_limited: this token permits 3 calls a minute") {
		t.Errorf("the fifth call of the minute: %s", got)
	}
	if status, body := st.request(http.MethodGet, "/api/tools", ""); status != http.StatusOK {
		t.Errorf("what is no call: %d %s", status, body)
	}

	st.token = st.secrets["rare"]
	for i, want := range []string{"200 ", "200 ", "429 30 rate_limited: this token permits 2 requests a minute", "429 "} {
		if got := post("/api/tools/patient/quick/call"); !strings.HasPrefix(got, want) {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
	if got := post("/mcp"); !strings.HasPrefix(got, "429 30 ") {
		t.Errorf("a request over MCP: %s", got)
	}

	st.token = st.secrets["free"]
	for range 10 {
		if got := post(quick); got != "200  : " {
			t.Errorf("another token: %s", got)
		}
	}
	_, page := st.request(http.MethodGet, "/metrics", "")
	for _, want := range []string{
		`tooldex_quota_refused_total{limit="calls",token="token few"} 2`, `tooldex_quota_refused_total{limit="requests",token="token rare"} 3`,
		`tooldex_quota_refused_total{limit="concurrent",token="token few"} `,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("metrics have no %s:\n%s", want, page)
		}
	}
}
