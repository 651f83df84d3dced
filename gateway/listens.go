package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Since revision 2026-07-28 a client subscribes by a request subscriptions/listen, which stays open. The SDK does not
// wait until it is sent, and the server may run the next request before it. An update in between would be lost, so a
// subscription waits until the server acknowledges it.
const (
	methodListen       = "subscriptions/listen"
	methodAcknowledged = "notifications/subscriptions/acknowledged"
)

// ackWait bounds the wait for an acknowledgement. A server that sends none counts as subscribed to after it.
const ackWait = 5 * time.Second

// listens are the requests subscriptions/listen of a session for resources, by ID and by URI. The zero value is ready,
// and it is safe for concurrent use.
type listens struct {
	mu    sync.Mutex
	byID  map[jsonrpc.ID]*listenRequest
	byURI map[string]*listenRequest
}

// listenRequest is one of them.
type listenRequest struct {
	uri  string
	done chan struct{} // closed when the server has acknowledged or refused it
	err  error         // of a refusal, set before done is closed
	over bool          // done is closed
}

// expect notes that a request for a resource is about to be sent, unless there is one already. The SDK sends it after
// it has returned, perhaps.
func (l *listens) expect(uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID, l.byURI = map[jsonrpc.ID]*listenRequest{}, map[string]*listenRequest{}
	}
	if l.byURI[uri] == nil {
		l.byURI[uri] = &listenRequest{uri: uri, done: make(chan struct{})}
	}
}

// begin gives an expected request its ID. It is called before the request is written.
func (l *listens) begin(req *jsonrpc.Request) {
	if req.Method != methodListen {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, uri := range resourcesOf(req.Params) {
		if one := l.byURI[uri]; one != nil {
			l.byID[req.ID] = one
		}
	}
}

// acknowledge reads the notification with which a server acknowledges a request.
func (l *listens) acknowledge(params json.RawMessage) {
	var p struct {
		Meta struct {
			ID any `json:"io.modelcontextprotocol/subscriptionId"` // mcp.MetaKeySubscriptionID
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.Meta.ID)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.byID[id]
	if one == nil {
		return
	}
	for _, uri := range resourcesOf(params) {
		if uri == one.uri {
			one.settle(nil)
		}
	}
	one.settle(&jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "changes of this resource are not announced"})
}

// answer reads the answer to a request, which ends the subscription.
func (l *listens) answer(msg *jsonrpc.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.byID[msg.ID]
	if one == nil {
		return
	}
	err := msg.Error
	if err == nil {
		err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server ended the subscription"}
	}
	one.settle(err)
	delete(l.byID, msg.ID)
}

// settle ends the wait for an acknowledgement. Only the first call counts. The caller holds the lock.
func (one *listenRequest) settle(err error) {
	if one.over {
		return
	}
	one.err, one.over = err, true
	close(one.done)
}

// wait returns when a server has acknowledged a subscription, or takes too long. It returns at once where there is
// nothing to acknowledge, as in the older protocols. The error is the server's refusal, or that of ctx.
func (l *listens) wait(ctx context.Context, uri string) error {
	l.mu.Lock()
	one := l.byURI[uri]
	l.mu.Unlock()
	if one == nil {
		return nil
	}
	late := time.NewTimer(ackWait)
	defer late.Stop()
	select {
	case <-one.done:
		return one.err
	case <-late.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end forgets a subscription.
func (l *listens) end(uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byURI, uri)
	for id, one := range l.byID {
		if one.uri == uri {
			delete(l.byID, id)
		}
	}
}

// resourcesOf returns the resources that a subscription, or its acknowledgement, names.
func resourcesOf(params json.RawMessage) []string {
	var p struct {
		Notifications struct {
			Resources []string `json:"resourceSubscriptions"`
		} `json:"notifications"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	return p.Notifications.Resources
}

// subscribe subscribes to a resource and waits for the acknowledgement. The error may hold what the server printed.
func (s *session) subscribe(ctx context.Context, params *mcp.SubscribeParams) error {
	if s.isModern() {
		s.recorder.listens.expect(params.URI)
	}
	if err := s.cs.Subscribe(ctx, params); err != nil {
		s.recorder.listens.end(params.URI)
		return err
	}
	// The request was sent under a context of the SDK's own, so the capture of this call has not seen it.
	s.recorder.updateCapture(captureFrom(ctx), func(c *capture) { c.sent = true })
	if err := s.recorder.listens.wait(ctx, params.URI); err != nil {
		_ = s.unsubscribe(ctx, &mcp.UnsubscribeParams{URI: params.URI})
		return fmt.Errorf("%s: %w", methodListen, err)
	}
	return nil
}

// unsubscribe ends a subscription.
func (s *session) unsubscribe(ctx context.Context, params *mcp.UnsubscribeParams) error {
	s.recorder.listens.end(params.URI)
	return s.cs.Unsubscribe(ctx, params)
}
