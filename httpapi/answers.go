package httpapi

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// answerWriter is the ResponseWriter of a request that has a place of a gate. It leaves the place when the answer
// begins to be written: a client that does not read takes no place from others. It counts the bytes that are being
// written.
type answerWriter struct {
	http.ResponseWriter
	leave  func() // may be called more than once
	unread *unreadAnswers
	client string
}

// Unwrap is for http.ResponseController.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// errUnread ends an answer whose client leaves too much unread.
var errUnread = errors.New("too many bytes of answers wait to be read")

// Write implements io.Writer.
func (w *answerWriter) Write(b []byte) (int, error) {
	w.leave()
	if !w.unread.begin(w.client, int64(len(b))) {
		// What was begun cannot be made an error: the connection breaks, so that the part is not taken for the whole.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Unix(1, 0))
		return 0, errUnread
	}
	defer w.unread.end(w.client, int64(len(b)))
	return w.ResponseWriter.Write(b)
}

// unreadAnswers counts the bytes of answers that are being written, in all and for each client.
type unreadAnswers struct {
	each, all int64 // bounds, in bytes

	mu      sync.Mutex
	total   int64
	clients map[string]int64
}

// begin counts bytes that are about to be written, and reports whether they fit. A single answer of a client always
// fits, whatever its size, unless all others together leave no room.
func (u *unreadAnswers) begin(client string, n int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if has := u.clients[client]; has > 0 && has+n > u.each || u.total > 0 && u.total+n > u.all {
		return false
	}
	u.total += n
	u.clients[client] += n
	return true
}

// end counts bytes as written, or given up.
func (u *unreadAnswers) end(client string, n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total -= n
	if u.clients[client] -= n; u.clients[client] <= 0 {
		delete(u.clients, client)
	}
}
