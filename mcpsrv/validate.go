package mcpsrv

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"tooldex/tool"
)

// maxCheckers bounds how many compiled schemas are kept. Above it all are dropped: they are cheap to make again.
const maxCheckers = 4096

// checkers compiles schemas on first use and keeps them. The zero value of all but the first two is ready, and it is
// safe for concurrent use.
type checkers struct {
	log      *slog.Logger
	unusable string // what is logged of a schema that cannot be used

	mu   sync.Mutex
	made map[string]*checker // by schema
}

// checker checks values against one schema. Its resolved schema is nil if the schema cannot be used.
type checker struct {
	once     sync.Once
	resolved *jsonschema.Resolved
	graph    *graph
	slow     atomic.Bool
	told     atomic.Bool // the log has of a value that does not fit
}

// of returns the checker of a schema. The first time, it logs why if the schema cannot be used.
func (c *checkers) of(name string, schema json.RawMessage) *checker {
	c.mu.Lock()
	k, ok := c.made[string(schema)]
	if !ok {
		if c.made == nil || len(c.made) >= maxCheckers {
			c.made = make(map[string]*checker)
		}
		k = &checker{}
		c.made[string(schema)] = k
	}
	c.mu.Unlock()
	k.once.Do(func() {
		if err := k.compile(schema); err != nil {
			c.log.Warn(c.unusable, "tool", name, "err", err)
			k.resolved = nil
		}
	})
	return k
}

// compile prepares a schema. What it refuses would panic, never end, or fit nothing.
func (k *checker) compile(schema json.RawMessage) (err error) {
	defer func() { // the library is given whatever a server sends
		if r := recover(); r != nil {
			err = fmt.Errorf("compile: %v", r)
		}
	}()
	clean, g, err := prepare(schema)
	if err != nil {
		return err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(clean, &s); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	k.graph = g
	k.resolved, err = s.Resolve(nil)
	return err
}

// Checking that may take long is given a time, and a schema for which it was not enough is not tried again.
const (
	quickWork = 20_000
	checkTime = 2 * time.Second
)

// check returns nil if args fit or cannot be checked.
func (k *checker) check(args json.RawMessage) error {
	if k.resolved == nil || k.slow.Load() {
		return nil
	}
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return fmt.Errorf("is not JSON: %w", err)
	}
	switch work := k.graph.cost(v); {
	case work > maxWork:
		return nil
	case work <= quickWork:
		return k.validate(v)
	}
	result := make(chan error, 1)
	go func() { result <- k.validate(v) }() // ends, since the work is bounded
	timer := time.NewTimer(checkTime)
	defer timer.Stop()
	select {
	case err := <-result:
		return err
	case <-timer.C:
		k.slow.Store(true)
		return nil
	}
}

// checkQuick returns nil if a value fits, cannot be checked, or would take long to check.
func (k *checker) checkQuick(value json.RawMessage) error {
	var v any
	if k.resolved == nil || json.Unmarshal(value, &v) != nil || k.graph.cost(v) > quickWork {
		return nil
	}
	return k.validate(v)
}

func (k *checker) validate(v any) (err error) {
	defer func() { // what the library cannot do is not held against the client
		if recover() != nil {
			err = nil
		}
	}()
	return k.resolved.Validate(v)
}

// fit returns arguments that fit the schema: args itself where it does, unchanged, or what the model probably meant.
// Otherwise it returns an Invalid error that names the field and the reason and carries the schema. Name is for that.
func (c *checkers) fit(name string, schema, args json.RawMessage) (json.RawMessage, error) {
	k := c.of(name, schema)
	err := k.check(args)
	if err == nil {
		return args, nil
	}
	for _, candidate := range candidates(schema, args) {
		if k.check(candidate) == nil {
			return candidate, nil
		}
	}
	field, reason := mismatch(err)
	if lost := lacking(schema, args); len(lost) > 0 && !strings.HasSuffix(reason, isMissing) {
		reason += "; " + strings.Join(lost, ", ") + isMissing
	}
	msg := "arguments of " + name + " do not fit: "
	if field != "" {
		msg += field + ": "
	}
	return nil, &tool.Error{
		Code: tool.Invalid, Op: "call", Msg: msg + reason,
		Hint: schemaLabel + schemaHint(schema, field), Err: err,
	}
}

