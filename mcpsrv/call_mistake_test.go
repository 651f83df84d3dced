package mcpsrv

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/validate"
)

// TestTwoMistakesInARow plays calls, as name and arguments, and tells by + which answer holds an example.
func TestTwoMistakesInARow(t *testing.T) {
	const (
		wrong = `{"path":7.5,"x":1}`
		right = `{"path":"a","content":"b"}`
	)
	for name, calls := range map[string][][3]string{
		"once": {{"write_file", wrong, ""}},
		"twice": {
			{"write_file", wrong, ""},
			{"write_file", wrong, "+"},
			{"write_file", wrong, "+"},
		},
		"by two names": {{"write_file", wrong, ""}, {"files:write_file", wrong, "+"}},
		"through invoke_tool": {{"write_file", wrong, ""}, {
			invokeName,
			`{"name":"write_file","arguments":` + wrong + `}`, "+",
		}},
		"right in between":   {{"write_file", wrong, ""}, {"write_file", right, ""}, {"write_file", wrong, ""}},
		"another in between": {{"write_file", wrong, ""}, {"edit_file", wrong, ""}, {"write_file", wrong, ""}},
		"a search in between": {
			{"write_file", wrong, ""},
			{searchName, `{"query":"write"}`, ""},
			{"write_file", wrong, "+"},
		},
		"no object, then none again": {{"write_file", `[1]`, ""}, {
			invokeName, `{"name":"write_file","arguments":"b"}`,
			"+",
		}},
		"no such tool": {{"nothing", wrong, ""}, {"nothing", wrong, ""}},
		"a meta-tool":  {{searchName, `{}`, ""}, {searchName, `{}`, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			p := f.pipe(t)
			for _, line := range opening("2025-11-25") {
				if p.send(line); strings.Contains(line, `"id"`) {
					p.receive()
				}
			}
			for i, c := range calls {
				p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + c[0] + `","arguments":` +
					c[1] + `}}`)
				got := p.receive()
				if has := strings.Contains(got, "An example that fits"); has != (c[2] == "+") {
					t.Errorf("call %d: an example %v: %s", i+1, has, got)
				}
				if strings.Contains(got, "write_file do not fit") && !strings.Contains(got, schemaLabel) {
					t.Errorf("call %d: no schema: %s", i+1, got)
				}
			}
		})
	}
}

