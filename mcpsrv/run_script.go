package mcpsrv

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/script"
	"tooldex/tool"
)

const scriptName = "run_script"

// maxScripts is how many scripts run at once for all clients. Each may take 128 MiB.
const maxScripts = 4

// scriptTool defines the tool that runs programs. It has no annotations: the protocol's defaults say that it may
// destroy and reaches an open world.
func scriptTool() metaTool {
	return metaTool{
		wireTool: wireTool{
			Name: scriptName,
			Description: "Run JavaScript: tools.SERVER.TOOL({...}) calls a tool, search(text), describe(name). " +
				"Filter results and return little.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"script":{"type":"string"}},"required":["script"]}`),
		},
		aliases: map[string]string{"code": "script", "source": "script", "javascript": "script"},
		handle:  (*Server).runScript,
	}
}

// runScript answers run_script.
func (s *Server) runScript(ctx context.Context, req *mcp.CallToolRequest, raw json.RawMessage) (*rawResult, error) {
	a, err := decodeArguments[struct {
		Script string `json:"script"`
	}](raw)
	if err != nil {
		return nil, err
	}
	select {
	case s.scripts <- struct{}{}:
		defer func() { <-s.scripts }()
	default:
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "run script", Msg: "as many scripts as may run at once run already",
			Hint: "try again in a moment, or call the tools one by one",
		}
	}
	answer, err := script.Run(ctx, a.Script, scriptHost{s, req}, script.Limits{Total: s.o.AnswerWithin})
	if err != nil {
		return nil, err
	}
	return textResult(string(answer)), nil
}

// scriptHost is what a script reaches: the tools of the view of the client that sent it.
type scriptHost struct {
	s   *Server
	req *mcp.CallToolRequest
}

// Call implements script.Host. The call takes the way of any other; questions of the tool go to the client of the
// script if it can be asked while its request is answered. One that is asked by the answer itself cannot: it would send
// the script again, and the calls before would be made twice.
func (h scriptHost) Call(ctx context.Context, server, name string, args json.RawMessage) (json.RawMessage, error) {
	inner := &mcp.CallToolRequest{
		Session: h.req.Session, Extra: h.req.Extra,
		Params: &mcp.CallToolParamsRaw{Name: string(tool.MakeID(server, name)), Arguments: args, Meta: protocolMeta(h.req)},
	}
	_, res, err := h.s.resolveCall(ctx, inner, inner.Params.Name, args)
	if err != nil {
		return nil, err
	}
	return res.Raw, nil
}

// protocolMeta returns the members of a request's _meta that describe the client, without what it can be asked.
func protocolMeta(req *mcp.CallToolRequest) mcp.Meta {
	kept := mcp.Meta{}
	for key, value := range req.Params.Meta {
		if strings.HasPrefix(key, "io.modelcontextprotocol/") && key != mcp.MetaKeyClientCapabilities {
			kept[key] = value
		}
	}
	return kept
}

// Search implements script.Host.
func (h scriptHost) Search(ctx context.Context, query string, limit int) (json.RawMessage, error) {
	res, err := h.s.o.Searcher.Search(ctx, tool.Query{
		Text: query, Limit: min(max(limit, 0), tool.MaxLimit), Detail: tool.DetailSignature, Session: h.req.Session.ID(),
		Profile: h.s.o.Profile,
	})
	if err != nil {
		return nil, err
	}
	h.s.recordSearch(h.req, res)
	type found struct {
		Server    string  `json:"server"`
		Tool      string  `json:"tool"`
		Name      string  `json:"name"`
		Signature string  `json:"signature"`
		Summary   string  `json:"summary"`
		Score     float64 `json:"score"`
		Warning   string  `json:"warning,omitempty"`
	}
	out := make([]found, 0, len(res.Tools))
	for i := range res.Tools {
		t := &res.Tools[i]
		out = append(out, found{
			t.Server, t.Name, clientName(t.Exposed, t.Server, t.Name), t.Signature, t.Summary, t.Score, t.Warning,
		})
	}
	return orderedjson.Encode(out), nil
}

// Describe implements script.Host.
func (h scriptHost) Describe(ctx context.Context, name string) (string, error) {
	set := h.s.currentSet()
	t, err := h.s.resolveTool(set, name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	describeTool(&b, set, t, listedName(set, t))
	return b.String(), nil
}
