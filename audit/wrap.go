package audit

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"tooldex/access"
	"tooldex/confirm"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Caller returns a Caller that passes calls on to next, and records each when it has ended. It belongs around
// everything that may refuse a call. With Options.Required a call that cannot be recorded is not made; its error is of
// code Unavailable.
func (l *Log) Caller(next tool.Caller) tool.Caller {
	if l == nil {
		return next
	}
	return caller{l, next}
}

// caller records the calls that pass through it.
type caller struct {
	log  *Log
	next tool.Caller
}

// Call implements tool.Caller.
func (c caller) Call(ctx context.Context, call tool.Call) (*tool.CallResult, error) {
	r := c.log.describeCall(ctx, call)
	if c.log.o.Required {
		begin := r
		begin.Kind = Begin
		if err := c.log.writeRecord(&begin); err != nil {
			return nil, &tool.Error{
				Code: tool.Unavailable, Op: "call", Msg: "the call of " + string(call.ID) +
					" is refused because it cannot be recorded",
				Hint: "ask the administrator of tooldex to check the audit log", Err: err,
			}
		}
		r.Of = begin.Seq
	}
	told := call.OnConfirm
	call.OnConfirm = func(how string) {
		r.Confirmed = how
		if told != nil {
			told(how)
		}
	}
	start := time.Now()
	res, err := c.next.Call(ctx, call)
	r.Millis = toMilliseconds(time.Since(start))
	c.log.setOutcome(ctx, &r, res, err)
	_ = c.log.writeRecord(&r) // the call was made, so its answer is passed on; Err and the log report the failure
	return res, err
}

// Refused records a call that was refused before it reached a Caller: of a name that is no tool for this client, or
// with arguments that are no object. name is what was asked for, and c says the rest.
func (l *Log) Refused(ctx context.Context, name string, c tool.Call, err error) {
	if l == nil {
		return
	}
	r := l.describeCall(ctx, c)
	if c.ID == "" {
		r.Name = cutText(name)
		if t, ok := l.resolveName(name); ok { // but not for this client
			r.Tool, r.Definition = t.ID(), l.defs.hashOfTool(t, l.o.Catalog.Set())
		}
	}
	l.setOutcome(ctx, &r, nil, err)
	_ = l.writeRecord(&r)
}

// Changed records a change: an action, such as "servers add", and its subject. A nil error means that it was done.
func (l *Log) Changed(ctx context.Context, who tool.Asker, action, subject string, err error) {
	if l == nil {
		return
	}
	r := Record{Kind: Change, Who: l.whoOf(ctx, who), Action: cutText(action), Subject: cutText(subject), Outcome: OK}
	if err != nil {
		l.setOutcome(ctx, &r, nil, err)
	}
	_ = l.writeRecord(&r)
}

// Served records that a process begins or ends to serve, and returns why that cannot be recorded.
func (l *Log) Served(ctx context.Context, kind Kind, version, how string) error {
	if l == nil {
		return nil
	}
	r := Record{Kind: kind, Who: l.whoOf(ctx, tool.Asker{Client: "tooldex", Version: version}), Subject: cutText(how)}
	return l.writeRecord(&r)
}

// describeCall returns what is known about a call before it is made.
func (l *Log) describeCall(ctx context.Context, c tool.Call) Record {
	r := Record{Kind: Call, Who: l.whoOf(ctx, c.Who), Tool: c.ID, Arguments: l.Fingerprint(c.Arguments)}
	if l.o.Catalog != nil && c.ID != "" {
		if set := l.o.Catalog.Set(); set != nil {
			if t, ok := set.Get(c.ID); ok {
				r.Definition = l.defs.hashOfTool(t, set)
			}
		}
	}
	if l.o.Arguments {
		r.Given = storedArguments(c.Arguments)
	}
	return r
}

// whoOf returns on whose behalf something is done.
func (l *Log) whoOf(ctx context.Context, a tool.Asker) Who {
	return Who{
		Principal: cutText(access.PrincipalOf(ctx).Name), Profile: cutText(a.Profile), Client: cutText(a.Client),
		Version: cutText(a.Version),
		Via:     a.Via, Session: l.hashSession(a.Session), Process: os.Getpid(),
	}
}

// setOutcome sets how a call ended.
func (l *Log) setOutcome(ctx context.Context, r *Record, res *tool.CallResult, err error) {
	var reason confirm.Unconfirmed
	if err == nil {
		r.Outcome = OK
		if res != nil && res.IsError {
			r.Outcome = Failed
		}
		return
	}
	code := tool.CodeOf(err)
	r.Code = code.String()
	switch {
	case errors.As(err, &reason):
		r.Outcome, r.Reason = Unconfirmed, string(reason)
	case errors.Is(ctx.Err(), context.Canceled):
		r.Outcome = Cancelled
	case code == tool.Denied:
		r.Outcome = Denied
	case code == tool.Invalid:
		r.Outcome = Invalid
	case code == tool.NotFound && r.Definition != "":
		r.Outcome = Hidden
	case code == tool.NotFound:
		r.Outcome = Unknown
	case code == tool.Timeout, errors.Is(err, context.DeadlineExceeded):
		r.Outcome = TimedOut
	default:
		r.Outcome = Error
	}
}

// resolveName returns the tool that a name means, for every caller.
func (l *Log) resolveName(name string) (*tool.Tool, bool) {
	if l.o.Catalog == nil || l.o.Catalog.Set() == nil {
		return nil, false
	}
	t, err := l.o.Catalog.Set().Resolve(name)
	return t, err == nil
}

// storedArguments returns the arguments for Options.Arguments, or the beginning of long ones as a string.
func storedArguments(args json.RawMessage) json.RawMessage {
	const most = 16 << 10
	if len(args) <= most && json.Valid(args) {
		return args
	}
	text, err := json.Marshal(sanitize.Cut(string(args[:min(len(args), most+1)]), most))
	if err != nil {
		return nil
	}
	return text
}

// toMilliseconds returns a duration in milliseconds, to the microsecond.
func toMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cutText bounds names that others chose.
func cutText(s string) string {
	const most = 200 // bytes
	return sanitize.Cut(s, most)
}
