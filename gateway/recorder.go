package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tooldex/tool"
)

// wireRecorder sits between the SDK and the wire and sees each message before the SDK does. The SDK decodes every
// result into Go values and encodes it again, which rounds integers above 2^53 and reorders members, so the recorder
// keeps the bytes of those results that a caller waits for. It also takes the notifications that need no SDK out of the
// stream, so that a server that floods them cannot fill the SDK's queue, which has no bound. It is safe for concurrent
// use.
type wireRecorder struct {
	logger *slog.Logger
	redact *redactor

	mu       sync.Mutex
	waiting  map[jsonrpc.ID]*capture       // by the ID of the request that is under way
	progress map[int64]func(tool.Progress) // by the token we gave out

	queued map[string]bool // notifications that are in the SDK's queue: one of each is enough
	// tell passes a log message on. It is set before the connection starts, and must not block.
	tell func(method string, params json.RawMessage)

	listens  listens         // of the client: what it has subscribed to
	requests *serverRequests // of the server
	// breach ends the connection to a server that exceeds its bounds, with the reason. It is set before the connection
	// starts, and must not block.
	breach func(reason error)
	broken atomic.Bool // breach was called: nothing of the server counts any more

	lastToken atomic.Int64
	dropped   atomic.Int64 // notifications without a receiver
}

// newWireRecorder returns a recorder for one session. scrub may be nil, to redact nothing.
func newWireRecorder(logger *slog.Logger, scrub *redactor, requests *serverRequests) *wireRecorder {
	return &wireRecorder{
		requests: requests, breach: func(error) {},
		logger: logger, redact: scrub, waiting: map[jsonrpc.ID]*capture{},
		progress: map[int64]func(tool.Progress){}, queued: map[string]bool{}, tell: func(string, json.RawMessage) {},
	}
}

// capture follows one request to the wire and back. The recorder's mutex guards its fields until finishCapture.
type capture struct {
	id         jsonrpc.ID
	result     json.RawMessage // nil until the response came; stays nil if it was an error
	hidden     bool            // the SDK is given an empty result in its place, as what it makes of it is not asked for
	sent       bool            // the request may have reached the server
	gone       bool            // the server refused it because it does not know the session
	status     int             // last HTTP status, 0 over stdio
	redirected *tool.Error     // the server sent us where we do not go; nil if it did not
	refused    error           // there is no token for the request, for this reason; nil if that was not it
	held       heldBytes       // of the message with the result
}

// captureKey is the key of a capture in a context.
type captureKey struct{}

// withCapture returns a context that carries a new capture through the SDK to the transport: the SDK hands the context
// of a call unchanged to the connection's Write, and from there to the HTTP request.
func withCapture(ctx context.Context) (context.Context, *capture) {
	c := &capture{}
	return context.WithValue(ctx, captureKey{}, c), c
}

// captureFrom returns the capture that the context carries, or nil.
func captureFrom(ctx context.Context) *capture {
	c, _ := ctx.Value(captureKey{}).(*capture)
	return c
}

// recordOutgoing is called before a request is written. If the context carries a capture, it waits for the response.
func (t *wireRecorder) recordOutgoing(ctx context.Context, msg jsonrpc.Message) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return
	}
	t.listens.begin(req)
	c := captureFrom(ctx)
	if c == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, c.id) // a further round of one call has an ID of its own
	c.held.end()
	c.id, c.result = req.ID, nil
	t.waiting[req.ID] = c
}

// recordIncoming is called with each message before the SDK sees it. It returns what the SDK should see: the same
// message, another, or nil for none. It takes what the message holds if a caller waits for its result.
func (t *wireRecorder) recordIncoming(msg jsonrpc.Message, held *heldBytes) jsonrpc.Message {
	if t.broken.Load() {
		return nil
	}
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		t.listens.answer(msg)
		t.mu.Lock()
		defer t.mu.Unlock()
		c := t.waiting[msg.ID]
		if c == nil || msg.Error != nil {
			return msg
		}
		c.held.merge(held)
		if c.result = msg.Result; c.hidden {
			return &jsonrpc.Response{ID: msg.ID, Result: json.RawMessage(`{}`)}
		}
	case *jsonrpc.Request:
		t.requests.waitForRate()
		if msg.IsCall() && !t.beginRequest(msg) || !msg.IsCall() && !t.recordNotification(msg) {
			return nil
		}
	}
	return msg
}

// beginRequest counts a request of the server as open, and reports whether the SDK should see it.
func (t *wireRecorder) beginRequest(msg *jsonrpc.Request) bool {
	again, err := t.requests.beginRequest(msg)
	if err != nil {
		t.broken.Store(true)
		t.breach(err)
		return false
	}
	if again {
		t.dropped.Add(1)
	}
	return !again
}

// recordAnswer is called after an answer to a request of the server was written, or could not be.
func (t *wireRecorder) recordAnswer(msg jsonrpc.Message) {
	if r, ok := msg.(*jsonrpc.Response); ok {
		t.requests.endRequest(r.ID)
	}
}

