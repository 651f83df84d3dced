package mcpsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// runKey is the key, in the context of a request, of the context of the Run that it came through. The SDK passes on the
// values of a connection's context but not its end: without this, a call would go on after Run was cancelled, and Close
// would wait for it.
type runKey struct{}

// Run serves one client over a persistent transport, as RunStdio does, and returns nil when the client disconnects,
// when ctx ends or when Close is called. When ctx ends, calls in flight are cancelled. When the client ends its side,
// Run sends the answers that are still in progress, for at most Options.DrainTime.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	session, err := s.mcp.Connect(context.WithValue(ctx, runKey{}, ctx), listParamTransport{drainingTransport{
		t, s.o.DrainTime, &s.answers,
	}}, nil)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = session.Close() })()
	err = session.Wait()
	if ctx.Err() != nil || s.closing.Err() != nil || isDisconnect(err) {
		return nil
	}
	return err
}

// isDisconnect reports whether an error means that the other side closed the connection, which shows when reading, or
// when writing an answer.
func isDisconnect(err error) bool {
	for _, end := range []error{
		io.EOF, io.ErrClosedPipe, os.ErrClosed, net.ErrClosed, syscall.EPIPE,
		mcp.ErrConnectionClosed,
	} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// Sessions returns the number of open sessions. A stateless request counts as one while it is answered.
func (s *Server) Sessions() int {
	n := 0
	for range s.mcp.Sessions() {
		n++
	}
	return n
}

// liveConnections goes through the open sessions.
func (s *Server) liveConnections() iter.Seq[*mcp.ServerSession] { return s.mcp.Sessions() }

// statelessRevision is the first protocol revision without sessions.
const statelessRevision = "2026-07-28"

// Handler serves streamable HTTP in both generations of the protocol at one address. It checks no credentials, but
// serves a session only to the principal that began it (see [access.PrincipalOf]); to others the session does not
// exist.
func (s *Server) Handler() http.Handler {
	pick := func(*http.Request) *mcp.Server { return s.mcp }
	logger := slog.New(sdkLog{s.o.Logger.Handler()})
	sessions := mcp.NewStreamableHTTPHandler(pick, &mcp.StreamableHTTPOptions{
		Logger: logger, SessionTimeout: s.o.limits.sessionIdle, DisableLocalhostProtection: s.o.AnyHost,
	})
	stateless := mcp.NewStreamableHTTPHandler(pick, &mcp.StreamableHTTPOptions{
		Logger: logger, Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: s.o.AnyHost,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.closing.Err() != nil {
			refuseUnavailable(w, "the server is stopping")
			return
		}
		// Streams stay open for as long as the client likes, so Shutdown does not wait for them.
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Method") != listenMethod {
			s.answers.beginRequest(0)
			defer s.answers.endRequest()
		}
		// A session that began while Close was collecting them would live on.
		defer func() {
			if s.closing.Err() != nil {
				s.closeSessions()
			}
		}()
		s.hideForeignSession(r)
		w, ok := s.readMessage(w, r)
		if !ok {
			return
		}
		if r.Header.Get("Mcp-Protocol-Version") >= statelessRevision {
			stateless.ServeHTTP(w, r)
			return
		}
		s.serveSession(w, r, sessions)
	})
}
