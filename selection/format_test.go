package selection

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tooldex/tool"
)

// TestSchemas writes schemas that providers do not take as they are.
func TestSchemas(t *testing.T) {
	for name, c := range map[string]struct{ schema, anthropic, openai, gemini string }{
		"nothing":         {``, `{"type":"object","properties":{}}`, `{"type":"object","properties":{}}`, ``},
		"no schema":       {`[1]`, `{"type":"object","properties":{}}`, `{"type":"object","properties":{}}`, ``},
		"order and texts": {`{"properties":{"z":{"type":"string","description":"<&>"},"a":{"type":"number","default":1.50}},"type":"object"}`, `{"properties":{"z":{"type":"string","description":"<&>"},"a":{"type":"number","default":1.50}},"type":"object"}`, `{"properties":{"z":{"type":"string","description":"<&>"},"a":{"type":"number","default":1.50}},"type":"object"}`, `{"type":"OBJECT","properties":{"z":{"type":"STRING","description":"<&>"},"a":{"type":"NUMBER","default":1.50}}}`},
		"draft and closed": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"object","additionalProperties":false}},"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}},"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}},"additionalProperties":false}`,
			`{"type":"OBJECT","properties":{"a":{"type":"OBJECT"}}}`,
		},
		"alternatives at the root": {
			`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a","b"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["b"]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["b"]}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"INTEGER"}},"required":["b"]}`,
		},
		"references": {
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/properties/a","description":"x"},"c":{"$ref":"http://x/y"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n","description":"x"},"c":{}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n","description":"x"},"c":{}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"OBJECT","properties":{"next":{"type":"OBJECT"}}},"b":{"type":"OBJECT","description":"x","properties":{"next":{"type":"OBJECT"}}},"c":{"type":"OBJECT"}}}`,
		},
		"older spellings": {
			`{"type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true},"b":{"type":"any","required":true},"c":{"type":"array","items":[{"type":"string"},{"type":"string"}]},"d":{"type":"array"}}}`,
			`{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":1},"b":{},"c":{"type":"array","items":{"type":"string"}},"d":{"type":"array"}}}`,
			`{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":1},"b":{},"c":{"type":"array","items":{"type":"string"}},"d":{"type":"array","items":{}}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"NUMBER","minimum":1},"b":{"type":"STRING"},"c":{"type":"ARRAY","items":{"type":"STRING"}},"d":{"type":"ARRAY","items":{"type":"STRING"}}}}`,
		},
		"several types": {
			`{"type":"object","properties":{"a":{"type":["string","null"],"description":"x"},"b":{"type":["string","integer"],"description":"y"}}}`, "", "",
			`{"type":"OBJECT","properties":{"a":{"type":"STRING","description":"x","nullable":true},"b":{"anyOf":[{"type":"STRING","description":"y"},{"type":"INTEGER","description":"y"}]}}}`,
		},
		"values": {
			`{"type":"object","properties":{"a":{"enum":["x","","y",null]},"b":{"type":"integer","enum":[1,2],"description":"How many."},"c":{"const":true},"d":{"anyOf":[{"const":"p"},{"const":"q"}]},"e":{"type":"string","format":"uri"}}}`, "", "",
			`{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true,"format":"enum","enum":["x","y"]},"b":{"type":"INTEGER","description":"How many. One of: 1,2."},"c":{"type":"BOOLEAN","description":"One of: true."},"d":{"type":"STRING","format":"enum","enum":["p","q"]},"e":{"type":"STRING"}}}`,
		},
		"limits and patterns": {
			`{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":3,"exclusiveMaximum":9},"b":{"type":"string","pattern":"^(?=x)"},"c":{"type":"string","pattern":"^x$"}}}`, "", "",
			`{"type":"OBJECT","properties":{"a":{"type":"INTEGER","minimum":4,"maximum":8},"b":{"type":"STRING"},"c":{"type":"STRING","pattern":"^x$"}}}`,
		},
		"all of several": {
			`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/x"},{"properties":{"q":{"type":"string"}},"required":["q"]}]}},"$defs":{"x":{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]}}}`, "", "",
			`{"type":"OBJECT","properties":{"a":{"type":"OBJECT","properties":{"q":{"type":"STRING"},"p":{"type":"STRING"}},"required":["p","q"]}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for f, want := range map[Format]string{
				FormatAnthropic: c.anthropic, FormatOpenAI: c.openai,
				FormatGemini: c.gemini,
			} {
				w, err := writeTool(&tool.Tool{Server: "s", Name: "n", InputSchema: json.RawMessage(c.schema)}, "n", f)
				if err != nil {
					t.Error(err)
				}
				_, got, _ := strings.Cut(string(w.JSON), map[Format]string{
					FormatAnthropic: `"input_schema":`,
					FormatOpenAI:    `"parameters":`, FormatGemini: `"parameters":`,
				}[f])
				got = strings.TrimSuffix(got, map[bool]string{true: "}}", false: "}"}[f == FormatOpenAI])
				if got != want && (want != "" || f == FormatGemini) {
					t.Errorf("%s\n got  %s\n want %s", f, got, want)
				}
			}
		})
	}
}

// TestManyReferences writes a schema of few lines that would be endless with all its references replaced.
func TestManyReferences(t *testing.T) {
	var defs []string
	for i := range 12 {
		var inner []string
		for k := range 8 {
			inner = append(inner, fmt.Sprintf(`"p%d":{"$ref":"#/%s/d%d"}`, k, []string{"$defs", "other"}[i%2], i+1))
		}
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"object","properties":{%s}}`, i, strings.Join(inner, ",")))
	}
	all := strings.Join(defs, ",")
	schema := `{"type":"object","properties":{"a":{"$ref":"#/other/d0"}},"$defs":{` + all + `},"other":{` + all + `}}`
	for _, f := range allFormats() {
		w, err := writeTool(&tool.Tool{Server: "s", Name: "n", InputSchema: json.RawMessage(schema)}, "n", f)
		if err != nil || len(w.JSON) > 1<<20 {
			t.Errorf("%s: %d bytes, %v", f, len(w.JSON), err)
		}
	}
	deep := strings.Repeat(`{"items":`, 200_000) + "1" + strings.Repeat("}", 200_000)
	if w, err := writeTool(&tool.Tool{Server: "s", Name: "n", InputSchema: json.RawMessage(deep)}, "n",
		FormatGemini); err != nil || len(w.JSON) > 100 {
		t.Errorf("%d bytes, %v", len(w.JSON), err)
	}
}

