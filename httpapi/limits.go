package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/internal/limit"
	"tooldex/tool"
)

// limits bounds what a Server handles at once, and how long it waits for its clients. What exceeds one of the counts is
// refused at once or after a moment, with status 503 and Retry-After, so that the requests in progress are answered in
// time. docs/reference/limits.md lists them all; only tests set other values than the defaults.
type limits struct {
	// requests are handled at once, beside calls and streams.
	requests int
	// waiting requests wait for their turn; a negative number means none may.
	waiting int
	wait    time.Duration // for a turn
	// calls of tools, starts of servers and messages over MCP are handled at once, apart from requests: they wait for
	// upstreams.
	calls int
	// streams of MCP are open at once. Clients keep them for notifications, so they take no place from others.
	streams int
	// bodies bounds the bytes of all bodies that are in memory at once.
	bodies int64
	// unread bounds the bytes of answers that are being written at once, and unreadEach those of one client.
	unread, unreadEach int64
	// body bounds the bytes of one request's body; a message to /mcp may have maxMessage.
	body int64
	// conns bounds the connections. A new one beyond it replaces the one that has been idle for longest; if none is
	// idle, it is closed.
	conns int

	headerTime time.Duration // for the headers of a request
	bodyTime   time.Duration // for its body
	stallTime  time.Duration // for each 64 KiB of an answer or an event to be read
	idleTime   time.Duration // between the requests of a connection
}

// withDefaults returns l with the default in the place of each zero.
func (l limits) withDefaults() limits {
	l.requests = cmp.Or(l.requests, 256)
	l.waiting = max(cmp.Or(l.waiting, 1024), 0)
	l.wait = cmp.Or(l.wait, 2*time.Second)
	l.calls = cmp.Or(l.calls, 1024)
	l.streams = cmp.Or(l.streams, 4096)
	l.bodies = cmp.Or(l.bodies, 256<<20)
	l.unread, l.unreadEach = cmp.Or(l.unread, 512<<20), cmp.Or(l.unreadEach, 64<<20)
	l.body = cmp.Or(l.body, 1<<20)
	l.conns = cmp.Or(l.conns, min(16_384, openFiles()/4*3)) // the rest is for servers and the store
	l.headerTime = cmp.Or(l.headerTime, 10*time.Second)
	l.bodyTime = cmp.Or(l.bodyTime, 30*time.Second)
	l.stallTime = cmp.Or(l.stallTime, 30*time.Second)
	l.idleTime = cmp.Or(l.idleTime, 2*time.Minute)
	return l
}

// maxMessage bounds a body sent to /mcp, in bytes, as the protocol's library does.
const maxMessage = 4 << 20

// loadShedder admits requests, by kind, up to the bounds of limits.
type loadShedder struct {
	requests, calls, streams *limit.Gate
	held                     atomic.Int64 // bytes of bodies in memory
	unread                   *limit.Bytes // of answers that are being written
}

// newLoadShedder returns a loadShedder that admits as much as l says.
func newLoadShedder(l limits) *loadShedder {
	return &loadShedder{
		requests: limit.New(l.requests, l.waiting, l.wait), calls: limit.New(l.calls, 0, 0),
		streams: limit.New(l.streams, 0, 0),
		unread:  limit.NewBytes(l.unreadEach, l.unread),
	}
}

// gateOf returns the gate of a request, or nil for one that is always admitted: a monitor must be able to see that the
// process lives.
func (g *loadShedder) gateOf(c echo.Context) *limit.Gate {
	r := c.Request()
	switch path := r.URL.Path; {
	case isOpenPath(path):
		return nil
	// the protocol's library refuses a header that contradicts the body
	case isStream(c) && (r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == "subscriptions/listen"):
		return g.streams
	case isStream(c), waitsForUpstream(path):
		return g.calls
	}
	return g.requests
}

var (
	errBusy = &tool.Error{
		Code: tool.Unavailable, Op: "admit request",
		Msg: "the server is busy", Hint: "try again in a second",
	}
	errStopping = &tool.Error{
		Code: tool.Unavailable, Op: "serve", Msg: "the server is stopping",
		Hint: "try again in a moment; the request may or may not have taken effect",
	}
)

// admitRequest makes a request wait for its turn, once its body has arrived, and ends its turn when its answer begins
// to be written: a client that sends or reads slowly takes no place from others. A message to /mcp leaves its place
// when an event of its answer is not taken for streamPatience. A stream keeps its place.
func (s *Server) admitRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		g := s.load.gateOf(c)
		if g == nil {
			return next(c)
		}
		held, err := s.load.bufferBody(c.Request(), s.o.limits.bodies)
		defer s.load.held.Add(-held)
		if err != nil {
			return err
		}
		leave, err := g.Enter(c.Request().Context())
		if errors.Is(err, limit.ErrFull) || errors.Is(err, limit.ErrLate) {
			return errBusy
		}
		if err != nil {
			return err
		}
		leave = sync.OnceFunc(leave)
		defer leave()
		share, patience := limit.Share{Of: s.load.unread, Client: clientOf(c)}, time.Duration(0)
		if isStream(c) {
			patience = streamPatience
			c.SetRequest(c.Request().WithContext(limit.WithShare(c.Request().Context(), share)))
		}
		if g == s.load.streams { // such a place is for as long as the stream is open
			leave = func() {}
		}
		w := c.Response().Writer
		c.Response().Writer = &answerWriter{w, leave, patience, share}
		defer func() { c.Response().Writer = w }()
		return next(c)
	}
}

// streamPatience is how long a client may take to read an event before it is a slow one.
const streamPatience = 100 * time.Millisecond

// clientOf names who made a request: the owner of its token, or its address.
func clientOf(c echo.Context) string {
	if who := access.PrincipalOf(c.Request().Context()); who.Name != "" {
		return who.Name
	}
	return c.RealIP()
}

// bufferBody reads a body to its end, and replaces it by one in memory. It returns how many bytes that are, also with
// an error; the caller subtracts them from held when the request is done.
func (g *loadShedder) bufferBody(r *http.Request, most int64) (held int64, err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return 0, nil
	}
	var body bytes.Buffer
	for {
		n, err := io.CopyN(&body, r.Body, 32<<10)
		held += n
		if g.held.Add(n) > most {
			return held, errBusy
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return held, bodyError(err)
		}
	}
	_ = r.Body.Close() // it has been read to its end
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body.Bytes())), held
	return held, nil
}

// bodyError turns an error of reading a body into one with a status.
func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return echo.NewHTTPError(http.StatusRequestTimeout, "the body did not arrive in time")
	}
	return invalidField("the body", "cannot be read")
}
