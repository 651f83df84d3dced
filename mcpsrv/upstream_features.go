package mcpsrv

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
	"tooldex/upstream"
)

// Upstreams answers requests for what servers offer beside their tools.
type Upstreams interface {
	// Features returns what each server offers, by name. It answers at once, from what is known.
	Features() []upstream.Features
	// Forward sends a request to a server, as [upstream.Request] says.
	Forward(ctx context.Context, r upstream.Request) (json.RawMessage, error)
}

// announceFeatures sets the capabilities that initialize reports for the features that are forwarded.
func announceFeatures(c *mcp.ServerCapabilities) {
	c.Resources = &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true}
	c.Prompts = &mcp.PromptCapabilities{ListChanged: true}
	c.Completions = &mcp.CompletionCapabilities{}
	c.Logging = &mcp.LoggingCapabilities{}
}

// forwardFeature answers the requests that go to upstreams. ok is false for all others.
func (s *Server) forwardFeature(ctx context.Context, next mcp.MethodHandler, method string,
	req mcp.Request) (res mcp.Result,
	err error, ok bool,
) {
	if s.o.Upstreams == nil {
		return nil, nil, false
	}
	switch r := req.(type) {
	case *mcp.ServerRequest[*mcp.ListResourcesParams]:
		res, err = s.listResources(r)
	case *mcp.ServerRequest[*mcp.ListResourceTemplatesParams]:
		res, err = s.listTemplates(r)
	case *mcp.ServerRequest[*mcp.ReadResourceParams]:
		res, err = s.readResource(ctx, r)
	case *mcp.ServerRequest[*mcp.ListPromptsParams]:
		res, err = s.listPrompts(ctx, next, r)
	case *mcp.ServerRequest[*mcp.GetPromptParams]:
		res, err = s.getPrompt(ctx, next, r)
	case *mcp.ServerRequest[*mcp.CompleteParams]:
		res, err = s.completeArgument(ctx, r)
	case *mcp.ServerRequest[*mcp.SetLoggingLevelParams]:
		s.setLevel(r.Params.Level)
		res, err = next(ctx, method, req)
	default:
		return nil, nil, false
	}
	return res, err, true
}

// FeaturesChanged notifies connected clients that the lists of resources and prompts changed. It does not block.
func (s *Server) FeaturesChanged() {
	// The SDK announces a change only when one of its own features changes. These are gone before anybody can list
	// them.
	s.mcp.AddPrompt(&mcp.Prompt{Name: changedName}, nil)
	s.mcp.RemovePrompts(changedName)
	s.mcp.AddResource(&mcp.Resource{URI: uriPrefix + changedName, Name: changedName}, nil)
	s.mcp.RemoveResources(uriPrefix + changedName)
}

// changedName is the name of the prompt and the resource that FeaturesChanged adds and removes.
const changedName = "tooldex-changed"

// rootsChanged passes a change of a client's roots on to the upstreams that work for it.
func (s *Server) rootsChanged(ctx context.Context, r *mcp.RootsListChangedRequest) {
	c := s.upstreamClient(ctx, r, r.Session, nil)
	if _, err := s.o.Upstreams.Forward(ctx, upstream.Request{
		Method: "notifications/roots/list_changed",
		Client: c,
	}); err != nil {
		s.o.Logger.Debug("change of roots not delivered", "err", err)
	}
}

// features is what all servers offer at one moment. The items are shared and must not be changed.
type features struct {
	all   []upstream.Features
	plain bool // there is only one server, so names and URIs need no prefix
}

// upstreamFeatures returns what all servers offer now.
func (s *Server) upstreamFeatures() features {
	all := s.o.Upstreams.Features()
	return features{all, len(all) == 1}
}

// uriPrefix precedes the server's name in the URIs of resources: tooldex://files/file:///notes.txt is what the server
// "files" calls file:///notes.txt.
const uriPrefix = "tooldex://"

// exposedURI returns a server's URI, or template, as clients see it.
func (f features) exposedURI(server, uri string) string {
	if f.plain {
		return uri
	}
	return uriPrefix + url.PathEscape(server) + "/" + uri
}

// resolveURI returns the server of a client's URI, and that server's own name for it. A URI without a prefix, such as
// one in the result of a tool, is looked up in the resources and then the templates of all servers. The error is ready
// for the client.
func (f features) resolveURI(uri string) (server, own string, err error) {
	if rest, ok := strings.CutPrefix(uri, uriPrefix); ok {
		name, own, _ := strings.Cut(rest, "/")
		if name, err := url.PathUnescape(name); err == nil && f.hasServer(name) {
			return name, own, nil
		}
	}
	// With one server, a URI needs no prefix and every URI is that server's.
	if f.plain {
		return f.all[0].Server, uri, nil
	}
	for _, one := range f.all {
		if slices.ContainsFunc(one.Resources, func(r json.RawMessage) bool { return stringMember(r, "uri") == uri }) {
			return one.Server, uri, nil
		}
	}
	for _, one := range f.all {
		if slices.ContainsFunc(one.Templates, func(t json.RawMessage) bool {
			return upstream.FitsTemplate(stringMember(t, "uriTemplate"), uri)
		}) {
			return one.Server, uri, nil
		}
	}
	return "", "", &jsonrpc.Error{
		Code: jsonrpc.CodeInvalidParams, Message: "Resource not found",
		Data: orderedjson.Encode(map[string]string{"uri": uri}),
	}
}

