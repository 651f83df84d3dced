package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"tooldex/tool"
)

// logged returns empty Schemas and what they log.
func logged() (*Schemas, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return NewSchemas(slog.New(slog.NewTextHandler(log, nil))), log
}

// nest wraps a schema n times in itself, so that checking one value multiplies.
func nest(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
	}
	return `{"type":"object","allOf":[{"$ref":"#/$defs/d0"}],"$defs":{` + strings.Join(defs, ",") +
		fmt.Sprintf(`,"d%d":{}}}`, n)
}

// TestUncheckable holds that a schema which would overflow the stack, run for ever or fit nothing lets calls through as
// they are, and is logged once.
func TestUncheckable(t *testing.T) {
	deep := `{"type":"object","not":` + strings.Repeat(`{"items":`, 3000) + `{}` + strings.Repeat(`}`, 3001)
	for name, schema := range map[string]string{
		"refers to itself":       `{"$ref":"#"}`,
		"circle of two":          `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		"circle inside":          `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/properties/a"},{"type":"string"}]}}}`,
		"circle through not":     `{"type":"object","properties":{"a":{"not":{"$ref":"#/properties/a"}}}}`,
		"doubling":               nest(40),
		"dynamic":                `{"type":"object","$dynamicRef":"#x"}`,
		"nested $id":             `{"type":"object","properties":{"a":{"$id":"http://x/","$ref":"#/b"}}}`,
		"refers elsewhere":       `{"type":"object","properties":{"a":{"$ref":"http://example.com/s.json"}}}`,
		"refers to nothing":      `{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`,
		"a string":               `{"type":"string"}`,
		"false":                  `false`,
		"null":                   `null`,
		"a list":                 `[]`,
		"nothing":                ``,
		"cut off":                `{"type":`,
		"draft-04":               `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`,
		"required of a property": `{"type":"object","properties":{"a":{"type":"string","required":true}}}`,
		"type of a number":       `{"type":"object","properties":{"a":{"type":7}}}`,
		"properties of a list":   `{"type":"object","properties":["a"]}`,
		"larger than any":        `{"type":"object","description":"` + strings.Repeat("x", maxSchema) + `"}`,
		"many parts":             `{"type":"object","allOf":[` + strings.TrimSuffix(strings.Repeat("{},", maxNodes), ",") + `]}`,
		"deeper than any":        deep,
	} {
		t.Run(name, func(t *testing.T) {
			schemas, log := logged()
			for range 3 {
				if err := schemas.Of("s/t", json.RawMessage(schema)).Check(json.RawMessage(`{"a":{"items":[1]}}`)); err != nil {
					t.Fatal(err)
				}
			}
			if n := strings.Count(log.String(), "cannot be checked"); n != 1 {
				t.Errorf("logged %d times, want once:\n%s", n, log.String())
			}
		})
	}
}

// TestCheckingIsBounded gives a schema of a tree with two ways into each branch, and arguments deep enough to take an
// age: they are let through.
func TestCheckingIsBounded(t *testing.T) {
	schema := new(Schemas).Of("s/t", json.RawMessage(`{"type":"object","properties":{`+
		`"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]},"n":{"type":"integer"}}}`))
	check := func(args string) error { return schema.CheckArguments("s__t", json.RawMessage(args)) }
	if err := check(strings.Repeat(`{"a":`, 60) + `{"n":"x"}` + strings.Repeat(`}`, 60)); err != nil {
		t.Error(err)
	}
	if err := check(`{"a":{"a":{"n":{}}}}`); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("shallow arguments that do not fit give %v", err)
	}
	if err := check(strings.Repeat(`{"b":`, 900) + `1` + strings.Repeat(`}`, 900)); err != nil {
		t.Errorf("very deep arguments give %v", err)
	}
}

// TestDeepSchemasInBounds holds that a schema which refers to itself often, but not too often, is used.
func TestDeepSchemasInBounds(t *testing.T) {
	schema := new(Schemas).Of("s/t", json.RawMessage(nest(8)))
	if err := schema.Check(json.RawMessage(`{}`)); err != nil || !schema.Usable() {
		t.Errorf("usable %v: %v", schema.Usable(), err)
	}
	if err := schema.Check(json.RawMessage(`[]`)); err == nil {
		t.Error("a list fits a schema of an object")
	}
}

// TestSchemasAreBounded compiles more schemas than are kept.
func TestSchemasAreBounded(t *testing.T) {
	var schemas Schemas
	for i := range maxSchemas + 10 {
		schemas.Of("s/t", json.RawMessage(fmt.Sprintf(`{"type":"object","minProperties":%d}`, i)))
	}
	if n := len(schemas.kept); n > maxSchemas {
		t.Errorf("%d schemas are kept", n)
	}
}

func TestMismatchIsShort(t *testing.T) {
	err := new(Schemas).Of("s/t", json.RawMessage(`{"type":"object","properties":{"a":{"enum":["x"]}}}`)).
		CheckArguments("s__t", json.RawMessage(`{"a":"`+strings.Repeat("y", 1<<20)+`"}`))
	var e *tool.Error
	if !errors.As(err, &e) || len(e.Msg) > 1000 {
		t.Errorf("a message of %d bytes", len(e.Msg))
	}
}

// FuzzCheck holds that no schema and no value brings the process down, and that what is refused has a short reason.
func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":"1"}}`)
	f.Add(nest(5), `{"x":[{}]}`)
	f.Add(`{"type":"object","patternProperties":{"(?!":{}},"dependencies":{"a":["b"],"c":{}}}`, `{"a":null}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		m := new(Schemas).Of("s/t", json.RawMessage(schema)).Check(json.RawMessage(value))
		if m != nil && (m.Reason == "" || len(m.Reason) > maxReason+len("…")) {
			t.Errorf("a reason of %d bytes", len(m.Reason))
		}
	})
}
