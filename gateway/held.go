package gateway

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"tooldex/internal/limit"
)

// A message of up to freeMessage bytes is not counted: it fits into the buffer of its connection, and calls are bounded
// in number. A longer one counts from its first byte until the request that it answers has ended.
const freeMessage = 64 << 10

// defaultMessageMemory is the default of Options.MessageMemory.
const defaultMessageMemory = 64 << 20

// NewMessages returns a value for Options.Messages: most is MessageMemory, of which one server gets a quarter. Report,
// unless it is nil, is called with true when messages begin to take a 16th of it, and with false when they do not any
// more. It may neither block nor call a gateway.
func NewMessages(most int64, report func(much bool)) *limit.Bytes {
	most = cmp.Or(most, defaultMessageMemory)
	out := limit.NewBytes(most/4+roomStep, most)
	if report != nil {
		out.Report(most/16, report)
	}
	return out
}

// messageRoom is how many bytes of messages one server may still have in memory, among those of all. Without room, no
// more is read from the server for a while; then its message is read past, and its call fails. A nil one has no bound.
type messageRoom struct {
	all    *limit.Bytes
	server string
	alive  context.Context // ends the waiting
	wait   time.Duration   // for room
}

// begin waits for room for n further bytes of a message, and reports whether there was.
func (r *messageRoom) begin(n int) bool {
	return r == nil || r.all.Wait(r.alive, r.server, int64(n), r.wait)
}

// heldBytes are bytes of a message that count as held, until end. The zero value holds nothing.
type heldBytes struct {
	room *messageRoom
	n    int
}

// end gives the bytes back. Further calls do nothing.
func (h *heldBytes) end() {
	if h.n > 0 && h.room != nil {
		h.room.all.End(h.room.server, int64(h.n))
	}
	h.n = 0
}

// take returns what h holds, and leaves it empty: the caller calls end.
func (h *heldBytes) take() heldBytes {
	out := *h
	h.n = 0
	return out
}

// merge adds what another one of the same connection holds, and leaves that empty.
func (h *heldBytes) merge(other *heldBytes) {
	h.room = other.room
	h.n += other.n
	other.n = 0
}

// untilEnd gives the bytes back when the request of ctx has ended; at once if ctx says nothing of that.
func (h *heldBytes) untilEnd(ctx context.Context) {
	if h.n > 0 {
		held := h.take()
		limit.Hold(ctx, held.end)
	}
}

// messageBuffer collects the bytes of one message. The zero value has no bound.
type messageBuffer struct {
	held heldBytes
	data []byte
}

// growth is by how much a buffer grows: seldom, since each copy is left to the garbage collector, and what a large
// buffer does not use takes no memory of the machine yet. roomStep is how many bytes are counted at once.
const (
	growth   = 8
	roomStep = 256 << 10
)

// add appends bytes, which are copied, and reports whether there was room for them. Most is what the message may have
// at most.
func (b *messageBuffer) add(part []byte, most int) bool {
	size := len(b.data) + len(part)
	if size > max(freeMessage, b.held.n) {
		want := (size/roomStep+1)*roomStep - b.held.n
		if !b.held.room.begin(want) {
			return false
		}
		b.held.n += want
	}
	if size > cap(b.data) {
		grown := make([]byte, len(b.data), max(size, min(growth*len(b.data), most)))
		copy(grown, b.data)
		b.data = grown
	}
	b.data = append(b.data, part...)
	return true
}

// bytes returns the message, in no more memory than it needs, and leaves the buffer without it, but for what it holds.
func (b *messageBuffer) bytes() []byte {
	out := b.data
	b.data = nil
	if cap(out) > len(out)+len(out)/4 {
		out = bytes.Clone(out)
	}
	return out
}

// give gives up a message that cannot be kept, and returns what is known of it. part is what comes next of it.
func (b *messageBuffer) give(part []byte, noRoom bool) *oversizedMessage {
	over := &oversizedMessage{size: len(b.data) + len(part), noRoom: noRoom}
	over.ids.write(b.data)
	over.ids.write(part)
	b.data = nil
	b.held.end()
	return over
}
