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

// callers lists the clients on whose behalf a server works now. Over a pipe, a question of the server does not say
// which call it belongs to, so soleClient finds the client from this list. While calls of several clients run, no
// client is asked, since the wrong one could answer. The zero value is ready for use, for a server without a name, and
// safe for concurrent use.
type callers struct {
	asker asker // does not change

	mu      sync.Mutex
	running []*caller    // oldest first
	last    *tool.Client // the one that called last
	several bool         // not all that ever called were the same
}

// caller is one call or request of a client. It exists from before the server is started for it until its answer
// arrived.
type caller struct {
	client *tool.Client // nil if the call has no client
	clock  *pausableTimer
	mail   *notifier // nil if it takes no notifications
}

// addCaller adds a running call. listens requests a notifier for progress; a client that takes messages gets one
// anyway. Every caller that it returns must be passed to removeCaller, which ends the notifier's goroutine.
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

// removeCaller removes a call and returns when all of its pending notifications have been delivered. After that,
// nothing calls the client on behalf of c.
func (cs *callers) removeCaller(c *caller) {
	cs.mu.Lock()
	cs.running = slices.DeleteFunc(cs.running, func(r *caller) bool { return r == c })
	cs.mu.Unlock()
	if c.mail != nil {
		c.mail.close()
	}
}

// sameClient reports whether two values stand for one client: the same value, or the same session that is not empty.
func sameClient(a, b *tool.Client) bool { return a == b || a.Session != "" && a.Session == b.Session }

// soleClient returns the one client that a server's question or message can be meant for, and its running calls. With
// no client running it is the last one that called, unless several clients have called. It returns nil if there is
// none, or if it is ambiguous.
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

// askClient passes a question of the server to its client and returns the answer. The time limits of the client's
// running calls pause meanwhile. Without a client, roots/list is answered with an empty list, since servers ask for it
// as a matter of course; other questions fail with a JSON-RPC error.
func (cs *callers) askClient(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	client, running := cs.soleClient()
	if client == nil || client.Ask == nil {
		if method == rootsMethod {
			return noRoots, nil
		}
		return nil, &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("there is no client, or more than one, to put %s to", method),
		}
	}
	for _, c := range running {
		c.clock.pauseTimer()
		defer c.clock.resumeTimer()
	}
	return cs.asker.ask(ctx, client, method, params)
}

// notifyClient passes a server's message on. It does not block if the client has a running call, whose notifier
// delivers the message, and drops the message if it has none.
func (cs *callers) notifyClient(method string, params json.RawMessage) {
	client, running := cs.soleClient()
	if client == nil || client.Tell == nil {
		return
	}
	for _, c := range running {
		if c.mail != nil { // in order with the call's progress, and before its result
			c.mail.pushItem(len(params), func() { client.Tell(method, params) })
			return
		}
	}
}

// requestedCapability returns the client capability that allows a server to send a request of this method. ok is false
// for methods that are not passed on to clients.
func requestedCapability(method string) (capability string, ok bool) {
	switch method {
	case sampleMethod:
		return "sampling", true
	case elicitMethod:
		return "elicitation", true
	case rootsMethod:
		return "roots", true
	}
	return "", false
}

// answerServerRequests is SDK middleware that passes the server's questions on to the client that called it. Other
// requests take the SDK's way.
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

// rawAnswer is a result that is encoded as the bytes it holds, so that a client's answer is not decoded on its way.
type rawAnswer struct {
	mcp.ResultBase
	raw json.RawMessage
}

// MarshalJSON returns the bytes.
func (r *rawAnswer) MarshalJSON() ([]byte, error) { return r.raw, nil }

// clientCapabilities decodes the capabilities that a client announced, as far as the server can ask for them. It never
// returns nil. For a client that cannot be asked, and for capabilities that cannot be read, the result is empty.
func (a asker) clientCapabilities(c *tool.Client) *mcp.ClientCapabilities {
	caps := &mcp.ClientCapabilities{}
	if c == nil || c.Ask == nil && !c.Rounds {
		return caps
	}
	var said struct {
		Sampling    *mcp.SamplingCapabilities    `json:"sampling"`
		Elicitation *mcp.ElicitationCapabilities `json:"elicitation"`
		Roots       *mcp.RootCapabilities        `json:"roots"`
	}
	if json.Unmarshal(a.capabilities(c.Capabilities), &said) == nil {
		caps.Sampling, caps.Elicitation, caps.RootsV2 = said.Sampling, said.Elicitation, said.Roots
	}
	return caps
}

// lacksCapability reports whether a client can be asked something that was not announced to the server. Neither
// argument may be nil.
func lacksCapability(told, has *mcp.ClientCapabilities) bool {
	return has.Sampling != nil && told.Sampling == nil || has.Elicitation != nil && told.Elicitation == nil ||
		has.RootsV2 != nil && told.RootsV2 == nil
}

// pausableTimer ends a request after a time without an answer. It stops while the client answers a question, and then
// starts again with the full limit. The zero value is ready for use, and pause may come before start.
type pausableTimer struct {
	mu     sync.Mutex
	timer  *time.Timer
	limit  time.Duration
	paused int // calls of pause without their resume; questions may overlap
}

// startTimer begins to count, and calls late once if the limit passes. The returned function stops this count. A
// request that is repeated starts a new count with the same pausableTimer.
func (c *pausableTimer) startTimer(limit time.Duration, late func()) func() {
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

// pauseTimer stops the count. Each pause needs one resume.
func (c *pausableTimer) pauseTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.timer != nil {
		c.timer.Stop()
	}
}

// resumeTimer starts the count again, with the full limit, when the last pause has ended.
func (c *pausableTimer) resumeTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused == 0 && c.timer != nil {
		c.timer.Reset(c.limit)
	}
}