// hasServer reports whether a server of that name offers anything.
func (f features) hasServer(server string) bool {
	return slices.ContainsFunc(f.all, func(one upstream.Features) bool { return one.Server == server })
}

// stringMember returns a member that is a string, or "" if there is none.
func stringMember(raw json.RawMessage, key string) string {
	o, err := orderedjson.ParseObject(raw)
	if err != nil {
		return ""
	}
	var text string
	value, _ := o.Lookup(key)
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// entry is one item of a listing, as clients see it.
type entry struct {
	key string // unique in the listing
	raw json.RawMessage
}

// pageOf answers a listing. A cursor is the key of the last entry of the page before, so that it stays valid when the
// listing changes elsewhere.
func pageOf(r clientRequest, kind string, entries []entry, cursor string) (*rawResult, error) {
	from := 0
	if cursor != "" {
		at := slices.IndexFunc(entries, func(e entry) bool { return e.key == cursor })
		if at < 0 {
			return nil, &jsonrpc.Error{
				Code:    jsonrpc.CodeInvalidParams,
				Message: "unknown cursor; list again from the start",
			}
		}
		from = at + 1
	}
	to := min(from+listPage, len(entries))
	raws := make([]json.RawMessage, 0, to-from)
	for _, e := range entries[from:to] {
		raws = append(raws, e.raw)
	}
	o := object{{Key: kind, Value: joinArray(raws)}}
	if to < len(entries) {
		o = append(o, jsonMember("nextCursor", entries[to-1].key))
	}
	if isStateless(r) {
		o = cacheable(o)
	}
	return &rawResult{raw: o.Bytes()}, nil
}

// cacheable returns a result with what clients may do with it: keep it, as any listing.
func cacheable(o object) object {
	return append(o, jsonMember("ttlMs", listTTL), jsonMember("cacheScope", listScope))
}

// forwardRequest sends a request to an upstream and returns the bytes of its result. All errors are protocol errors,
// since no model reads these results.
func (s *Server) forwardRequest(ctx context.Context, r clientRequest, conn *mcp.ServerSession, meta mcp.Meta, server,
	method string, params object, input json.RawMessage,
) (json.RawMessage, error) {
	if kept := forwardedMeta(meta); kept != nil {
		params = append(params, member{Key: keyMeta, Value: kept})
	}
	ctx, cancel := s.servingContext(ctx)
	defer cancel()
	raw, err := s.runAskingClient(ctx, s.upstreamClient(ctx, r, conn, meta), "", input,
		func(ctx context.Context, c *tool.Client,
			input json.RawMessage,
		) (json.RawMessage, error) {
			params := slices.Clone(params)
			if answers, err := orderedjson.ParseObject(input); err == nil {
				params = append(params, answers...)
			}
			return s.o.Upstreams.Forward(ctx, upstream.Request{
				Server: server, Method: method, Params: params.Bytes(),
				Client: c,
			})
		})
	if err != nil {
		return nil, s.requestError(ctx, err)
	}
	return raw, nil
}

// requestError returns the protocol error for a request that failed. An upstream's own error keeps its code and data.
// An internal error is logged, and the client does not see its text.
func (s *Server) requestError(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errStopping) {
		return ctx.Err()
	}
	if ctx.Err() != nil {
		err = errStopping
	}
	out := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
	var e *tool.Error
	if errors.As(err, &e) && e.Code != tool.Internal {
		out.Message = e.Msg
		if e.Hint != "" {
			out.Data = orderedjson.Encode(map[string]string{"hint": e.Hint})
		}
		if e.Code == tool.Invalid || e.Code == tool.NotFound {
			out.Code = jsonrpc.CodeInvalidParams
		}
	} else {
		s.o.Logger.Error("internal error", "err", err)
	}
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		out.Code = rpc.Code
		if len(rpc.Data) > 0 {
			out.Data = rpc.Data
		}
	}
	return out
}

// servingContext derives a context that also ends when requests are cut off (cause errStopping), or when its
// connection's Run ends. The returned function releases it.
func (s *Server) servingContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stops := []func() bool{context.AfterFunc(s.cutting, func() { cancel(errStopping) })}
	if run, ok := ctx.Value(runKey{}).(context.Context); ok {
		stops = append(stops, context.AfterFunc(run, func() { cancel(nil) }))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}

// retryInput returns the answers that a repeated request carries, or nil if it carries none.
func retryInput(responses mcp.InputResponseMap, state string) json.RawMessage {
	if len(responses) == 0 && state == "" {
		return nil
	}
	o := object{}
	if len(responses) > 0 {
		o = append(o, jsonMember("inputResponses", responses))
	}
	if state != "" {
		o = append(o, jsonMember("requestState", state))
	}
	return o.Bytes()
}