func TestNames(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"$top":{"type":"integer"},"_top":{"type":"string"},"größe":{},"` + strings.Repeat("x", 70) + `":{}},"required":["$top"]}`)
	w, err := writeTool(&tool.Tool{Server: "s", Name: "n", InputSchema: schema}, "3d-view", FormatAnthropic)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"3d-view","description":"n","input_schema":{"type":"object","properties":{"_top_2":{"type":"integer"},"_top":{"type":"string"},"gr__e":{},"` +
		strings.Repeat("x", 64) + `":{}},"required":["_top_2"]}}`
	if string(w.JSON) != want || w.Renamed["_top_2"] != "$top" || len(w.Renamed) != 3 {
		t.Errorf("%s\n%s\n%v", w.JSON, want, w.Renamed)
	}
	if w, err := writeTool(&tool.Tool{Server: "s", Name: "n"}, "3d-view", FormatGemini); err != nil ||
		w.Name != "_3d-view" || string(w.JSON) != `{"name":"_3d-view","description":"n"}` {
		t.Errorf("%s %s %v", w.Name, w.JSON, err)
	}
	long := &tool.Tool{Server: "s", Name: "n", Description: strings.Repeat("many words ", 200)}
	w, err = writeTool(long, "n", FormatResponses)
	if err != nil || len(w.JSON) > 1200 || !strings.HasSuffix(string(w.JSON), `"strict":false}`) {
		t.Errorf("%d bytes, %v: %s", len(w.JSON), err, w.JSON)
	}
}

