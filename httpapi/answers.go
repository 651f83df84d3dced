package httpapi

import (
	"errors"
	"net/http"
	"time"

	"tooldex/internal/limit"
)

// answerWriter is the ResponseWriter of a request that has a place of a gate. It leaves the place when the answer
// begins to be written: a client that does not read takes no place from others. It counts the bytes that are being
// written.
type answerWriter struct {
	http.ResponseWriter
	leave func() // may be called more than once
	// patience is how long a write may take before the place is left. A message to /mcp may be answered by several events,
	// of which only the last ends the work; for other answers it is zero.
	patience time.Duration
	share    limit.Share
}

// Unwrap is for http.ResponseController.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// errUnread ends an answer whose client leaves too much unread.
var errUnread = errors.New("too many bytes of answers wait to be read")

// Write implements io.Writer.
func (w *answerWriter) Write(b []byte) (int, error) {
	if w.patience == 0 {
		w.leave()
	} else {
		defer time.AfterFunc(w.patience, w.leave).Stop()
	}
	if !w.share.Begin(int64(len(b))) {
		// What was begun cannot be made an error: the connection breaks, so that the part is not taken for the whole.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Unix(1, 0))
		return 0, errUnread
	}
	defer w.share.End(int64(len(b)))
	return w.ResponseWriter.Write(b)
}
