package httpapi

import (
	"net/http"
	"time"
)

// stallWriter is the ResponseWriter of a client that is waited for only as long as it goes on reading. A stream may rest
// for hours, but what is written to it has to be taken: otherwise one client that stops reading would keep an answer in
// memory, and whoever writes it, for ever.
type stallWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	end     time.Time // by when all has to be written; zero means whenever
}

// maxPiece is how much has to be taken within the stall time.
const maxPiece = 64 << 10

func newStallWriter(w http.ResponseWriter, stall time.Duration, end time.Time) *stallWriter {
	return &stallWriter{ResponseWriter: w, control: http.NewResponseController(w), stall: stall, end: end}
}

// Unwrap is for http.ResponseController.
func (p *stallWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Write implements io.Writer.
func (p *stallWriter) Write(b []byte) (int, error) {
	written := 0
	for {
		p.extend()
		n, err := p.ResponseWriter.Write(b[:min(len(b), maxPiece)])
		written += n
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// FlushError is for http.ResponseController, by which streams are flushed.
func (p *stallWriter) FlushError() error {
	p.extend()
	return p.control.Flush()
}

// extend gives the client time for what is written next. A recorder in a test has no deadlines.
func (p *stallWriter) extend() {
	by := time.Now().Add(p.stall)
	if !p.end.IsZero() && p.end.Before(by) {
		by = p.end
	}
	_ = p.control.SetWriteDeadline(by)
}
