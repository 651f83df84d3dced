package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/internal/limit"
	"tooldex/tool"
)

// Limits bounds what a Server takes on at once, and how long it waits for its clients. What is beyond the first group
// is refused at once or after a moment, with status 503 and Retry-After, so that those who are being answered are
// answered in time. The zero value of each field means its default.
type Limits struct {
	Requests int           // that are worked on at once, beside those below; zero means 256
	Waiting  int           // further ones that wait for their turn; zero means 1,024, less than zero none
	Wait     time.Duration // for a turn; zero means 2 seconds
	Calls    int           // calls of tools, starts of servers and messages over MCP at once; zero means 1,024
	Streams  int           // of MCP, that clients keep open to be told what happens; zero means 4,096
	Bodies   int64         // bytes of all bodies that are held at once; zero means 256 MiB
	// Conns is how many connections there may be; zero means 16,384, or three quarters of the files that this process
	// may open if that is less. In the place of one that has no request the newest is let in; if there is none, it is
	// closed.
	Conns int

	HeaderTime time.Duration // for the headers of a request; zero means 10 seconds
	BodyTime   time.Duration // for its body; zero means 30 seconds
	StallTime  time.Duration // for each 64 KiB of an answer or an event to be taken; zero means 30 seconds
	IdleTime   time.Duration // between the requests of a connection; zero means 2 minutes
}

func (l Limits) withDefaults() Limits {
	l.Requests = cmp.Or(l.Requests, 256)
	l.Waiting = max(cmp.Or(l.Waiting, 1024), 0)
	l.Wait = cmp.Or(l.Wait, 2*time.Second)
	l.Calls = cmp.Or(l.Calls, 1024)
	l.Streams = cmp.Or(l.Streams, 4096)
	l.Bodies = cmp.Or(l.Bodies, 256<<20)
	l.Conns = cmp.Or(l.Conns, min(16_384, openFiles()/4*3))
	l.HeaderTime = cmp.Or(l.HeaderTime, 10*time.Second)
	l.BodyTime = cmp.Or(l.BodyTime, 30*time.Second)
	l.StallTime = cmp.Or(l.StallTime, 30*time.Second)
	l.IdleTime = cmp.Or(l.IdleTime, 2*time.Minute)
	return l
}

// maxMessage bounds a body sent to /mcp, as the protocol's library does.
const maxMessage = 4 << 20

// gates are what requests of each kind go through.
type gates struct {
	requests, calls, streams *limit.Gate
	held                     atomic.Int64 // bytes of bodies
}

func newGates(l Limits) *gates {
	return &gates{
		requests: limit.New(l.Requests, l.Waiting, l.Wait), calls: limit.New(l.Calls, 0, 0),
		streams: limit.New(l.Streams, 0, 0),
	}
}

// of returns the gate of a request, nil if it may always pass: whoever watches over the process has to hear that it
// lives.
func (g *gates) of(c echo.Context) *limit.Gate {
	r := c.Request()
	switch path := r.URL.Path; {
	case isOpen(path):
		return nil
	// the library refuses one that lies
	case streams(c) && (r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == "subscriptions/listen"):
		return g.streams
	case streams(c), strings.HasSuffix(path, callSuffix), strings.HasSuffix(path, startSuffix):
		return g.calls
	}
	return g.requests
}

var (
	errBusy = &tool.Error{
		Code: tool.Unavailable, Op: "admit request",
		Msg: "too much is asked of this server at once", Hint: "try again in a second",
	}
	errStopping = &tool.Error{
		Code: tool.Unavailable, Op: "serve", Msg: "the server is stopping",
		Hint: "try again in a moment; whether what was asked took effect is unknown",
	}
)

// admit has a request wait for its turn once all of it is there: a client that sends slowly takes no place from others.
func (s *Server) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		g := s.gates.of(c)
		if g == nil {
			return next(c)
		}
		held, err := s.gates.hold(c.Request(), s.o.Limits.Bodies)
		defer s.gates.held.Add(-held)
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
		defer leave()
		return next(c)
	}
}

// hold reads a body to its end, and has the request read it from memory. It returns how many bytes that are, also with
// an error.
func (g *gates) hold(r *http.Request, most int64) (held int64, err error) {
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
	_ = r.Body.Close() // it has been read whole
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body.Bytes())), held
	return held, nil
}

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return echo.NewHTTPError(http.StatusRequestTimeout, "the body did not come in time")
	}
	return invalid("the body", "cannot be read")
}