// TestRules holds that each rule is one: something breaks it.
func TestRules(t *testing.T) {
	for raw, f := range map[string]Format{
		`[]`: FormatMCP,
		`{"name":"a b","inputSchema":{"type":"object"}}`:                                                                 FormatMCP,
		`{"name":"a","inputSchema":{"type":"string"}}`:                                                                   FormatMCP,
		`{"name":"a","input_schema":{"type":"object","oneOf":[]}}`:                                                       FormatAnthropic,
		`{"name":"a","input_schema":{"type":"object","properties":{"$x":{}}}}`:                                           FormatAnthropic,
		`{"name":"a","input_schema":{"type":"object","properties":{"x":{"type":"any"}}}}`:                                FormatAnthropic,
		`{"name":"a","input_schema":{"type":"object","properties":{"x":{"items":[]}}}}`:                                  FormatAnthropic,
		`{"name":"a","input_schema":{"type":"object","properties":{"x":{"$ref":"#/$defs/y"}}}}`:                          FormatAnthropic,
		`{"name":"a","input_schema":{"type":"object","properties":{"x":{"exclusiveMinimum":true}}}}`:                     FormatAnthropic,
		`{"name":"a","parameters":{"type":"object"}}`:                                                                    FormatOpenAI,
		`{"type":"function","function":{"name":"a","parameters":{"type":"object","enum":[1]}}}`:                          FormatOpenAI,
		`{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{"x":{"type":"array"}}}}}`: FormatOpenAI,
		`{"type":"function","function":{"name":"a","description":"` + strings.Repeat("x", 1025) +
			`","parameters":{}}}`: FormatOpenAI,
		`{"type":"function","name":"a","parameters":{"type":"object"}}`:                                                       FormatResponses,
		`{"name":"3","description":"x"}`:                                                                                      FormatGemini,
		`{"name":"a","description":""}`:                                                                                       FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT"}}`:                                                       FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT","properties":{"x":{"type":"string"}}}}`:                  FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT","properties":{"x":true}}}`:                               FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT","properties":{"x":{"type":"ARRAY"}}}}`:                   FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT","properties":{"x":{"type":"STRING","format":"uri"}}}}`:   FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT","properties":{"x":{"type":"STRING","enum":[""]}}}}`:      FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT","properties":{"x":{"type":"STRING","$ref":"#"}}}}`:       FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT","properties":{"x":{"type":"STRING"}},"required":["y"]}}`: FormatGemini,
		`{"name":"a","description":"x","parameters":{"type":"OBJECT","properties":{"x":{"anyOf":[{"type":"STRING"}]}}}}`:      FormatGemini,
	} {
		if err := verifyTool(f, json.RawMessage(raw)); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: %s passes: %v", f, raw, err)
		}
	}
}

// FuzzWrite writes tools with any schema: none breaks a rule, but where a name does, and nothing panics.
func FuzzWrite(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"allOf":[{"$ref":"#/allOf/0"}]}`,
		`{"properties":{"a":{"anyOf":[{"anyOf":[{"type":["null","array"]}]}]}}}`,
		`{"properties":{"":{"items":[{}],"const":[1],"enum":[{}]}},"required":["","",3]}`,
		`{"$defs":{"a/b":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/a~1b"}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		one := &tool.Tool{Server: "s", Name: "n", InputSchema: json.RawMessage(schema)}
		for _, format := range allFormats() {
			w, err := writeTool(one, "n", format)
			if err != nil || !json.Valid(w.JSON) {
				t.Fatalf("%s: %v: %s", format, err, w.JSON)
			}
			again, err := writeTool(one, "n", format)
			if err != nil || string(again.JSON) != string(w.JSON) {
				t.Fatalf("%s: written twice it differs", format)
			}
		}
	})
}
