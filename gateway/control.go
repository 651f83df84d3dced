package gateway

import (
	"context"
	"fmt"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// Start starts a server and returns when it runs. A running server is left alone. Start skips the pause that follows a
// failed start. Errors are those of [Gateway.Call].
func (g *Gateway) Start(ctx context.Context, server string) error {
	u, err := g.upstreamNamed(server)
	if err != nil {
		return err
	}
	u.mu.Lock()
	u.notBefore = time.Time{}
	u.mu.Unlock()
	return u.withSession(ctx, usage{counts: true}, func(*session, *caller) (bool, error) { return false, nil })
}

// Stop stops a server and returns when it has ended. Its running calls fail as Unavailable. Only the next call or Start
// starts it again, even if it is configured to run all the time; a listing until then fails. The error is NotFound for
// an unknown server.
func (g *Gateway) Stop(server string) error {
	u, err := g.upstreamNamed(server)
	if err != nil {
		return err
	}
	u.stopByRequest()
	return nil
}

// Log returns the last few hundred lines of a server, oldest first: what it printed to stderr, and the events of its
// runs since [Gateway.Set] added it. Secrets are replaced as in Options.Logger. The slice belongs to the caller. The
// error is NotFound for an unknown server.
func (g *Gateway) Log(server string) ([]upstream.LogLine, error) {
	u, err := g.upstreamNamed(server)
	if err != nil {
		return nil, err
	}
	return u.record.allLines(), nil
}

// upstreamNamed is Upstream with a NotFound error, for the commands that control one server.
func (g *Gateway) upstreamNamed(server string) (*Upstream, error) {
	u, ok := g.Upstream(server)
	if !ok {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "find server", Msg: fmt.Sprintf("there is no server %q to start or stop",
				truncateText(server, 80)),
			Hint: "servers whose tools came from a file do not run; a disabled one is not kept",
		}
	}
	return u, nil
}

// stopByRequest ends the session, after waiting for a start that is under way. The upstream is not marked as stopped,
// so that the next call starts it, but as halted: the listing that follows a start must not undo the stop. Clearing
// lastErr makes the status show a server that is configured, not one that failed.
func (u *Upstream) stopByRequest() {
	u.mu.Lock()
	a := u.starting
	u.mu.Unlock()
	if a != nil {
		<-a.done
	}
	u.mu.Lock()
	s := u.session
	u.session, u.lastErr, u.failed, u.halted = nil, nil, upstream.Status{}, true
	u.mu.Unlock()
	if s != nil {
		u.record.addLine(upstream.FromGateway, "stopped by hand")
		s.close()
	}
}
