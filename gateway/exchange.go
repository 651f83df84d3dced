package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// exchange is one request of a client to a server. It may take several rounds, if the server asks questions before it
// answers.
type exchange struct {
	what     string // names it in errors: `the call of "x"`
	who      *caller
	progress func(tool.Progress) // nil if nobody asked
	meta     json.RawMessage     // the client's; may be nil
	input    json.RawMessage     // its answers, if it repeats a request; may be nil
	// The SDK gets an empty result in place of the server's, whose decoding would be wasted. Not for results that the
	// SDK caches.
	hidden bool
	// send runs once per round. Its result counts only where the recorder saw no bytes.
	send func(ctx context.Context, s *session, meta mcp.Meta, in clientAnswers) (any, error)
}

// clientAnswers holds the answers with which a request is repeated. The zero value is that of a first round.
type clientAnswers struct {
	Responses mcp.InputResponseMap `json:"inputResponses"`
	State     string               `json:"requestState"`
}

// maxRounds bounds how often a server may ask before it answers.
const maxRounds = 16

// exchangeRaw sends a request and returns the bytes of its result. A client that handles rounds itself gets a question
// as the result; for others exchange asks the client and repeats the request. retry reports that the server has not
// accepted the request, so that it may be sent again on a new session; that is never so after the first round.
func (s *session) exchangeRaw(ctx context.Context, x *exchange, timeout time.Duration) (raw json.RawMessage, retry bool,
	err error,
) {
	meta := requestMeta(x.meta)
	client := x.who.client
	s.describeClient(client, meta)
	s.followClient(ctx, client)
	if x.progress != nil {
		token, stop := s.recorder.watchProgress(x.who.mail, x.progress)
		defer stop()
		meta["progressToken"] = token
	}
	var in clientAnswers
	if len(x.input) > 0 {
		if err := json.Unmarshal(x.input, &in); err != nil {
			return nil, false, &tool.Error{Code: tool.Invalid, Op: "call", Msg: "the answers with which " + x.what +
				" is repeated cannot be read", Err: err}
		}
	}
	for round := 0; ; round++ {
		raw, retry, err = s.sendRound(ctx, x, meta, in, timeout)
		if err != nil {
			return nil, retry && round == 0, err
		}
		asks := parseInputRequired(raw)
		switch {
		case asks == nil:
			return stripServerInfo(raw), false, nil
		case client != nil && client.Rounds:
			raw, err = s.asker.markRound(raw)
			return stripServerInfo(raw), false, err
		case client == nil || client.Ask == nil:
			return nil, false, s.responseError(x, "a question for the user, which cannot be passed on")
		case round == maxRounds:
			return nil, false, s.responseError(x, fmt.Sprintf("more than %d rounds of questions", maxRounds))
		}
		if in, err = s.collectAnswers(ctx, client, asks); err != nil {
			return nil, false, &tool.Error{
				Code: tool.Unavailable, Op: "call",
				Msg: fmt.Sprintf("server %q asked something during %s, and the client did not answer", s.server,
					x.what), Err: err,
			}
		}
	}
}

// sendRound sends the request once, under its time limit. The error is ready for the caller.
func (s *session) sendRound(ctx context.Context, x *exchange, meta mcp.Meta, in clientAnswers,
	timeout time.Duration,
) (raw json.RawMessage, retry bool, err error) {
	runCtx, stop := s.withTimeLimit(ctx, x.who.clock, timeout)
	defer stop()
	sendCtx, sent := withCapture(runCtx)
	sent.hidden = x.hidden
	res, err := x.send(sendCtx, s, meta, in)
	got := s.recorder.finishCapture(ctx, sent)
	if got.result == nil && err == nil { // the server let the SDK answer from its cache, or there is nothing to say
		got.result, err = json.Marshal(res)
	}
	if got.result == nil {
		return nil, got.wasRefused(err), s.requestError(ctx, runCtx, x.what, timeout, got, err)
	}
	if !isObject(got.result) {
		return nil, false, s.responseError(x, "something that is no object")
	}
	return got.result, false, nil
}

// responseError returns the error for an answer that breaks the protocol. what completes "answered … with".
func (s *session) responseError(x *exchange, what string) error {
	return &tool.Error{Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q answered %s with %s", s.server,
		x.what, what)}
}

