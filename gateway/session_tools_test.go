package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

func TestUpdateNeeds(t *testing.T) {
	type listing struct {
		has    capabilitySet
		listed []string
		hidden []string
	}
	for name, c := range map[string]struct {
		listings []listing
		known    []string // in the end
	}{
		"alike": {[]listing{{0, []string{"a", "b"}, nil}, {0, []string{"a"}, nil}}, []string{"a"}},
		"shown to who can be asked": {
			[]listing{{0, []string{"a"}, nil}, {canSample, []string{"a", "b"}, nil}, {0, []string{"a"}, []string{"b"}}},
			[]string{"a", "b"},
		},
		"in the other order": {
			[]listing{{canSample, []string{"a", "b"}, nil}, {0, []string{"a"}, []string{"b"}}, {0, nil, []string{"b"}}},
			[]string{"b"},
		},
		"removed": {
			[]listing{{canSample, []string{"a", "b"}, nil}, {0, []string{"a"}, []string{"b"}}, {canSample, []string{"a"}, nil}},
			[]string{"a"},
		},
		"by different questions": {
			[]listing{{canSample, []string{"s"}, nil}, {canElicit, []string{"e"}, []string{"s"}}, {0, nil, []string{"e", "s"}}},
			[]string{"e", "s"},
		},
		"to all in the end": {
			[]listing{{canSample, []string{"a"}, nil}, {0, []string{"a"}, nil}, {0, nil, nil}}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var needs map[string]capabilitySet
			for i, l := range c.listings {
				var tools []*tool.Tool
				for _, name := range l.listed {
					tools = append(tools, &tool.Tool{Name: name})
				}
				var hidden []string
				if needs, hidden = updateNeeds(needs, l.has, tools); !slices.Equal(hidden, l.hidden) {
					t.Errorf("listing %d hides %q, want %q", i, hidden, l.hidden)
				}
			}
			if diff := gocmp.Diff(c.known, slices.Sorted(maps.Keys(needs))); diff != "" {
				t.Errorf("known (-want +got):\n%s", diff)
			}
		})
	}
}

// askingServer lists the tool "ask" to sessions whose client can be asked for a model's answer, and "plain" to all.
func askingServer() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "asking", Version: "1"}, nil)
	for _, name := range []string{"ask", "plain"} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			conn, ok := req.GetSession().(*mcp.ServerSession)
			if list, isList := res.(*mcp.ListToolsResult); ok && isList && conn.InitializeParams().Capabilities.Sampling == nil {
				list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == "ask" })
			}
			return res, err
		}
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

// TestToolsOfOtherSessions holds that the listing of a session which is shown less names what others were shown, also
// in the next run of the program.
func TestToolsOfOtherSessions(t *testing.T) {
	srv := listen(t, askingServer())
	o := Options{Dir: t.TempDir()}
	able := &tool.Client{
		Session: "able", Capabilities: json.RawMessage(`{"sampling":{}}`),
		Ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return nil, nil },
	}
	list := func(g *Gateway) (names, hidden []string) {
		up, _ := g.Upstream("asking")
		tools, hidden, err := up.ListTools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range tools {
			names = append(names, one.Name)
		}
		return names, hidden
	}
	check := func(when string, g *Gateway, wantNames, wantHidden []string) {
		t.Helper()
		if names, hidden := list(g); !slices.Equal(names, wantNames) || !slices.Equal(hidden, wantHidden) {
			t.Errorf("%s: lists %q and hides %q, want %q and %q", when, names, hidden, wantNames, wantHidden)
		}
	}
	g := startGateway(t, o, upstream.Server{Name: "asking", URL: srv.URL})
	check("before any client", g, []string{"plain"}, nil)
	if _, err := g.Call(t.Context(), tool.Call{ID: "asking/plain", Client: able}); err != nil {
		t.Fatal(err)
	}
	check("with a client that can be asked", g, []string{"ask", "plain"}, nil)
	if err := errors.Join(g.Stop("asking"), g.Start(t.Context(), "asking")); err != nil {
		t.Fatal(err)
	}
	check("after a restart", g, []string{"plain"}, []string{"ask"})
	if n := g.Status()[0].Tools; n != 2 {
		t.Errorf("the status has %d tools, want 2", n)
	}
	check("in the next run", startGateway(t, o, upstream.Server{Name: "asking", URL: srv.URL}), []string{"plain"},
		[]string{"ask"})
}
