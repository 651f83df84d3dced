package httpapi

import (
	stdlist "container/list"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// connLimiter bounds the connections of a server. A new connection beyond the bound replaces the one that has been idle
// for longest; if none is idle, the new one is closed.
type connLimiter struct {
	most int

	mu    sync.Mutex
	conns int
	idle  *stdlist.List // the longest idle first
	at    map[net.Conn]*stdlist.Element
	fresh map[net.Conn]bool // without any request so far
	ended bool              // no new connection is accepted
}

// newConnLimiter returns a limiter for at most most connections.
func newConnLimiter(most int) *connLimiter {
	return &connLimiter{
		most: most, idle: stdlist.New(), at: map[net.Conn]*stdlist.Element{},
		fresh: map[net.Conn]bool{},
	}
}

// observeState implements http.Server.ConnState.
func (d *connLimiter) observeState(c net.Conn, state http.ConnState) {
	if leaves := d.trackState(c, state); leaves != nil {
		_ = leaves.Close() // the server's goroutine for it reports the end
	}
}

// trackState notes a change of state, and returns a connection to close, or nil.
func (d *connLimiter) trackState(c net.Conn, state http.ConnState) (leaves net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.at[c]; e != nil {
		d.idle.Remove(e)
		delete(d.at, c)
	}
	delete(d.fresh, c)
	switch state {
	case http.StateNew:
		d.conns++
		switch d.fresh[c] = true; {
		case d.ended:
			return c
		case d.conns <= d.most:
			return nil
		}
		if oldest := d.idle.Front(); oldest != nil {
			d.idle.Remove(oldest)
			leaves, _ = oldest.Value.(net.Conn)
			delete(d.at, leaves)
			return leaves
		}
		return c
	case http.StateIdle:
		d.at[c] = d.idle.PushBack(c)
	case http.StateClosed, http.StateHijacked:
		d.conns--
	}
	return nil
}

// closeFresh closes connections without any request so far, and every new one. Browsers open some in advance, and a
// shutdown would wait for them.
func (d *connLimiter) closeFresh() {
	d.mu.Lock()
	d.ended = true
	fresh := slices.Collect(maps.Keys(d.fresh))
	d.mu.Unlock()
	for _, c := range fresh {
		_ = c.Close() // the server's goroutine for it reports the end
	}
}

// stallWriter is a ResponseWriter that gives up on a client which stops reading. A stream may stay silent for hours,
// but what is written to it must be read within the stall time: otherwise one such client would keep an answer in
// memory, and its writer waiting, for ever.
type stallWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	end     time.Time // when all must be written; zero means no such time
}

// maxPiece is how much must be read within the stall time, in bytes.
const maxPiece = 64 << 10

// newStallWriter wraps w; a zero end means that only stalls end the writing.
func newStallWriter(w http.ResponseWriter, stall time.Duration, end time.Time) *stallWriter {
	return &stallWriter{ResponseWriter: w, control: http.NewResponseController(w), stall: stall, end: end}
}

// Unwrap is for http.ResponseController.
func (p *stallWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Write implements io.Writer.
func (p *stallWriter) Write(b []byte) (int, error) {
	written := 0
	for {
		p.extendDeadline()
		n, err := p.ResponseWriter.Write(b[:min(len(b), maxPiece)])
		written += n
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// FlushError is for http.ResponseController, which flushes streams by it.
func (p *stallWriter) FlushError() error {
	p.extendDeadline()
	return p.control.Flush()
}

// extendDeadline sets the deadline for what is written next. A recorder in a test has no deadlines.
func (p *stallWriter) extendDeadline() {
	by := time.Now().Add(p.stall)
	if !p.end.IsZero() && p.end.Before(by) {
		by = p.end
	}
	_ = p.control.SetWriteDeadline(by)
}