// recordNotification handles one notification, and reports whether the SDK should see it.
func (t *wireRecorder) recordNotification(msg *jsonrpc.Request) bool {
	switch msg.Method {
	case "notifications/progress":
		t.deliverProgress(msg.Params)
		return false
	case methodToolsChanged, methodPromptsChanged, methodResourcesChanged:
		return t.queueOnce(msg.Method)
	case "notifications/resources/updated":
		var p struct {
			URI string `json:"uri"`
		}
		return json.Unmarshal(msg.Params, &p) == nil && len(p.URI) <= maxURI && t.queueOnce(updatePrefix+p.URI)
	case methodAcknowledged:
		t.listens.acknowledge(msg.Params)
		return len(msg.Params) <= maxURI
	case "notifications/cancelled", "notifications/elicitation/complete":
		return len(msg.Params) <= maxURI
	case "notifications/message":
		t.logger.Debug("upstream log", "message", t.redact.redactText(truncateText(string(msg.Params), 500)))
		if len(msg.Params) <= maxNotice {
			t.tell(msg.Method, msg.Params)
			return false
		}
	default:
		t.logger.Debug("upstream notification ignored", "method", truncateText(msg.Method, 100))
	}
	t.dropped.Add(1)
	return false
}

// methodToolsChanged and the others are notifications of which one in the SDK's queue is as good as many.
const (
	methodToolsChanged     = "notifications/tools/list_changed"
	methodPromptsChanged   = "notifications/prompts/list_changed"
	methodResourcesChanged = "notifications/resources/list_changed"
)

// updatePrefix precedes the URI of a resource that was updated.
const updatePrefix = "updated "

// maxQueued bounds how many different notifications may wait in the SDK's queue, and maxURI the bytes of the URI of an
// updated resource; both come from the server unasked.
const (
	maxQueued = 1024
	maxURI    = 4 << 10
)

// queueOnce reports whether a notification should go to the SDK, and counts it as queued if so. It should not while one
// with the same key is queued, or too many are.
func (t *wireRecorder) queueOnce(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queued[key] || len(t.queued) >= maxQueued {
		t.dropped.Add(1)
		return false
	}
	t.queued[key] = true
	return true
}

// passNotification removes a notification from the queued ones, after the SDK has delivered it.
func (t *wireRecorder) passNotification(method string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.queued, method)
}

func (t *wireRecorder) passUpdate(uri string) { t.passNotification(updatePrefix + uri) }

// codeBroken marks the errors made by repairResponse. It is in the range that JSON-RPC leaves to implementations.
const codeBroken = -32098

// repairResponse returns an error response in place of an answer that is no valid message, such as one with a NaN in it
// or nested too deeply, so that its call fails at once. It returns nil if no request waits for data. why is the error
// that data failed with.
func (t *wireRecorder) repairResponse(data []byte, why error) *jsonrpc.Response {
	if !bytes.Contains(data, []byte(`"jsonrpc"`)) {
		return nil
	}
	var ids idScanner
	ids.write(data)
	id, ok := ids.foundID()
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[id] == nil {
		return nil
	}
	if tooMuch := (*tool.Error)(nil); errors.As(why, &tooMuch) {
		return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: codeTooLarge, Message: tooMuch.Msg}}
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
		Code:    codeBroken,
		Message: "the answer is no valid JSON-RPC message",
	}}
}

// updateCapture changes a capture under the lock. f must not call the recorder. A nil capture is left alone.
func (t *wireRecorder) updateCapture(c *capture, f func(*capture)) {
	if c == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f(c)
}

// finishCapture ends the wait for a capture and returns a copy of it. A response that comes later is not recorded. What
// the result holds is held until the request of ctx has ended.
func (t *wireRecorder) finishCapture(ctx context.Context, c *capture) capture {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[c.id] == c {
		delete(t.waiting, c.id)
	}
	c.held.untilEnd(ctx)
	return *c
}

// watchProgress returns a new progress token. Its notifications go to f through m, until stop is called; those that m
// holds then are still delivered. Tokens are unique within the session.
func (t *wireRecorder) watchProgress(m *notifier, f func(tool.Progress)) (token int64, stop func()) {
	token = t.lastToken.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress[token] = func(p tool.Progress) { m.pushItem(len(p.Message), func() { f(p) }) }
	return token, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.progress, token)
	}
}

// deliverProgress passes a progress notification to the call that its token belongs to. It does not block.
func (t *wireRecorder) deliverProgress(params json.RawMessage) {
	var p struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total"`
		Message  string          `json:"message"`
	}
	var token int64
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Token, &token) != nil {
		t.dropped.Add(1)
		return
	}
	t.mu.Lock()
	f := t.progress[token]
	t.mu.Unlock()
	if f == nil { // a finished call, or one without progress
		t.dropped.Add(1)
		return
	}
	f(tool.Progress{Progress: p.Progress, Total: p.Total, Message: truncateText(p.Message, maxNotice)})
}
