package mcpsrv

import (
	"encoding/json"
	"strings"
	"testing"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// fit returns what a call of a tool with this schema is made with, or the error that its client gets.
func (f *fixture) fit(schema, args string) (json.RawMessage, error) {
	return f.checkMeta(metaTool{wireTool: wireTool{Name: "s__t", InputSchema: json.RawMessage(schema)}},
		json.RawMessage(args))
}

func TestFit(t *testing.T) {
	for name, c := range map[string]struct {
		schema, args string
		want         string // arguments forwarded, or "! " and what the error names
	}{
		"draft-07":          {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string"}}}`, `{"a":{}}`, `! a: map[] has type "object", want "string"`},
		"draft-07 unhashed": {`{"$schema":"http://json-schema.org/draft-07/schema","type":"object","required":["a"]}`, `{}`, "! a missing"},
		"draft 2019-09":     {`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","required":["a"]}`, `{}`, "! a missing"},
		"relative $id":      {`{"$id":"tool.json","type":"object","required":["a"]}`, `{}`, "! a missing"},
		"definitions":       {`{"type":"object","properties":{"a":{"$ref":"#/definitions/s"}},"definitions":{"s":{"type":"string"}}}`, `{"a":1}`, `! a: 1 has type "integer"`},
		"escaped pointer":   {`{"type":"object","properties":{"a":{"$ref":"#/$defs/x~1y%20z"}},"$defs":{"x/y z":{"type":"string"}}}`, `{"a":1}`, `! a: 1 has type`},
		"list of types": {
			`{"type":["object","null"],"properties":{"a":{"type":["string","null"]}}}`,
			`{"a":null}`, `{"a":null}`,
		},
		"no type":        {`{"properties":{"a":{"type":"string"}}}`, `{"a":[1]}`, "! a:"},
		"false property": {`{"type":"object","properties":{"a":false}}`, `{"a":1}`, "! a:"},
		"tree":           {`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}},"n":{"type":"integer"}}}`, `{"kids":[{"kids":[{"n":{}}]}]}`, `! kids[].kids[].n: map[] has type "object", want "integer"`},
		"one of": {
			`{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`,
			"! fits none of the alternatives",
		},
		"lookahead": {`{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)"},"b":{"type":"integer"}}}`, `{"a":"x","b":{}}`, "! b:"},
		"named pattern": {
			`{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}`,
			`{"pattern":"(?!"}`, `{"pattern":"(?!"}`,
		},
		"lookahead in names": {
			`{"type":"object","patternProperties":{"^(?!x)":{}},"additionalProperties":false}`,
			`{"a":1}`, `{"a":1}`,
		},
		"big integer": {
			`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":9007199254740993}`,
			`{"n":9007199254740993}`,
		},
		"big integer repaired": {
			`{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}`,
			`{"n":"9007199254740993","s":9007199254740995}`, `{"n":9007199254740993,"s":"9007199254740995"}`,
		},
		"one for a list": {
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
			`{"a":"x"}`, `{"a":["x"]}`,
		},
		"list in a string": {
			`{"type":"object","properties":{"a":{"type":"array"}}}`, `{"a":" [1,2] "}`,
			`{"a":[1,2]}`,
		},
		"object in a string": {
			`{"type":"object","properties":{"a":{"type":"object"}}}`, `{"a":"{\"b\":1.50}"}`,
			`{"a":{"b":1.50}}`,
		},
		"words for a number": {
			`{"type":"object","properties":{"a":{"type":"number"}}}`, `{"a":"three"}`,
			"! a: three has type",
		},
		"text stays text": {
			`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":"{\"b\":1}"}`,
			`{"a":"{\"b\":1}"}`,
		},
		"own arguments":   {`{"type":"object","properties":{"arguments":{"type":"object"}},"required":["arguments"]}`, `{"arguments":{"a":1}}`, `{"arguments":{"a":1}}`},
		"spaces stay":     {`{"type":"object"}`, "{ \"b\" : 1,\n\"a\" : 2 }", "{ \"b\" : 1,\n\"a\" : 2 }"},
		"unknown keyword": {`{"type":"object","x-mcp-header":"q","properties":{"a":{"type":"string","format":"nonsense"}}}`, `{"a":"b"}`, `{"a":"b"}`},
		"multiple of nothing": {
			`{"type":"object","properties":{"a":{"multipleOf":0}}}`, `{"a":3}`,
			"! a: multipleOf",
		},
		"dependent schemas": {
			`{"type":"object","dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`,
			"! b missing",
		},
		"null property": {
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			`{"a":null}`, "! a:",
		},
		"dependencies of names": {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","dependencies":{"a":["b"]}}`, `{"a":1}`, "! "},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil, Options{})
			got, err := f.fit(c.schema, c.args)
			if strings.Contains(f.log.String(), "cannot be checked") {
				t.Errorf("schema is not used: %s", f.log.String())
			}
			want, refused := strings.CutPrefix(c.want, "! ")
			if !refused {
				if err != nil || string(got) != want {
					t.Errorf("got %s, %v, want %s", got, err, want)
				}
				return
			}
			if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(),
				"arguments of s__t do not fit: "+want) {
				t.Errorf("got %s, %v, want an error with %q", got, err, want)
			}
		})
	}
}

