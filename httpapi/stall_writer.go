package httpapi

import (
	"net/http"
	"time"
)

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
		p.extend()
		n, err := p.ResponseWriter.Write(b[:min(len(b), maxPiece)])
		written += n
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// FlushError is for http.ResponseController, which flushes streams by it.
func (p *stallWriter) FlushError() error {
	p.extend()
	return p.control.Flush()
}

// extend sets the deadline for what is written next. A recorder in a test has no deadlines.
func (p *stallWriter) extend() {
	by := time.Now().Add(p.stall)
	if !p.end.IsZero() && p.end.Before(by) {
		by = p.end
	}
	_ = p.control.SetWriteDeadline(by)
}
