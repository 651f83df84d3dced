package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tooldex/tool"
)

// startError returns why a server could not be started. c describes the last request of the handshake, or is nil if no
// request was sent. An error that is a *tool.Error already is returned as it is.
func (s *session) startError(err error, c *capture) error {
	var own *tool.Error
	if c != nil && c.refused != nil {
		return c.refused
	}
	if errors.As(err, &own) {
		return own
	}
	if ours := endReason(context.Cause(s.ctx)); ours != nil {
		return ours
	}
	e := &tool.Error{Code: tool.Unavailable, Op: "start server", Err: s.redact.redactError(err)}
	switch {
	case errors.Is(context.Cause(s.ctx), errStartTimeout):
		e.Code = tool.Timeout
		e.Msg = fmt.Sprintf("server %q did not answer in time while it was started", s.server)
		e.Hint = s.startHint() + "; or allow it more time by startTimeout"
		e.Err = context.Cause(s.ctx)
		if last := s.lastStderr(); last != "" {
			e.Err = fmt.Errorf("%w; it printed: %s", e.Err, last)
		}
	case s.ctx.Err() != nil:
		e.Msg, e.Err = fmt.Sprintf("server %q was stopped", s.server), context.Cause(s.ctx)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		e.Msg = fmt.Sprintf("server %q: its command cannot be run", s.server)
		e.Hint = "install the command, or correct it in the configuration"
	case c != nil && c.redirected != nil:
		return s.locateError(c.redirected, "start server")
	case c != nil && (c.status == http.StatusUnauthorized || c.status == http.StatusForbidden):
		e.Code = tool.Denied
		e.Msg = fmt.Sprintf("server %q refused access with HTTP status %d", s.server, c.status)
		e.Hint = s.loginHint()
	case c == nil:
		e.Msg = fmt.Sprintf("server %q could not be started", s.server)
	default:
		e.Msg = fmt.Sprintf("server %q could not be reached, or ended while it was started", s.server)
		e.Hint = s.startHint()
		e.Err = s.redact.redactError(fmt.Errorf("%w: %w", errHandshake, err))
		switch c.status {
		// The statuses with which servers of the older HTTP transport answer a POST to their event stream.
		case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
			http.StatusUnsupportedMediaType:
			e.Err = fmt.Errorf("%w: %w", errNotStreamable, e.Err)
		}
		if last := s.exitReason(); last != "" {
			e.Msg = fmt.Sprintf("server %q ended while it was started", s.server)
			e.Err = processError{last, e.Err}
			if s.isolated != nil {
				e.Hint = s.isolated(s.lastStderr())
			}
		}
		if s.proc != nil {
			if dir := s.broken(s.proc.tail.all()); dir != "" {
				e.Hint = "its installation is broken: delete the folder " + dir + ", and try again"
			}
		}
	}
	return e
}

// processError is a failed start, described by how the process ended. The error of the connection is in the chain.
type processError struct {
	reason string
	err    error
}

func (e processError) Error() string { return e.reason }
func (e processError) Unwrap() error { return e.err }

// startHint is the advice after a start that failed.
func (s *session) startHint() string {
	if s.local {
		return "run its command in a terminal to see all that it prints: tooldex servers list has it"
	}
	return "check its url, and that it can be reached from here"
}

// locateError reports that a server's redirect led to an address that is not allowed, such as a private one.
func (s *session) locateError(why *tool.Error, op string) error {
	return &tool.Error{
		Code: tool.Denied, Op: op, Msg: fmt.Sprintf("server %q leads elsewhere: %s", s.server, why.Msg),
		Hint: why.Hint,
	}
}

// loginHint is the advice after status 401 or 403.
func (s *session) loginHint() string {
	if s.advice != "" {
		return s.advice
	}
	return fmt.Sprintf("log in with: tooldex servers login %s; or give its configuration an Authorization header",
		s.server)
}

// epitaphWait is how long an error waits for the process behind a broken connection to be reaped, to say how it ended.
const epitaphWait = 100 * time.Millisecond

// exitReason describes how the process ended. It is "" without a process. It may wait for epitaphWait.
func (s *session) exitReason() string {
	if s.proc == nil {
		return ""
	}
	t := time.NewTimer(epitaphWait)
	defer t.Stop()
	select {
	case <-s.proc.exited:
	case <-t.C:
	}
	return s.proc.exitReason()
}

// lastStderr returns the line of stderr that says most, or "" without a process or output.
func (s *session) lastStderr() string {
	if s.proc == nil {
		return ""
	}
	return s.proc.tail.reason()
}