func TestErrorOfALargeSchemaCarriesThePart(t *testing.T) {
	f := newFixture(t, nil, Options{})
	schema := `{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}},"x":{"description":"` + strings.Repeat("long ", 4000) + `"}},"required":["list"]}`
	_, err := f.fit(schema, `{"list":[{"n":"x"}]}`)
	if err == nil {
		t.Fatal("not refused")
	}
	got := errorText(err, "")
	if len(got) > maxSchemaHint || !strings.Contains(got, `list[].n: x has type`) ||
		!strings.Contains(got, `{"properties":{"list":{"type":"array"`) || !strings.Contains(got, describeName) {
		t.Errorf("got %.500s", got)
	}
}

func TestRealSchemasCanBeChecked(t *testing.T) {
	f := newFixture(t, nil, Options{})
	tools := realCatalogue(t)
	for _, one := range tools {
		if !f.o.Schemas.Of(string(one.ID()), one.InputSchema).Usable() {
			t.Logf("%s is not checked", one.ID())
		}
	}
	if n := strings.Count(f.log.String(), "cannot be checked"); n > len(tools)/100 {
		t.Errorf("%d of %d real schemas cannot be checked:\n%s", n, len(tools), f.log.String())
	}
}

func FuzzFit(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":"1"}}`)
	f.Add(`{"type":"object","properties":{"a":{"type":["array","null"]}},"required":["a"]}`,
		`{"arguments":"{\"a\":1}"}`)
	f.Add(`{"type":"object","patternProperties":{"(?!":{}},"dependencies":{"a":["b"],"c":{}}}`, `{"a":null}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		fix := newFixture(t, nil, Options{})
		got, err := fix.fit(schema, args)
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("error %v", err)
			}
			return
		}
		if string(got) != args && !json.Valid(got) {
			t.Errorf("repaired to %q, which is not JSON", got)
		}
	})
}

func FuzzInvocation(f *testing.F) {
	f.Add(`{"name":"x","arguments":{}}`)
	f.Add(`{"arguments":{"tool":"invoke_tool","args":"{\"name\":\"y\"}"}}`)
	f.Add(`"{\"name\":\"invoke_tool\",\"input\":{}}"`)
	f.Fuzz(func(t *testing.T, raw string) {
		fix := newFixture(t, nil, Options{})
		m, _ := fix.metaTool(invokeName)
		name, args, err := fix.unwrapInvocation(m, json.RawMessage(raw))
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("error %v", err)
			}
			return
		}
		if inner, ok := fix.metaTool(name); ok && inner.Name == invokeName {
			t.Error("it would call itself")
		}
		if orderedjson.Kind(args) != "object" || json.Valid([]byte(raw)) && !json.Valid(args) {
			t.Errorf("arguments are %q", args)
		}
	})
}
