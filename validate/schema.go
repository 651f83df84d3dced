package validate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxSchemas bounds how many compiled schemas are kept. Above it all are dropped: they are cheap to compile again.
const maxSchemas = 4096

// Schemas compiles schemas on first use and keeps them by their content, so that tools with the same schema share one.
// It is safe for concurrent use. The zero Schemas is ready, and logs nothing.
type Schemas struct {
	log  *slog.Logger // nil means no log
	mu   sync.Mutex
	kept map[string]*Schema // by content
}

// NewSchemas returns Schemas that log, once for each, those that cannot be used. A nil logger means no log.
func NewSchemas(log *slog.Logger) *Schemas { return &Schemas{log: log} }

// Schema checks values against one JSON schema. It is safe for concurrent use.
type Schema struct {
	// source is the schema as the server wrote it.
	source json.RawMessage
	once   sync.Once
	// resolved is the compiled schema; nil if it cannot be used.
	resolved *jsonschema.Resolved
	graph    *graph
	// slow is set once a check took too long; no other is begun then.
	slow     atomic.Bool
	reported atomic.Bool
	// accepted is the hash of the last value that fitted: a call is checked where misspelt arguments are corrected and
	// again before it is made, and the second check is then cheap.
	accepted atomic.Pointer[[sha256.Size]byte]
}

// Of returns the compiled schema. It never returns nil: check Usable. If the schema cannot be used, the first call logs
// why, under the given name. Calls for one schema wait for its compilation, others do not.
func (c *Schemas) Of(name string, schema json.RawMessage) *Schema {
	c.mu.Lock()
	s, ok := c.kept[string(schema)]
	if !ok {
		if c.kept == nil || len(c.kept) >= maxSchemas {
			c.kept = make(map[string]*Schema)
		}
		s = &Schema{source: schema}
		c.kept[string(schema)] = s
	}
	c.mu.Unlock()
	s.once.Do(func() {
		if err := s.compileSchema(); err != nil {
			s.resolved = nil
			if c.log != nil {
				c.log.Warn("a schema cannot be checked, values are passed on as they are", "tool", name, "err", err)
			}
		}
	})
	return s
}

// Usable reports whether values can be checked against the schema.
func (s *Schema) Usable() bool { return s.resolved != nil }

// MarkReported returns true the first time it is called, for a caller that logs one mismatch of each schema.
func (s *Schema) MarkReported() bool { return s.reported.CompareAndSwap(false, true) }

// Reported reports whether MarkReported was called.
func (s *Schema) Reported() bool { return s.reported.Load() }

// compileSchema prepares the schema. It refuses schemas with which the library would panic or never end.
func (s *Schema) compileSchema() (err error) {
	defer func() { // the library is given whatever a server sends
		if r := recover(); r != nil {
			err = fmt.Errorf("compile: %v", r)
		}
	}()
	clean, g, err := prepareSchema(s.source)
	if err != nil {
		return err
	}
	var parsed jsonschema.Schema
	if err := json.Unmarshal(clean, &parsed); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	s.graph = g
	s.resolved, err = parsed.Resolve(nil)
	return err
}

// A check of at most quickWork runs at once. A larger one gets checkTime, and a schema for which that was not enough is
// not tried again.
const (
	quickWork = 20_000 // parts of a schema looking at values, which takes about a millisecond
	checkTime = 2 * time.Second
)

// CheckArguments returns nil if args, an object, fit or cannot be checked. The error is of code Invalid, calls the tool
// by the given name, and has a *Mismatch as its cause.
func (s *Schema) CheckArguments(name string, args json.RawMessage) error {
	m := s.Check(args)
	if m == nil {
		return nil
	}
	m.addMissing(args)
	return m.asError(name)
}

// Check returns nil if a value fits or cannot be checked. It may take up to two seconds for a large value.
func (s *Schema) Check(value json.RawMessage) *Mismatch {
	if s.resolved == nil || s.slow.Load() {
		return nil
	}
	sum := sha256.Sum256(value)
	if last := s.accepted.Load(); last != nil && *last == sum {
		return nil
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return newMismatch(s.source, fmt.Errorf("is not JSON: %w", err))
	}
	switch work := s.graph.workFor(v); {
	case work > maxWork:
		return nil
	case work <= quickWork:
		m := s.runLibrary(v)
		if m == nil {
			s.accepted.Store(&sum)
		}
		return m
	}
	// Room for one, so that a check which is given up can still end.
	result := make(chan *Mismatch, 1)
	go func() { result <- s.runLibrary(v) }() // ends, since the work is bounded
	timer := time.NewTimer(checkTime)
	defer timer.Stop()
	select {
	case m := <-result:
		return m
	case <-timer.C:
		s.slow.Store(true)
		return nil
	}
}

// CheckQuick returns nil if a value fits, cannot be checked, or would take long to check.
func (s *Schema) CheckQuick(value json.RawMessage) *Mismatch {
	var v any
	if s.resolved == nil || json.Unmarshal(value, &v) != nil || s.graph.workFor(v) > quickWork {
		return nil
	}
	return s.runLibrary(v)
}

// runLibrary validates a value, without a bound on time. A panic of the library counts as a fit.
func (s *Schema) runLibrary(v any) (m *Mismatch) {
	defer func() { // what the library cannot do is not held against the client
		if recover() != nil {
			m = nil
		}
	}()
	if err := s.resolved.Validate(v); err != nil {
		return newMismatch(s.source, err)
	}
	return nil
}