// TestWhatCannotBeRepairedComesWithTheSchema holds that one answer is enough to know the right arguments.
func TestWhatCannotBeRepairedComesWithTheSchema(t *testing.T) {
	for name, args := range map[string]string{
		"a list":            `{"name":"read_file","arguments":[1]}`,
		"a word":            `{"name":"read_file","arguments":"package.json"}`,
		"a list in a name":  `{"toolName":"read_file","args":"[1]"}`,
		"a wrong field":     `{"name":"read_file","arguments":{"file":"a"}}`,
		"in itself":         `{"name":"invoke_tool","arguments":{"name":"read_file","arguments":[1]}}`,
		"one level too low": `{"name":"read_file","arguments":{"arguments":{"file":"a"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			got, failed := ask(t, f.connect(t, "2025-11-25", nil), invokeName, args)
			if !failed || strings.Count(got, schemaLabel+`{"type":"object","properties":{"path"`) != 1 {
				t.Errorf("error %v, want the schema once: %s", failed, got)
			}
		})
	}
}

func TestExample(t *testing.T) {
	given := []tool.Example{
		{Description: "wrong", Invocation: json.RawMessage(`{"a":7}`)},
		{Description: "right", Invocation: json.RawMessage(`{ "a": "x" }`)},
	}
	for name, c := range map[string]struct {
		schema   string
		examples []tool.Example
		want     string // its arguments; "" if there is none
	}{
		"the author's that fits": {`{"type":"object","properties":{"a":{"type":"string"}}}`, given, `{"a":"x"}`},
		"what is required only":  {`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["b"]}`, nil, `{"b":1}`},
		"in the schema's order":  {`{"type":"object","properties":{"z":{"type":"boolean"},"a":{"type":"number"}},"required":["a","z"]}`, nil, `{"z":true,"a":1}`},
		"bounds":                 {`{"type":"object","properties":{"a":{"type":"integer","minimum":10},"b":{"type":"integer","maximum":-3}},"required":["a","b"]}`, nil, `{"a":10,"b":-3}`},
		"enum, const, default":   {`{"type":"object","properties":{"a":{"enum":["p","q"]},"b":{"const":5},"c":{"type":"string","default":"d"},"e":{"type":"string","examples":["f"]}},"required":["a","b","c","e"]}`, nil, `{"a":"p","b":5,"c":"d","e":"f"}`},
		"formats":                {`{"type":"object","properties":{"a":{"type":"string","format":"date"},"b":{"type":"string","format":"email"}},"required":["a","b"]}`, nil, `{"a":"2026-01-31","b":"name@example.com"}`},
		"long text":              {`{"type":"object","properties":{"a":{"type":"string","minLength":6}},"required":["a"]}`, nil, `{"a":"<a>xxx"}`},
		"lists":                  {`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]},"minItems":2}},"required":["a"]}`, nil, `{"a":[{"k":"<k>"},{"k":"<k>"}]}`},
		"alternatives":           {`{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"string"}]}},"required":["a"]}`, nil, `{"a":1}`},
		"several types": {
			`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]}`,
			nil, `{"a":"<a>"}`,
		},
		"nothing required": {`{"type":"object","properties":{"a":{"type":"string"}}}`, nil, ""},
		"a pattern":        {`{"type":"object","properties":{"a":{"type":"string","pattern":"^[0-9]+$"}},"required":["a"]}`, nil, ""},
		"too many items":   {`{"type":"object","properties":{"a":{"type":"array","minItems":1000000}},"required":["a"]}`, nil, ""},
		"without end":      {`{"type":"object","properties":{"a":{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}},"required":["a"]}`, nil, ""},
		"no schema":        {`{"type":`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			one := &tool.Tool{Server: "s", Name: "t", InputSchema: json.RawMessage(c.schema), Examples: c.examples}
			f := newFixture(t, []*tool.Tool{one}, Options{})
			got, ok := f.exampleCall(f.Set(), one)
			if c.want == "" {
				if ok {
					t.Errorf("got %s, want none", got)
				}
				return
			}
			if diff := gocmp.Diff(`{"name":"t","arguments":`+c.want+`}`, string(got)); diff != "" {
				t.Errorf("example (-want +got):\n%s", diff)
			}
		})
	}
}

// TestExamplesOfRealTools counts for how many tools of the real catalogue that require something an example is found.
func TestExamplesOfRealTools(t *testing.T) {
	tools := realCatalogue(t)
	f := newFixture(t, tools, Options{})
	need, found := 0, 0
	for _, one := range f.Set().All() {
		if len(validate.MissingRequired(one.InputSchema, json.RawMessage("{}"))) == 0 {
			continue
		}
		need++
		if _, ok := f.exampleCall(f.Set(), one); ok {
			found++
		}
	}
	t.Logf("%d of %d", found, need)
	if found*100 < need*95 {
		t.Errorf("an example is found for %d of %d tools, want 95 %%", found, need)
	}
}

// FuzzSample holds that whatever a schema says, what is made up is JSON, and not endless.
func FuzzSample(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"minLength":5}}},"required":["a"]}`)
	f.Add(`{"const":{},"properties":[],"minimum":"x","type":"integer"}`)
	f.Add(`{"anyOf":[{"oneOf":[{"type":"string","format":"date"}]}]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		got := exampleValue(json.RawMessage(schema), "name", 0)
		if !json.Valid(got) {
			t.Errorf("%s gives %s", schema, got)
		}
	})
}

func TestOutputIsCheckedForTheLogOnly(t *testing.T) {
	const promised = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	for name, c := range map[string]struct {
		schema, raw string
		want        string // of the log; "" if it tells nothing
	}{
		"fits":             {promised, `{"content":[],"structuredContent":{"n":9007199254740993}}`, ""},
		"another type":     {promised, `{"content":[],"structuredContent":{"n":"x"}}`, `field=n reason="x has type`},
		"lacks":            {promised, `{"content":[],"structuredContent":{}}`, `reason="n missing, but required"`},
		"none":             {promised, `{"content":[]}`, `reason="structuredContent is missing"`},
		"none, but error":  {promised, `{"content":[],"isError":true}`, ""},
		"nothing promised": {"", `{"content":[],"structuredContent":{"n":"x"}}`, ""},
		"no schema":        {`{"type":`, `{"content":[],"structuredContent":{}}`, "a schema cannot be checked"},
		"too large": {promised, `{"content":[],"structuredContent":{"n":"` + strings.Repeat("x", maxOutput) +
			`"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, []*tool.Tool{{
				Server: "s", Name: "t", InputSchema: objectSchema,
				OutputSchema: json.RawMessage(c.schema),
			}}, Options{})
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return &tool.CallResult{Raw: json.RawMessage(c.raw)}, nil
			}
			for range 3 {
				got := f.exchange(t, "2025-11-25",
					`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`)
				if got[len(got)-1] != `{"jsonrpc":"2.0","id":2,"result":`+c.raw+`}` {
					t.Errorf("the result is changed: %s", got[len(got)-1][:min(200, len(got[len(got)-1]))])
				}
			}
			warned := strings.Count(f.log.String(), "level=WARN")
			if c.want == "" && warned != 0 || c.want != "" && (warned != 1 ||
				!strings.Contains(f.log.String(), c.want)) {
				t.Errorf("%d warnings, want one with %q:\n%s", warned, c.want, f.log.String())
			}
		})
	}
}
