package trace

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"tooldex/tool"
)

// span is something that takes time. A nil span belongs to a trace that is not recorded; its methods do nothing. A span
// belongs to one goroutine until endSpan, and to the exporter after that.
type span struct {
	tracer     *Tracer
	trace      [16]byte
	id, parent [8]byte
	remote     bool // the parent belongs to another program
	kind       int
	name       string
	begin, end time.Time
	attributes []attribute
	failed     string // why; "" if it did not fail
}

// The kinds of spans, by OTLP's numbers.
const (
	internalKind = 1
	serverKind   = 2
	clientKind   = 3
)

// attribute is a property of a span. value is a string, a bool or an int.
type attribute struct {
	key   string
	value any
}

// under is the key of the spanContext in a context.
type under struct{}

// spanContext is the place of new spans: below which span they are, and whether the trace is recorded.
type spanContext struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
	remote  bool
}

// startSpan begins a span below that of ctx. The span is nil if its trace is not recorded.
func (t *Tracer) startSpan(ctx context.Context, kind int, name string) (context.Context, *span) {
	if t == nil {
		return ctx, nil
	}
	at, inside := ctx.Value(under{}).(spanContext)
	if !inside {
		_, _ = rand.Read(at.trace[:]) // never fails
		at.sampled = t.isSampled(at.trace)
	} else if at.remote && !t.o.parent {
		at.sampled = t.isSampled(at.trace)
	}
	s := &span{
		tracer: t, trace: at.trace, parent: at.span, remote: at.remote, kind: kind, name: name,
		begin: time.Now(),
	}
	_, _ = rand.Read(s.id[:])
	ctx = context.WithValue(ctx, under{}, spanContext{trace: at.trace, span: s.id, sampled: at.sampled})
	if !at.sampled {
		return ctx, nil
	}
	return ctx, s
}

// isSampled decides by the trace's ID, so that all programs in a trace decide alike. It compares 63 bits of the ID with
// the ratio.
func (t *Tracer) isSampled(trace [16]byte) bool {
	return t.o.ratio >= 1 || float64(binary.BigEndian.Uint64(trace[8:])>>1) < t.o.ratio*(1<<63)
}

// setAttribute adds an attribute. It must not be called after endSpan.
func (s *span) setAttribute(key string, value any) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value})
	}
}

// endSpan ends a span and queues it for sending. Of an error it records only the code, since messages may quote
// arguments.
func (s *span) endSpan(err error) {
	if s == nil {
		return
	}
	s.end = time.Now()
	if err != nil {
		s.failed = tool.CodeOf(err).String()
		s.setAttribute("error.type", s.failed)
	}
	s.tracer.enqueueSpan(s)
}

// parseParent reads a traceparent header of W3C Trace Context.
func parseParent(header string) (spanContext, bool) {
	parts := strings.Split(header, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 ||
		parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return spanContext{}, false
	}
	var p spanContext
	var version, flags [1]byte
	ok := decodeHex(version[:], parts[0]) && decodeHex(p.trace[:], parts[1]) && decodeHex(p.span[:], parts[2]) &&
		decodeHex(flags[:], parts[3])
	p.sampled, p.remote = flags[0]&1 == 1, true
	return p, ok && p.trace != [16]byte{} && p.span != [8]byte{}
}

// decodeHex decodes exactly as many bytes as into holds, in lower case.
func decodeHex(into []byte, text string) bool {
	_, err := hex.Decode(into, []byte(text))
	return err == nil && strings.ToLower(text) == text
}
