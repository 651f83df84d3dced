package mcpsrv

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"tooldex/access"
	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// A client of the stateless protocol cannot be sent a request: the server asks by a result, and the client repeats its
// request with the answer. An upstream of the older protocols asks in the middle of a call. Such a call stays pending:
// its client gets the question as the result, and finds the way back to the call by the requestState that comes with
// it.

// holdPrefix begins the requestState of our own questions, which distinguishes them from an upstream's. maxHeld bounds
// the calls that wait for their client.
const (
	holdPrefix  = "tooldex-hold-"
	maxHeld     = 1000
	holdTimeout = 5 * time.Minute // for the client to answer
)

// pendingCalls are the calls that wait for their client to repeat them. The zero value is ready.
type pendingCalls struct {
	mu  sync.Mutex
	all map[string]*pendingCall
}

// pendingCall is a call that may outlive the request that began it.
type pendingCall struct {
	owner string // Key of the principal that made it
	// of identifies the call among those of the same owner; "" for a request that needs none.
	of     string
	cancel context.CancelFunc
	asked  chan question // from the upstream's side to the request that waits
	done   chan outcome  // has room for one
	// open is the last question to the client. One request at a time uses it.
	open *question
}

// question is what an upstream asks in the middle of a call.
type question struct {
	method string
	params json.RawMessage
	answer chan json.RawMessage // has room for one
}

// outcome is how a call ended.
type outcome struct {
	raw json.RawMessage
	err error
}

// answerKey names the question to the client. There is one at a time.
const answerKey = "answer"

// runAskingClient runs a request to an upstream, for a client that may be asked questions meanwhile. A stateless client
// gets a question as the result and repeats the request with the answer; then the pending run continues. input holds
// the members inputResponses and requestState of such a repeated request, or is nil. of identifies the request: an
// answer is good only for the one that asked. Close and holdTimeout cancel a pending run.
func (s *Server) runAskingClient(ctx context.Context, client *tool.Client, of string, input json.RawMessage,
	run func(context.Context, *tool.Client, json.RawMessage) (json.RawMessage, error),
) (json.RawMessage, error) {
	if !client.Rounds || !canAnswer(client.Capabilities) {
		return run(ctx, client, input)
	}
	var back struct {
		Responses map[string]json.RawMessage `json:"inputResponses"`
		State     string                     `json:"requestState"`
	}
	if len(input) > 0 && json.Unmarshal(input, &back) == nil && strings.HasPrefix(back.State, holdPrefix) {
		h := s.pending.takeCall(back.State, access.PrincipalOf(ctx).Key, of)
		if h == nil {
			return nil, &tool.Error{
				Code: tool.NotFound, Op: "call", Msg: "the call that asked is no longer waiting",
				Hint: "call again from the start",
			}
		}
		h.open.answer <- back.Responses[answerKey]
		return s.awaitOutcome(ctx, h)
	}
	// The run may outlive this request, whose context ends with its answer; the context's values stay.
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.closing, cancel)
	h := &pendingCall{
		owner: access.PrincipalOf(ctx).Key, of: of, asked: make(chan question), done: make(chan outcome, 1),
		cancel: func() { stop(); cancel() },
	}
	asking := *client
	asking.Ask = h.askClient
	s.sessions.startTask(func() {
		defer h.cancel()
		raw, err := run(runCtx, &asking, input)
		h.done <- outcome{raw, err}
	})
	return s.awaitOutcome(ctx, h)
}

// canAnswer reports whether a client declared any capability to answer questions.
func canAnswer(capabilities json.RawMessage) bool {
	o, err := orderedjson.ParseObject(capabilities)
	if err != nil {
		return false
	}
	for _, m := range o {
		if m.Key == "sampling" || m.Key == "elicitation" || m.Key == "roots" {
			return true
		}
	}
	return false
}

// askClient passes a question to the request that waits, and returns the client's answer. The upstream's side calls it,
// one question at a time.
func (h *pendingCall) askClient(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := question{method, params, make(chan json.RawMessage, 1)}
	select {
	case h.asked <- q:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case raw := <-q.answer:
		if orderedjson.Kind(raw) != "object" {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "ask",
				Msg: "the client repeated the call without an answer",
			}
		}
		return raw, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// awaitOutcome waits until the call is done or asks something, and returns the result for the client: the tool's, or
// the question with the state that leads back to the call. If ctx ends, the call is cancelled.
func (s *Server) awaitOutcome(ctx context.Context, h *pendingCall) (json.RawMessage, error) {
	select {
	case out := <-h.done:
		return out.raw, out.err
	case q := <-h.asked:
		h.open = &q
		state, ok := s.pending.keepCall(h)
		if !ok {
			h.cancel()
			return nil, &tool.Error{
				Code: tool.Unavailable, Op: "call",
				Msg: "too many calls are waiting for their clients' answers", Hint: "try again later",
			}
		}
		asks := object{{Key: answerKey, Value: object{
			jsonMember("method", q.method),
			{Key: "params", Value: q.params},
		}.Bytes()}}
		return object{
			jsonMember(keyResultType, "input_required"),
			{Key: "inputRequests", Value: asks.Bytes()},
			jsonMember("requestState", state),
		}.Bytes(), nil
	case <-ctx.Done():
		h.cancel()
		return nil, ctx.Err()
	case <-s.closing.Done():
		h.cancel()
		return nil, context.Canceled
	}
}

// keepCall stores a call until its client comes back, and cancels it after holdTimeout. It reports false if too many
// are waiting.
func (l *pendingCalls) keepCall(h *pendingCall) (state string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) >= maxHeld {
		return "", false
	}
	if l.all == nil {
		l.all = map[string]*pendingCall{}
	}
	state = holdPrefix + rand.Text()
	l.all[state] = h
	time.AfterFunc(holdTimeout, func() {
		if l.takeCall(state, h.owner, h.of) != nil {
			h.cancel()
		}
	})
	return state, true
}

// takeCall removes and returns a pending call, if the same principal repeats the same call; otherwise it returns nil,
// and the call stays. So one answer is given to a call once.
func (l *pendingCalls) takeCall(state, owner, of string) *pendingCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.all[state]
	if h == nil || h.owner != owner || h.of != of {
		return nil
	}
	delete(l.all, state)
	return h
}
