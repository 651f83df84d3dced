package mcpsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// beatInterval is how often a client that asked for progress is notified that its call still runs.
const beatInterval = 10 * time.Second

// errAnswerLate is the cause with which a call ends whose client would soon give up.
var errAnswerLate = errors.New("the client would give up")

// patience keeps a client from giving up while a call runs: one that asked for progress hears regularly that it goes
// on, any other gets an error in time. A question to the client ends the bound, since a person may take longer.
type patience struct {
	within time.Duration // zero means no bound
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil for a client that asked for progress

	mu       sync.Mutex
	progress func(tool.Progress) // to the client; nil if it did not ask
	last     float64             // what was sent last: progress has to increase
	beats    bool                // something but the server's own was sent
}

// newPatience begins to wait for one call. The caller calls the returned end.
func (s *Server) newPatience(ctx context.Context, req *mcp.CallToolRequest) (context.Context, *patience, func()) {
	p := &patience{within: s.o.AnswerWithin, progress: s.relayProgress(ctx, req)}
	ctx, p.cancel = context.WithCancelCause(ctx)
	if p.progress != nil {
		done := make(chan struct{})
		go p.beat(ctx, done)
		return ctx, p, func() {
			p.cancel(nil)
			<-done // no progress after the answer
		}
	}
	if p.within > 0 {
		p.timer = time.AfterFunc(p.within, func() { p.cancel(errAnswerLate) })
	}
	return ctx, p, func() {
		p.askedClient()
		p.cancel(nil)
	}
}

// beat notifies the client regularly that the call still runs.
func (p *patience) beat(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(beatInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.mu.Lock()
			p.last, p.beats = p.last+1e-6, true
			p.progress(tool.Progress{Progress: p.last, Message: "in progress"})
			p.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// relay passes the server's own progress on. It is nil for a client that did not ask for progress.
func (p *patience) relay() func(tool.Progress) {
	if p.progress == nil {
		return nil
	}
	return func(one tool.Progress) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if one.Progress < p.last && p.beats {
			one.Progress = p.last
		}
		p.last = max(p.last, one.Progress)
		p.progress(one)
	}
}

// askedClient ends the bound.
func (p *patience) askedClient() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// asking returns c with an Ask that ends the bound; nil for nil.
func (p *patience) asking(c *tool.Client) *tool.Client {
	if c == nil || c.Ask == nil {
		return c
	}
	out := *c
	out.Ask = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		p.askedClient()
		return c.Ask(ctx, method, params)
	}
	return &out
}

// explain returns what to say of a call that was ended in time, and any other error as it is.
func (p *patience) explain(ctx context.Context, id tool.ID, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errAnswerLate) {
		return err
	}
	e := &tool.Error{
		Code: tool.Timeout, Op: "call", Msg: fmt.Sprintf("%s has not answered within %v", id, p.within), Err: err,
		Hint: "the call was ended before its client gives up, and may have taken effect; ask for less at once, or have a " +
			"longer serve.answerWithin",
	}
	var why *tool.Error
	if errors.As(err, &why) {
		e.Msg += ": " + why.Msg
	}
	return e
}
