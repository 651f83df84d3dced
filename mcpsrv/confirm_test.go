package mcpsrv

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// TestAnswersAreForTheirCall wants what a person answered for one call not to be taken for another: neither with other
// arguments, nor of another tool, nor by somebody else.
func TestAnswersAreForTheirCall(t *testing.T) {
	client := &tool.Client{Rounds: true, Capabilities: json.RawMessage(`{"elicitation":{}}`)}
	s := New(Options{Searcher: &fixture{}, Caller: &fixture{}, Catalog: &fixture{}})
	defer func() { _ = s.Close() }()
	ana, ben := access.WithPrincipal(t.Context(), access.Principal{Key: "ana"}),
		access.WithPrincipal(t.Context(), access.Principal{Key: "ben"})
	asked := callKey("files/erase", json.RawMessage(`{"path":"/tmp/x","n":10000000000000000000001}`))
	first, err := s.runAskingClient(ana, client, asked, nil, func(ctx context.Context, c *tool.Client,
		_ json.RawMessage,
	) (json.RawMessage, error) {
		return c.Ask(ctx, elicitMethod, json.RawMessage(`{"message":"?"}`))
	})
	var q struct{ RequestState string }
	if err != nil || json.Unmarshal(first, &q) != nil || q.RequestState == "" {
		t.Fatalf("%s, %v", first, err)
	}
	yes := orderedjson.Encode(map[string]any{
		"requestState":   q.RequestState,
		"inputResponses": map[string]any{answerKey: map[string]any{"action": "accept"}},
	})
	for name, c := range map[string]struct {
		ctx context.Context
		of  string
	}{
		"other arguments": {ana, callKey("files/erase",
			json.RawMessage(`{"path":"/","n":10000000000000000000001}`))},
		"another number": {ana, callKey("files/erase",
			json.RawMessage(`{"path":"/tmp/x","n":10000000000000000000000}`))},
		"another tool": {ana, callKey("files/write",
			json.RawMessage(`{"path":"/tmp/x","n":10000000000000000000001}`))},
		"nothing of a call": {ana, ""},
		"somebody else":     {ben, asked},
	} {
		if got, err := s.runAskingClient(c.ctx, client, c.of, yes, nil); tool.CodeOf(err) != tool.NotFound {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	same := callKey("files/erase", json.RawMessage(` {"n": 10000000000000000000001, "path": "/tmp/\u0078"}`))
	if got, err := s.runAskingClient(ana, client, same, yes, nil); err != nil || string(got) != `{"action":"accept"}` {
		t.Errorf("the same call, written otherwise: %s, %v", got, err)
	}
}

// refusals keeps what an Auditor is told.
type refusals []tool.Call

func (l *refusals) Refused(_ context.Context, name string, c tool.Call, err error) {
	c.ID += tool.ID(" " + name + " " + tool.CodeOf(err).String())
	*l = append(*l, c)
}

// TestRefusedCallsAreTold holds that the Auditor hears of the calls that never reach the Caller, and of no other: those
// with wrong arguments are refused, and recorded, by the Caller.
func TestRefusedCallsAreTold(t *testing.T) {
	var l refusals
	f := newFixture(t, []*tool.Tool{
		{Server: "s", Name: "off", Disabled: true}, {
			Server: "s", Name: "strict",
			InputSchema: json.RawMessage(`{"type":"object","required":["a"]}`),
		},
	}, Options{Auditor: &l})
	session := f.connect(t, "", nil)
	for _, name := range []string{"absent", "off", "strict"} {
		for _, p := range []*mcp.CallToolParams{{Name: name}, {
			Name:      invokeName,
			Arguments: map[string]any{"name": name},
		}} {
			if res, err := session.CallTool(t.Context(), p); err != nil || !res.IsError {
				t.Errorf("%s is called: %v, %v", name, res, err)
			}
		}
	}
	if res, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name:      "strict",
		Arguments: map[string]any{"a": 1},
	}); err != nil || res.IsError || len(f.calls) != 1 {
		t.Errorf("a call that fits: %v, %v", res, err)
	}
	want := []tool.ID{" absent not_found", " absent not_found", "s/off off denied", "s/off off denied"}
	if len(l) != len(want) {
		t.Fatalf("%d are told, want %d", len(l), len(want))
	}
	for i, one := range l {
		if one.ID != want[i] || one.Who.Client != "test" || one.Who.Via != "stdio" {
			t.Errorf("%+v, want %s", one, want[i])
		}
	}
}
