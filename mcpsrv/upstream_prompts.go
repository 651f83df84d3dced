package mcpsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// upstreamPrompt is a prompt of a server, with the name that clients call it by.
type upstreamPrompt struct {
	exposed, server, name string
	raw                   object
}

// upstreamPrompts returns the prompts of all servers, by server and name. They are named as tools are; one that has the
// name of a prompt of our own gets its server's name too. Of two with one name on one server the first counts.
func (s *Server) upstreamPrompts() []upstreamPrompt {
	var ids []*tool.Tool
	raws := map[tool.ID]object{}
	for _, f := range s.o.Upstreams.Features() {
		for _, raw := range f.Prompts {
			t := &tool.Tool{Server: f.Server, Name: stringMember(raw, "name")}
			o, err := orderedjson.ParseObject(raw)
			if _, seen := raws[t.ID()]; err != nil || t.Name == "" || seen {
				continue
			}
			raws[t.ID()] = o
			ids = append(ids, t)
		}
	}
	slices.SortFunc(ids, func(a, b *tool.Tool) int { return strings.Compare(string(a.ID()), string(b.ID())) })
	template := ""
	if len(s.o.Upstreams.Features()) > 1 {
		template = tool.DefaultTemplate // also if only one of several has prompts
	}
	out := make([]upstreamPrompt, len(ids))
	for i, exposed := range tool.ExposedNames(ids, template) {
		if exposed == promptName || exposed == enrichPromptName {
			exposed = tool.ExposedNames(ids[i:i+1], tool.DefaultTemplate)[0]
		}
		out[i] = upstreamPrompt{exposed, ids[i].Server, ids[i].Name, raws[ids[i].ID()]}
	}
	return out
}

// listPrompts lists this server's own prompts and those of all servers behind.
func (s *Server) listPrompts(ctx context.Context, next mcp.MethodHandler,
	r *mcp.ListPromptsRequest,
) (mcp.Result, error) {
	var entries []entry
	own, err := next(ctx, "prompts/list", &mcp.ListPromptsRequest{
		Session: r.Session, Params: &mcp.ListPromptsParams{},
		Extra: r.Extra,
	})
	if err != nil {
		return nil, err
	}
	if list, ok := own.(*mcp.ListPromptsResult); ok {
		for _, p := range list.Prompts {
			if p.Name == changedName {
				continue
			}
			entries = append(entries, entry{p.Name, orderedjson.Encode(p)})
		}
	}
	for _, p := range s.upstreamPrompts() {
		entries = append(entries, entry{p.exposed, p.raw.With("name", orderedjson.Encode(p.exposed)).Bytes()})
	}
	cursor := ""
	if r.Params != nil {
		cursor = r.Params.Cursor
	}
	return pageOf(r, "prompts", entries, cursor)
}

// findPrompt returns the prompt with this exposed name, or with this server/name.
func (s *Server) findPrompt(name string) (upstreamPrompt, bool) {
	for _, p := range s.upstreamPrompts() {
		if p.exposed == name || p.server+"/"+p.name == name {
			return p, true
		}
	}
	return upstreamPrompt{}, false
}

// getPrompt answers prompts/get: an upstream's prompt from its server, any other by next.
func (s *Server) getPrompt(ctx context.Context, next mcp.MethodHandler, r *mcp.GetPromptRequest) (mcp.Result, error) {
	p, ok := s.findPrompt(r.Params.Name)
	if !ok {
		return next(ctx, "prompts/get", r)
	}
	params := object{jsonMember("name", p.name)}
	if r.Params.Arguments != nil {
		params = append(params, jsonMember("arguments", r.Params.Arguments))
	}
	raw, err := s.forwardRequest(ctx, r, r.Session, r.Params.Meta, p.server, "prompts/get", params,
		retryInput(r.Params.InputResponses, r.Params.RequestState))
	if err != nil {
		return nil, err
	}
	return &rawResult{raw: raw}, nil
}

// completeArgument asks the server of a prompt, or of a resource's template, to complete an argument.
func (s *Server) completeArgument(ctx context.Context, r *mcp.CompleteRequest) (mcp.Result, error) {
	ref := r.Params.Ref
	if ref == nil || r.Params.Argument.Name == "" {
		return nil, invalidParams("ref or argument.name is missing", "")
	}
	var server string
	asked := *ref
	switch ref.Type {
	case "ref/prompt":
		p, ok := s.findPrompt(ref.Name)
		if !ok {
			return emptyCompletion(), nil
		}
		server, asked.Name = p.server, p.name
	case "ref/resource":
		var err error
		if server, asked.URI, err = s.upstreamFeatures().resolveURI(ref.URI); err != nil {
			return nil, err
		}
	default:
		return nil, invalidParams(fmt.Sprintf("ref.type %q is not known", ref.Type), "use ref/prompt or ref/resource")
	}
	params := object{jsonMember("ref", &asked), jsonMember("argument", r.Params.Argument)}
	if r.Params.Context != nil {
		params = append(params, jsonMember("context", r.Params.Context))
	}
	raw, err := s.forwardRequest(ctx, r, r.Session, r.Params.Meta, server, "completion/complete", params, nil)
	if err != nil {
		return nil, err
	}
	return &rawResult{raw: raw}, nil
}

// emptyCompletion is the answer where nothing can be completed.
func emptyCompletion() *rawResult {
	return &rawResult{raw: json.RawMessage(`{"completion":{"values":[]}}`)}
}
