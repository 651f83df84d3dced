package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// Forward sends a request for a server's resources, prompts or completions, starting the server if need be, and returns
// the bytes of its result as Call does. The request notifications/roots/list_changed, which has no server, goes to
// every running server that works for its client alone; its result is nil. Errors are those of Call.
func (g *Gateway) Forward(ctx context.Context, r upstream.Request) (json.RawMessage, error) {
	if r.Method == "notifications/roots/list_changed" {
		g.notifyRootsChanged(r.Client)
		return nil, nil
	}
	u, ok := g.Upstream(r.Server)
	if !ok {
		return nil, &tool.Error{Code: tool.NotFound, Op: "forward", Msg: fmt.Sprintf("there is no server %q",
			truncateText(r.Server, 80)), Hint: "list again; it may have been removed or disabled"}
	}
	own, err := g.forwardOwn(ctx, u, r)
	if err != nil {
		return nil, err
	}
	return own.forwardRequest(ctx, r)
}

// forwardRequest is Forward for this server. A failed subscribe is taken back, so that it is not repeated after a
// restart.
func (u *Upstream) forwardRequest(ctx context.Context, r upstream.Request) (json.RawMessage, error) {
	x, uri, err := requestOf(r)
	if err != nil {
		return nil, err
	}
	if !u.updateSubscription(r.Method, uri) {
		return json.RawMessage("{}"), nil
	}
	release, err := u.slots.acquireSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var raw json.RawMessage
	err = u.withSession(ctx, usage{r.Client, r.Progress != nil, true}, func(s *session, who *caller) (retry bool,
		err error,
	) {
		x.who = who
		raw, retry, err = s.exchangeRaw(ctx, x, u.callTimeout())
		return retry, err
	})
	if err != nil && r.Method == "resources/subscribe" {
		u.updateSubscription("resources/unsubscribe", uri)
	}
	return raw, err
}

// updateSubscription counts the subscriptions per resource, so that reloadFeatures can repeat them after a restart. It
// reports whether the server has to be asked. It does not at the end of a subscription that others share, or if the
// server would have to be started for it.
func (u *Upstream) updateSubscription(method, uri string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch method {
	case "resources/subscribe":
		u.watched[uri]++
	case "resources/unsubscribe":
		if u.watched[uri]--; u.watched[uri] > 0 {
			return false
		}
		delete(u.watched, uri)
		return u.session != nil && u.session.isAlive()
	}
	return true
}

// requestOf returns the exchange for a request, without its caller, and the member uri of its parameters, if any.
// Methods that are not passed on are Invalid.
func requestOf(r upstream.Request) (x *exchange, uri string, err error) {
	var common struct {
		Meta json.RawMessage `json:"_meta"`
		URI  string          `json:"uri"`
	}
	x = &exchange{progress: r.Progress, input: r.Params}
	var read mcp.ReadResourceParams
	var prompt mcp.GetPromptParams
	var complete mcp.CompleteParams
	into := map[string]any{"resources/read": &read, "prompts/get": &prompt, "completion/complete": &complete}[r.Method]
	if err = json.Unmarshal(r.Params, &common); err == nil && into != nil {
		err = json.Unmarshal(r.Params, into)
	}
	if err != nil {
		return nil, "", &tool.Error{Code: tool.Invalid, Op: "forward", Msg: "the parameters of " + r.Method +
			" cannot be read", Err: err}
	}
	x.meta = common.Meta
	switch r.Method {
	case "resources/read":
		x.what = fmt.Sprintf("the reading of %q", truncateText(read.URI, 200))
		x.send = func(ctx context.Context, s *session, meta mcp.Meta, in clientAnswers) (any, error) {
			return s.cs.ReadResource(ctx, &mcp.ReadResourceParams{
				Meta: meta, URI: read.URI, InputResponses: in.Responses,
				RequestState: in.State,
			})
		}
	case "resources/subscribe":
		x.what = fmt.Sprintf("the subscription to %q", truncateText(common.URI, 200))
		x.send = func(ctx context.Context, s *session, meta mcp.Meta, _ clientAnswers) (any, error) {
			return struct{}{}, s.subscribe(ctx, &mcp.SubscribeParams{Meta: meta, URI: common.URI})
		}
	case "resources/unsubscribe":
		x.what = fmt.Sprintf("the end of the subscription to %q", truncateText(common.URI, 200))
		x.send = func(ctx context.Context, s *session, meta mcp.Meta, _ clientAnswers) (any, error) {
			return struct{}{}, s.unsubscribe(ctx, &mcp.UnsubscribeParams{Meta: meta, URI: common.URI})
		}
	case "prompts/get":
		x.what = fmt.Sprintf("the request for the prompt %q", truncateText(prompt.Name, 100))
		x.send = func(ctx context.Context, s *session, meta mcp.Meta, in clientAnswers) (any, error) {
			return s.cs.GetPrompt(ctx, &mcp.GetPromptParams{
				Meta: meta, Name: prompt.Name, Arguments: prompt.Arguments,
				InputResponses: in.Responses, RequestState: in.State,
			})
		}
	case "completion/complete":
		x.what = "the completion of an argument"
		x.send = func(ctx context.Context, s *session, meta mcp.Meta, _ clientAnswers) (any, error) {
			return s.cs.Complete(ctx, &mcp.CompleteParams{
				Meta: meta, Argument: complete.Argument,
				Context: complete.Context, Ref: complete.Ref,
			})
		}
	default:
		return nil, "", &tool.Error{
			Code: tool.Invalid, Op: "forward",
			Msg: fmt.Sprintf("%q is no request that is passed on", truncateText(r.Method, 60)),
		}
	}
	return x, common.URI, nil
}

// resourceUpdated passes the update of a resource on. It runs on the SDK's goroutine, so the callback must not block.
func (u *Upstream) resourceUpdated(uri string) {
	if u.opts.OnResourceUpdated != nil {
		u.opts.OnResourceUpdated(u.cfg.Name, uri)
	}
}

// notifyRootsChanged announces a change of the client's roots to the running servers whose sole client it is.
func (g *Gateway) notifyRootsChanged(c *tool.Client) {
	if c == nil {
		return
	}
	g.mu.RLock()
	list := slices.Collect(maps.Values(g.upstreams))
	for _, one := range g.users {
		list = append(list, one.Upstream)
	}
	g.mu.RUnlock()
	for _, u := range list {
		client, _ := u.callers.soleClient()
		u.mu.Lock()
		s := u.session
		u.mu.Unlock()
		if s == nil || client == nil || !sameClient(client, c) || s.told.RootsV2 == nil || !s.told.RootsV2.ListChanged {
			continue
		}
		// The SDK announces a change of its own list, which is never used: the question for roots goes to the client.
		s.client.AddRoots(&mcp.Root{URI: "file:///"})
	}
}
