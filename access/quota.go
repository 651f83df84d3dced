package access

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tooldex/tool"
)

// Limits bound what is done with one token. Zero is no bound.
type Limits struct {
	Requests   int // over HTTP per minute
	Calls      int // of tools per minute, over every protocol
	Concurrent int // calls at once
}

// maxLimit is the largest bound: anything above is a slip of the keyboard.
const maxLimit = 1_000_000

// Check returns an Invalid error for limits that cannot be.
func (l Limits) Check() error {
	for _, n := range []int{l.Requests, l.Calls, l.Concurrent} {
		if n < 0 || n > maxLimit {
			return &tool.Error{
				Code: tool.Invalid, Op: "read limits", Msg: fmt.Sprintf("%d cannot be a limit of a token", n),
				Hint: fmt.Sprintf("give 1 to %d, or 0 for no limit", maxLimit),
			}
		}
	}
	return nil
}

// String returns the limits for people, "" for none.
func (l Limits) String() string {
	out := ""
	for _, one := range []struct {
		n    int
		what string
	}{{l.Requests, "requests a minute"}, {l.Calls, "calls a minute"}, {l.Concurrent, "calls at once"}} {
		if one.n == 0 {
			continue
		}
		if out != "" {
			out += ", "
		}
		out += fmt.Sprintf("%d %s", one.n, one.what)
	}
	return out
}

// Kinds of quotas, as metrics name them.
const (
	quotaRequests   = "requests"
	quotaCalls      = "calls"
	quotaConcurrent = "concurrent"
)

// Exhausted is in the chain of errors that refuse what a quota does not permit now.
type Exhausted struct {
	After time.Duration // when to try again
}

// Error implements error.
func (e Exhausted) Error() string { return "the quota is used up" }

// Quota holds a token to its limits. A minute's number may be used up at once; it fills up evenly. Methods of a nil
// Quota permit everything. It is safe for concurrent use.
type Quota struct {
	refused func(kind string) // called without the lock; nil for nothing

	mu              sync.Mutex
	limits          Limits
	requests, calls *rate.Limiter // nil without a limit
	running         int
}

// newQuota returns a Quota of which nothing is used.
func newQuota(l Limits, refused func(kind string)) *Quota {
	q := &Quota{refused: refused}
	q.setLimits(l)
	return q
}

// setLimits changes the limits. What was used of a limit that stays counts on.
func (q *Quota) setLimits(l Limits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.limits.Requests != l.Requests {
		q.requests = rate.NewLimiter(rate.Limit(l.Requests)/60, l.Requests)
	}
	if q.limits.Calls != l.Calls {
		q.calls = rate.NewLimiter(rate.Limit(l.Calls)/60, l.Calls)
	}
	q.limits = l
}

// Request counts a request over HTTP. The error is Unavailable with an Exhausted in its chain.
func (q *Quota) Request() error {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	limits, limiter := q.limits, q.requests
	q.mu.Unlock()
	if limits.Requests == 0 {
		return nil
	}
	return q.take(limiter, quotaRequests, fmt.Sprintf("%d requests a minute", limits.Requests))
}

// BeginCall counts a call of a tool. The caller calls end when it has ended, unless there is an error, which is as that
// of Request.
func (q *Quota) BeginCall() (end func(), err error) {
	if q == nil {
		return func() {}, nil
	}
	q.mu.Lock()
	limits, limiter := q.limits, q.calls
	if limits.Concurrent > 0 && q.running >= limits.Concurrent {
		q.mu.Unlock()
		return nil, q.refuse(quotaConcurrent, fmt.Sprintf("%d calls at once", limits.Concurrent), time.Second)
	}
	q.running++
	q.mu.Unlock()
	end = func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.running--
	}
	if limits.Calls > 0 {
		if err := q.take(limiter, quotaCalls, fmt.Sprintf("%d calls a minute", limits.Calls)); err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}

// take takes one from a limiter, or returns when there will be one.
func (q *Quota) take(limiter *rate.Limiter, kind, what string) error {
	r := limiter.Reserve()
	after := r.Delay()
	if after == 0 {
		return nil
	}
	r.Cancel()
	return q.refuse(kind, what, min(after, time.Minute))
}

// refuse reports a refusal and returns its error.
func (q *Quota) refuse(kind, what string, after time.Duration) error {
	if q.refused != nil {
		q.refused(kind)
	}
	seconds := int(math.Ceil(after.Seconds()))
	return &tool.Error{
		Code: tool.Unavailable, Op: "check quota", Msg: "this token permits " + what,
		Hint: fmt.Sprintf("try again in %d s, or ask for a token that permits more", seconds),
		Err:  Exhausted{time.Duration(seconds) * time.Second},
	}
}

// quotaKey is the key of the Quota in a context.
type quotaKey struct{}

// WithQuota returns a context in which calls count for a token; with a nil Quota, for none.
func WithQuota(ctx context.Context, q *Quota) context.Context {
	return context.WithValue(ctx, quotaKey{}, q)
}

// LimitCalls makes Callers that hold calls to the quota of their token.
type LimitCalls struct{}

// Caller returns a Caller that passes on to next what the quota in the context permits.
func (LimitCalls) Caller(next tool.Caller) tool.Caller { return limitedCaller{next} }

// limitedCaller is a Caller of LimitCalls.
type limitedCaller struct{ next tool.Caller }

// Call implements tool.Caller.
func (c limitedCaller) Call(ctx context.Context, call tool.Call) (*tool.CallResult, error) {
	q, _ := ctx.Value(quotaKey{}).(*Quota)
	end, err := q.BeginCall()
	if err != nil {
		return nil, err
	}
	defer end()
	return c.next.Call(ctx, call)
}
