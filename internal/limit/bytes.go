package limit

import (
	"context"
	"sync"
	"time"
)

// Bytes bounds the bytes that wait to be taken, in all and for each client. It is safe for concurrent use, and made by
// NewBytes.
type Bytes struct {
	each, all int64

	mu      sync.Mutex
	total   int64
	clients map[string]int64
	many    int64           // reported to report when total exceeds it, and when it does no longer
	report  func(many bool) // nil for none
	refused int64           // by Wait
	freed   chan struct{}   // closed by the next End; nil if nobody waits for it
}

// NewBytes returns a Bytes of which nothing is used. Each bounds what waits for one client, all what waits for all.
func NewBytes(each, all int64) *Bytes {
	return &Bytes{each: each, all: all, clients: map[string]int64{}}
}

// Begin counts bytes that are about to wait for a client, and reports whether they fit. Only what fits may wait, and
// the caller calls End for it. A single piece for a client always fits, whatever its size, unless all others together
// leave no room.
func (b *Bytes) Begin(client string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if has := b.clients[client]; has > 0 && has+n > b.each || b.total > 0 && b.total+n > b.all {
		return false
	}
	b.add(n)
	b.clients[client] += n
	return true
}

// End counts bytes as taken, or given up.
func (b *Bytes) End(client string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(-n)
	if b.clients[client] -= n; b.clients[client] <= 0 {
		delete(b.clients, client)
	}
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// Wait is Begin, but waits for room: until there is some, ctx ends, or the most that may be waited is over.
func (b *Bytes) Wait(ctx context.Context, client string, n int64, most time.Duration) bool {
	if b.Begin(client, n) {
		return true
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		freed := b.nextEnd()
		if b.Begin(client, n) {
			return true
		}
		select {
		case <-freed:
			continue
		case <-timer.C:
		case <-ctx.Done():
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.refused++
		return false
	}
}

// nextEnd returns a channel that the next End closes.
func (b *Bytes) nextEnd() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.freed == nil {
		b.freed = make(chan struct{})
	}
	return b.freed
}

// Refused returns how often Wait found no room.
func (b *Bytes) Refused() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Report has report called when all clients together have more than many bytes, and when they have not any more. It is
// called before the first Begin. Report may not use the Bytes.
func (b *Bytes) Report(many int64, report func(many bool)) { b.many, b.report = many, report }

// add changes the total. b.mu is held.
func (b *Bytes) add(n int64) {
	before := b.total > b.many
	b.total += n
	if after := b.total > b.many; b.report != nil && before != after {
		b.report(after)
	}
}

// Waiting returns how many clients something waits for, and how much.
func (b *Bytes) Waiting() (clients int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.clients), b.total
}

// Share is the part of a Bytes that one client has. The zero Share has no bound.
type Share struct {
	Of     *Bytes
	Client string
}

// Begin is that of the Bytes.
func (s Share) Begin(n int64) bool { return s.Of == nil || s.Of.Begin(s.Client, n) }

// End is that of the Bytes.
func (s Share) End(n int64) {
	if s.Of != nil {
		s.Of.End(s.Client, n)
	}
}

// shareKey is the key of the Share in a context.
type shareKey struct{}

// WithShare returns a context that carries the share of the client who sent a request.
func WithShare(ctx context.Context, s Share) context.Context {
	return context.WithValue(ctx, shareKey{}, s)
}

// ShareOf returns the Share that ctx carries, or the zero Share.
func ShareOf(ctx context.Context) Share {
	s, _ := ctx.Value(shareKey{}).(Share)
	return s
}