// lacking lists the required parameters that args does not have. The library stops at the first fault, and a misspelled
// parameter is best understood beside the one that is missing.
func lacking(schema, args json.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	o, err := parseObject(args)
	if err != nil || json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return slices.DeleteFunc(s.Required, func(name string) bool { _, ok := o.get(name); return ok })
}

// schemaLabel begins the schema that an error carries.
const schemaLabel = "input schema: "

// maxSchemaHint bounds, in bytes, the schema that an error carries; of a larger one it carries the field's part.
const maxSchemaHint = 6000

func schemaHint(schema json.RawMessage, field string) string {
	text := compact(schema)
	if len(text) <= maxSchemaHint {
		return text
	}
	top, _, _ := strings.Cut(field, ".")
	top, _, _ = strings.Cut(top, "[")
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   json.RawMessage            `json:"required,omitempty"`
	}
	if json.Unmarshal(schema, &s) == nil {
		part := struct {
			Properties map[string]json.RawMessage `json:"properties,omitempty"`
			Required   json.RawMessage            `json:"required,omitempty"`
		}{Required: s.Required}
		if p, ok := s.Properties[top]; ok {
			part.Properties = map[string]json.RawMessage{top: p}
		}
		text = string(encode(part))
	}
	return tool.Clip(text, maxSchemaHint) + " (a part; " + describeName + " has all)"
}

var (
	validating = regexp.MustCompile(`^validating (.+?): `)
	missing    = regexp.MustCompile(`^required: missing properties: \[(.*)\]$`)
	unexpected = regexp.MustCompile(`^unexpected additional properties \[(.*)\]$`)
)

const isMissing = " missing, but required"

// maxReason bounds the library's words, which repeat the value and may hold whole schemas.
const maxReason = 300

// mismatch turns the library's error, a chain of places in the schema and a reason, into the field of the arguments
// that is wrong and why.
func mismatch(err error) (field, reason string) {
	text := err.Error()
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	before := ""
	for {
		m := validating.FindStringSubmatch(text)
		if m == nil {
			break
		}
		text = text[len(m[0]):]
		place := strings.TrimPrefix(m[1], "root")
		if strings.HasPrefix(place, before) {
			field = extendField(field, place[len(before):])
		}
		before = place
	}
	text, _, _ = strings.Cut(text, "\n")
	switch {
	case strings.HasPrefix(text, "anyOf:"), strings.HasPrefix(text, "oneOf: did not"):
		text = "fits none of the alternatives"
	case missing.MatchString(text):
		text = quoted(missing.FindStringSubmatch(text)[1]) + isMissing
	case unexpected.MatchString(text):
		text = quoted(unexpected.FindStringSubmatch(text)[1]) + " not known"
	}
	return field, tool.Clip(strings.TrimPrefix(text, "type: "), maxReason)
}

// extendField follows a path in a schema, as far as it leads into the value: /properties/a/items gives a[].
func extendField(field, path string) string {
	steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := 0; i < len(steps); i++ {
		switch steps[i] {
		case "properties", "patternProperties":
			if i+1 < len(steps) {
				i++
				name := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])
				if field != "" {
					name = "." + name
				}
				field += name
			}
		case "items", "contains", "additionalItems":
			field += "[]"
		case "prefixItems":
			field += "[]"
			i++
		case "additionalProperties":
			field += ".*"
		case "allOf", "anyOf", "oneOf", "$defs", "definitions":
			i++
		}
	}
	return field
}

// quoted turns the library's "a" "b" into a, b.
func quoted(list string) string {
	return strings.ReplaceAll(strings.ReplaceAll(list, `" "`, ", "), `"`, "")
}
