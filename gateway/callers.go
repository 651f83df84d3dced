package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// callers knows on whose behalf a server works now, and so who is meant when it asks something: over a pipe, its
// question does not say. Where calls of several clients run at once nobody is asked, since the wrong one could answer.
type callers struct {
	mu      sync.Mutex
	running []*caller    // oldest first
	last    *tool.Client // the one that called last
	several bool         // not all that ever called were the same
}

// caller is one call or request of a client, from before the server is started for it until its answer is there.
type caller struct {
	client *tool.Client
	clock  *pausableTimer
	mail   *notifier // nil if it takes no notifications
}

// addCaller notes that a call runs, whose client takes the notifications of the server if it listens.
func (cs *callers) addCaller(c *tool.Client, listens bool) *caller {
	out := &caller{client: c, clock: &pausableTimer{}}
	if listens || c != nil && c.Tell != nil {
		out.mail = newNotifier()
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.running = append(cs.running, out)
	if c != nil {
		cs.several = cs.several || cs.last != nil && !sameClient(cs.last, c)
		cs.last = c
	}
	return out
}

// removeCaller returns when the client has been told all that the server said.
func (cs *callers) removeCaller(c *caller) {
	cs.mu.Lock()
	cs.running = slices.DeleteFunc(cs.running, func(r *caller) bool { return r == c })
	cs.mu.Unlock()
	if c.mail != nil {
		c.mail.close()
	}
}

func sameClient(a, b *tool.Client) bool { return a == b || a.Session != "" && a.Session == b.Session }

// soleClient returns the one client that a server's question or message can be meant for, and its running calls. It
// returns nil if there is none, or no telling which.
func (cs *callers) soleClient() (client *tool.Client, running []*caller) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.running {
		switch {
		case c.client == nil:
		case client != nil && !sameClient(client, c.client):
			return nil, nil
		default:
			client = c.client
			running = append(running, c)
		}
	}
	if client == nil && !cs.several {
		client = cs.last
	}
	return client, running
}

// askClient puts a server's question to the client that it is meant for. The time that the answer takes does not count
// against the calls that wait for it.
func (cs *callers) askClient(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	client, running := cs.soleClient()
	if client == nil || client.Ask == nil {
		if method == "roots/list" {
			return json.RawMessage(`{"roots":[]}`), nil
		}
		return nil, &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("there is no client, or more than one, to put %s to", method),
		}
	}
	for _, c := range running {
		c.clock.pause()
		defer c.clock.resume()
	}
	return client.Ask(ctx, method, params)
}

// notifyClient passes a server's message on. It does not block.
func (cs *callers) notifyClient(method string, params json.RawMessage) {
	client, running := cs.soleClient()
	if client == nil || client.Tell == nil {
		return
	}
	for _, c := range running {
		if c.mail != nil { // in order with the call's progress, and before its result
			c.mail.push(func() { client.Tell(method, params) })
			return
		}
	}
}

// requestedCapability are the requests that a server may put to a client, and the capability that lets it do so.
func requestedCapability(method string) (capability string, ok bool) {
	switch method {
	case "sampling/createMessage":
		return "sampling", true
	case "elicitation/create":
		return "elicitation", true
	case "roots/list":
		return "roots", true
	}
	return "", false
}

// answerServerRequests is the middleware that lets the server's questions be answered by who called it.
func (cs *callers) answerServerRequests(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if _, ok := requestedCapability(method); !ok {
			return next(ctx, method, req)
		}
		if p, ok := req.GetParams().(*mcp.ElicitParams); ok && p.Mode == "" { // servers of older revisions have but one
			p.Mode = "form"
		}
		params, err := json.Marshal(req.GetParams())
		if err != nil || bytes.Equal(params, []byte("null")) {
			params = json.RawMessage("{}")
		}
		raw, err := cs.askClient(ctx, method, params)
		if err != nil {
			return nil, rpcErrorOf(err)
		}
		return &rawAnswer{raw: raw}, nil
	}
}

// rawAnswer is a result that is written as the bytes it holds.
type rawAnswer struct {
	mcp.ResultBase
	raw json.RawMessage
}

// MarshalJSON returns the bytes.
func (r *rawAnswer) MarshalJSON() ([]byte, error) { return r.raw, nil }

// clientCapabilities reads what a client says that it can be asked. Of one that nobody can ask that is nothing.
func clientCapabilities(c *tool.Client) *mcp.ClientCapabilities {
	caps := &mcp.ClientCapabilities{}
	if c == nil || c.Ask == nil && !c.Rounds {
		return caps
	}
	var said struct {
		Sampling    *mcp.SamplingCapabilities    `json:"sampling"`
		Elicitation *mcp.ElicitationCapabilities `json:"elicitation"`
		Roots       *mcp.RootCapabilities        `json:"roots"`
	}
	if json.Unmarshal(c.Capabilities, &said) == nil {
		caps.Sampling, caps.Elicitation, caps.RootsV2 = said.Sampling, said.Elicitation, said.Roots
	}
	return caps
}

// lacksCapability reports whether a client can be asked something that a server was not told of.
func lacksCapability(told, has *mcp.ClientCapabilities) bool {
	return has.Sampling != nil && told.Sampling == nil || has.Elicitation != nil && told.Elicitation == nil ||
		has.RootsV2 != nil && told.RootsV2 == nil
}

// pausableTimer ends a request after a time without an answer. It stands still while somebody is asked, and starts anew
// after.
type pausableTimer struct {
	mu     sync.Mutex
	timer  *time.Timer
	limit  time.Duration
	paused int
}

// start begins to count. The returned function ends it.
func (c *pausableTimer) start(limit time.Duration, late func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = limit
	c.timer = time.AfterFunc(limit, late)
	if c.paused > 0 {
		c.timer.Stop()
	}
	t := c.timer
	return func() { t.Stop() }
}

func (c *pausableTimer) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.timer != nil {
		c.timer.Stop()
	}
}

func (c *pausableTimer) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused == 0 && c.timer != nil {
		c.timer.Reset(c.limit)
	}
}
