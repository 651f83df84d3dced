package trace

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxWaiting is how many spans the queue holds, maxBatch how many are sent at once. A batch is sent when it is full or
// after sendEvery, and may take sendWithin; closeGrace bounds what Close waits for.
const (
	maxWaiting = 2048
	maxBatch   = 512
	sendEvery  = 5 * time.Second
	sendWithin = 10 * time.Second
	closeGrace = 3 * time.Second
)

// Tracer makes spans and sends them. It is safe for concurrent use; a nil Tracer does nothing.
type Tracer struct {
	o       settings
	log     *slog.Logger
	client  *http.Client
	spans   chan *span
	stop    chan struct{}
	stopped sync.Once
	tasks   sync.WaitGroup
	// failing is set while batches cannot be sent, so that only the first failure is logged.
	failing bool
}

// newTracer returns a Tracer whose exporter runs until Close.
func newTracer(o settings, log *slog.Logger) *Tracer {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &Tracer{
		o: o, log: log, client: &http.Client{Timeout: sendWithin}, spans: make(chan *span, maxWaiting),
		stop: make(chan struct{}),
	}
	t.tasks.Go(t.runExporter)
	return t
}

// enqueueSpan queues a span for sending. It does not block: when the queue is full, the span is dropped.
func (t *Tracer) enqueueSpan(s *span) {
	select {
	case t.spans <- s:
	default:
	}
}

// runExporter sends batches until Close.
func (t *Tracer) runExporter() {
	ctx := context.Background()
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	var batch []*span
	for {
		select {
		case <-t.stop:
			t.sendRest(batch)
			return
		case s := <-t.spans:
			if batch = append(batch, s); len(batch) < maxBatch {
				continue
			}
		case <-tick.C:
		}
		t.sendBatch(ctx, batch)
		batch = nil
	}
}

// sendRest sends what is left in one batch, for at most closeGrace.
func (t *Tracer) sendRest(batch []*span) {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	for {
		select {
		case s := <-t.spans:
			batch = append(batch, s)
		default:
			t.sendBatch(ctx, batch)
			return
		}
	}
}

// Close sends what is queued, for at most closeGrace, and ends the Tracer. Spans that end later are dropped. It is
// idempotent.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	t.stopped.Do(func() {
		close(t.stop)
		t.tasks.Wait()
		t.client.CloseIdleConnections()
	})
}

// sendBatch sends a batch. A batch that cannot be sent is dropped; the first of a row of failures is logged.
func (t *Tracer) sendBatch(ctx context.Context, batch []*span) {
	if len(batch) == 0 {
		return
	}
	err := t.postBatch(ctx, batch)
	if err != nil && !t.failing {
		t.log.Warn("spans could not be sent and are dropped, until the collector takes some", "endpoint", t.o.endpoint,
			"err", err)
	}
	t.failing = err != nil
}

// postBatch sends a batch to the collector.
func (t *Tracer) postBatch(ctx context.Context, batch []*span) error {
	body, err := json.Marshal(t.encodeBatch(batch))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.o.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for key, value := range t.o.headers {
		r.Header.Set(key, value)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := t.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	// Reading the body to its end lets the client use the connection again.
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)); err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %s", res.Status)
	}
	return nil
}

// object is a JSON object of OTLP.
type object = map[string]any

// encodeBatch returns spans in OTLP's JSON: identifiers in hexadecimal, 64-bit integers as text.
func (t *Tracer) encodeBatch(batch []*span) object {
	var resource []attribute
	for _, key := range slices.Sorted(maps.Keys(t.o.resource)) {
		resource = append(resource, attribute{key, t.o.resource[key]})
	}
	spans := make([]object, len(batch))
	for i, s := range batch {
		spans[i] = s.encodeSpan()
	}
	return object{"resourceSpans": []object{{
		"resource":   object{"attributes": encodeAttributes(resource)},
		"scopeSpans": []object{{"scope": object{"name": "tooldex"}, "spans": spans}},
	}}}
}

// encodeSpan returns one span in OTLP's JSON.
func (s *span) encodeSpan() object {
	o := object{
		"traceId": hex.EncodeToString(s.trace[:]), "spanId": hex.EncodeToString(s.id[:]), "name": s.name,
		"kind":              s.kind,
		"startTimeUnixNano": strconv.FormatInt(s.begin.UnixNano(), 10),
		"endTimeUnixNano":   strconv.FormatInt(s.end.UnixNano(), 10),
		"attributes":        encodeAttributes(s.attributes), "flags": 1,
	}
	if s.parent != [8]byte{} {
		o["parentSpanId"] = hex.EncodeToString(s.parent[:])
	}
	if s.failed != "" {
		o["status"] = object{"code": 2, "message": s.failed}
	}
	return o
}

// encodeAttributes returns attributes in OTLP's JSON.
func encodeAttributes(list []attribute) []object {
	out := make([]object, len(list))
	for i, a := range list {
		value := object{}
		switch v := a.value.(type) {
		case bool:
			value["boolValue"] = v
		case int:
			value["intValue"] = strconv.Itoa(v)
		default:
			value["stringValue"] = fmt.Sprint(v)
		}
		out[i] = object{"key": a.key, "value": value}
	}
	return out
}
