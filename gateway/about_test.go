package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/upstream"
)

// TestAbout requires that what a server says of itself is known once its tools were read, with the secrets of its
// configuration hidden, and that a server which says nothing has nothing.
func TestAbout(t *testing.T) {
	const secret = "sk-4711-not-for-others"
	for _, want := range []upstream.About{
		{},
		{Title: "Forge", Description: "Keeps repositories.", Instructions: "Begin with list_tools. Key: ***"},
	} {
		instructions := want.Instructions
		if instructions != "" {
			instructions = "Begin with list_tools. Key: " + secret
		}
		s := mcp.NewServer(&mcp.Implementation{
			Name: "forge", Version: "1", Title: want.Title, Description: want.Description,
		}, &mcp.ServerOptions{Instructions: instructions})
		srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
		t.Cleanup(srv.Close)
		g := startGateway(t, Options{}, upstream.Server{
			Name: "forge", URL: srv.URL, Headers: map[string]string{"X-Api-Key": secret},
		})
		u, _ := g.Upstream("forge")
		if d := gocmp.Diff(upstream.About{}, u.About()); d != "" {
			t.Errorf("before it was started: %s", d)
		}
		list(t, g, "forge")
		if d := gocmp.Diff(want, u.About()); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}