// requestError converts the failure of a request into an error for the caller. what names the request: `the call of
// "x"`. ctx is the caller's, runCtx the one with the time limit. The order of the cases matters: a context that ended
// explains the failures that follow from it.
func (s *session) requestError(ctx, runCtx context.Context, what string, timeout time.Duration, c capture,
	err error,
) error {
	var rpc *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return sessionEndedError(ctx.Err(), fmt.Sprintf("%s on server %q", what, s.server))
	case errors.Is(context.Cause(runCtx), errStopped):
		return &tool.Error{Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q was stopped during %s",
			s.server, what), Err: errStopped}
	case endReason(context.Cause(s.ctx)) != nil:
		return endReason(context.Cause(s.ctx))
	case errors.Is(context.Cause(runCtx), errLate):
		return &tool.Error{
			Code: tool.Timeout, Op: "call", Msg: fmt.Sprintf("server %q did not answer %s within %v", s.server, what,
				timeout),
			Hint: "try again, ask for less at once, or raise the server's timeout", Err: context.DeadlineExceeded,
		}
	case c.refused != nil:
		return c.refused
	case c.redirected != nil:
		return s.locateError(c.redirected, "call")
	case c.status == http.StatusUnauthorized || c.status == http.StatusForbidden:
		return &tool.Error{
			Code: tool.Denied, Op: "call", Msg: fmt.Sprintf("server %q refused %s with HTTP status %d", s.server, what,
				c.status),
			Hint: s.loginHint(), Err: s.redact.redactError(err),
		}
	case errors.As(err, &rpc) && rpc.Code != codeRejected:
		return s.rpcError(rpc, what)
	case c.status >= http.StatusBadRequest:
		return &tool.Error{
			Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q answered %s with HTTP status %d", s.server,
				what, c.status),
			Hint: "try again later", Err: s.redact.redactError(err),
		}
	}
	e := &tool.Error{
		Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("the connection to server %q broke during %s", s.server,
			what),
		Hint: "try again: the server is started or connected anew; whether the call took effect is unknown",
		Err:  s.redact.redactError(err),
	}
	if s.proc != nil {
		e.Msg = fmt.Sprintf("server %q ended during %s", s.server, what)
		e.Err = fmt.Errorf("%w: %s", e.Err, s.exitReason())
	} else if !c.sent {
		e.Msg = fmt.Sprintf("server %q cannot be reached for %s", s.server, what)
		e.Hint = "try again when it runs"
	}
	return e
}

// rpcError converts a JSON-RPC error of the server. The original stays in the chain as *jsonrpc.Error, with its code
// and data.
func (s *session) rpcError(rpc *jsonrpc.Error, what string) error {
	rpc = s.asker.markError(rpc)
	text := s.redact.redactText(truncateText(rpc.Message, 1000))
	e := &tool.Error{Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q refused %s: %s", s.server, what,
		text), Err: s.redact.redactError(rpc)}
	switch rpc.Code {
	case jsonrpc.CodeMethodNotFound:
		e.Code = tool.NotFound
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest:
		e.Code = tool.Invalid
		// The protocol has no code of its own for an unknown tool, so the text decides.
		if lower := strings.ToLower(text); strings.Contains(lower, "unknown tool") ||
			strings.Contains(lower, "not found") {
			e.Code = tool.NotFound
			e.Hint = "the server no longer offers it; search again"
		}
	case codeTooLarge:
		e.Code = tool.Invalid
		e.Msg = fmt.Sprintf("server %q answered %s with too much: %s", s.server, what, text)
		e.Hint = "ask for less, for example with a limit or a narrower path"
	case codeNoRoom:
		e.Msg = fmt.Sprintf("server %q answered %s, but %s", s.server, what, text)
		e.Hint = "ask for less, try again in a moment, or raise the setting messageMemory; the call may have taken effect"
	case codeBroken:
		e.Msg = fmt.Sprintf("server %q answered %s with something that is no valid message", s.server, what)
		e.Hint = "this is a fault of the server"
	}
	return e
}

// sessionEndedError returns the Timeout error of a request whose caller's context ended. what begins the message.
func sessionEndedError(err error, what string) error {
	msg := what + " was cancelled"
	if errors.Is(err, context.DeadlineExceeded) {
		msg = what + " took longer than its caller allowed"
	}
	return &tool.Error{Code: tool.Timeout, Op: "call", Msg: msg, Err: err}
}

// endReason returns the error with which a session's context was ended because of what its server did, or nil if it
// ended in another way.
func endReason(cause error) error {
	if own := (*tool.Error)(nil); errors.As(cause, &own) {
		return own
	}
	return nil
}

// endError returns the error that the status shows after a running session ended.
func (s *session) endError(reason error) error {
	if ours := endReason(context.Cause(s.ctx)); ours != nil {
		return ours
	}
	e := &tool.Error{Code: tool.Unavailable, Op: "run server", Msg: fmt.Sprintf("the connection to server %q ended",
		s.server), Err: s.redact.redactError(reason)}
	if s.proc != nil {
		e.Msg = fmt.Sprintf("server %q ended: %s", s.server, s.proc.exitReason())
	}
	return e
}

// rpcErrorOf converts an error of the client into the JSON-RPC error for the server that asked. A JSON-RPC error of the
// client itself is passed on unchanged. Of other errors only the message of a *tool.Error goes upstream, since the
// chain may hold internals.
func rpcErrorOf(err error) error {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return rpc
	}
	out := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client did not answer"}
	var e *tool.Error
	if errors.As(err, &e) {
		out.Message = e.Msg
		if e.Code == tool.Invalid || e.Code == tool.NotFound {
			out.Code = jsonrpc.CodeInvalidParams
		}
	}
	return out
}