// inputRequired is a result by which a server asks instead of answering.
type inputRequired struct {
	Requests map[string]struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	} `json:"inputRequests"`
	State string `json:"requestState"`
}

// parseInputRequired returns the questions of a result, or nil if it is an answer. A question that cannot be read
// counts as an answer.
func parseInputRequired(raw json.RawMessage) *inputRequired {
	if kind, ok := orderedjson.Find(raw, "resultType"); !ok || string(kind) != `"input_required"` {
		return nil
	}
	var q inputRequired
	if json.Unmarshal(raw, &q) != nil {
		return nil
	}
	return &q
}

// collectAnswers puts the questions to the client, one after the other in the order of their keys, since a person
// answers one at a time. The first failure ends it.
func (s *session) collectAnswers(ctx context.Context, client *tool.Client, q *inputRequired) (clientAnswers, error) {
	got := make(map[string]json.RawMessage, len(q.Requests))
	for _, key := range slices.Sorted(maps.Keys(q.Requests)) {
		r := q.Requests[key]
		if _, ok := requestedCapability(r.Method); !ok {
			return clientAnswers{}, fmt.Errorf("it asks by the unknown method %q", truncateText(r.Method, 60))
		}
		answer, err := s.asker.ask(ctx, client, r.Method, r.Params)
		if err != nil {
			return clientAnswers{}, fmt.Errorf("%s: %w", r.Method, err)
		}
		got[key] = answer
	}
	encoded, err := json.Marshal(got)
	if err != nil {
		return clientAnswers{}, fmt.Errorf("encode answers: %w", err)
	}
	in := clientAnswers{State: q.State}
	if err := json.Unmarshal(encoded, &in.Responses); err != nil {
		return clientAnswers{}, fmt.Errorf("read answers: %w", err)
	}
	return in, nil
}

// describeClient adds the client's capabilities and log level to the _meta of a request. In the newer protocol, each
// request carries them; for the older ones it does nothing.
func (s *session) describeClient(c *tool.Client, meta mcp.Meta) {
	if !s.isModern() {
		return
	}
	meta[mcp.MetaKeyClientCapabilities] = json.RawMessage("{}")
	if c == nil {
		return
	}
	if isObject(c.Capabilities) && (c.Rounds || c.Ask != nil) {
		meta[mcp.MetaKeyClientCapabilities] = s.asker.capabilities(c.Capabilities)
	}
	if c.LogLevel != "" {
		meta[mcp.MetaKeyLogLevel] = c.LogLevel
	}
}

// followClient sets the log level that the client set on a server of the older protocols, if it differs from the last
// one. A server that refuses is not asked for the same level again. Failures are logged, and do not fail the call.
func (s *session) followClient(ctx context.Context, c *tool.Client) {
	if c == nil || c.LogLevel == "" || s.isModern() {
		return
	}
	if caps := s.cs.InitializeResult().Capabilities; caps == nil || caps.Logging == nil {
		return
	}
	if old := s.logLevel.Swap(&c.LogLevel); old != nil && *old == c.LogLevel {
		return
	}
	ctx, stop := context.WithTimeout(ctx, followWait)
	defer stop()
	if err := s.cs.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: mcp.LoggingLevel(c.LogLevel)}); err != nil {
		s.recorder.logger.Debug("upstream does not take the log level", "error", s.redact.redactError(err))
	}
}

// followWait bounds how long a call waits for a server to take a log level.
const followWait = 2 * time.Second

// isModern reports whether the server speaks the protocol without sessions.
func (s *session) isModern() bool { return s.cs.InitializeResult().ProtocolVersion > legacyVersion }

// errLate is the cause with which a request's context ends when its time is over.
var errLate = errors.New("time limit")

// withTimeLimit derives the context of a request from the caller's. It ends with the time limit (cause errLate) and
// when the session is stopped (cause errStopped, or why we ended it), too. The returned function releases it and must
// be called.
func (s *session) withTimeLimit(ctx context.Context, c *pausableTimer, timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopClock := c.startTimer(timeout, func() { cancel(errLate) })
	unlink := context.AfterFunc(s.ctx, func() {
		switch why := context.Cause(s.ctx); {
		case errors.Is(why, errStopped):
			cancel(errStopped)
		case endReason(why) != nil:
			cancel(why)
		} // else the connection broke, and the SDK ends the request with a better reason
	})
	return ctx, func() {
		unlink()
		stopClock()
		cancel(nil)
	}
}
