package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestRemoteServers adds servers at a url, in both transports, with a header that is read from the environment, and
// calls their tools.
func TestRemoteServers(t *testing.T) {
	pick := func(*http.Request) *mcp.Server { return newUpstream() }
	tests := map[string]http.Handler{
		"http": mcp.NewStreamableHTTPHandler(pick, nil),
		"sse":  mcp.NewSSEHandler(pick, nil),
	}
	t.Setenv("REMOTE_TOKEN", "s3cret")
	for transport, handler := range tests {
		t.Run(transport, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer s3cret" {
					http.Error(w, "who are you?", http.StatusUnauthorized)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			defer srv.Close()
			data := t.TempDir()
			out := runCommand(t, data, "servers", "add", "--transport", transport, "-H",
				"Authorization: Bearer ${REMOTE_TOKEN}", "far", srv.URL)
			if !strings.Contains(out, "far: 5 added") {
				t.Errorf("import says %q", out)
			}
			if got := runCommand(t, data, "call", "far/shout", "text=over the wire"); got != "OVER THE WIRE\n" {
				t.Errorf("the call prints %q", got)
			}
			if out := runCommand(t, data, "servers", "list", "-o", "json"); strings.Contains(out, "s3cret") ||
				!strings.Contains(out, `"transport": "`+transport) {
				t.Errorf("the list is %s", out)
			}
		})
	}
}
