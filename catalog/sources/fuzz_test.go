package sources

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// whatever checks what holds of any file that was read without an error.
func whatever(t *testing.T, c *Content) {
	t.Helper()
	for _, s := range c.Sources {
		if s.Name() == "" {
			t.Error("a source without a name")
		}
		tools, err := s.Tools(context.Background())
		if err != nil {
			t.Errorf("a file that was read has a source that cannot be: %v", err)
		}
		for _, one := range tools {
			for _, raw := range []json.RawMessage{one.InputSchema, one.OutputSchema, one.Meta, one.Icons} {
				if raw != nil && !json.Valid(raw) {
					t.Errorf("%s: not JSON: %q", one.ID(), raw)
				}
			}
			if _, err := sanitize.Tool(one); err != nil && tool.CodeOf(err) != tool.Invalid {
				t.Errorf("clean: %v", err)
			}
		}
	}
	for _, v := range c.Servers {
		if err := CheckServer(v); err != nil {
			t.Errorf("a server that cannot be reached: %v", err)
		}
	}
	if c.Overlay == nil {
		return
	}
	b, err := c.Overlay.Encode()
	if err != nil {
		t.Fatalf("the overlay cannot be stored: %v", err)
	}
	again, err := DecodeOverlay(c.Overlay.Name, b)
	if err != nil {
		t.Fatalf("the overlay cannot be read back: %v", err)
	}
	if b2, err := again.Encode(); err != nil || !bytes.Equal(b, b2) {
		t.Errorf("the overlay reads back otherwise: %q, %q, %v", b, b2, err)
	}
}

func fuzzParse(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse(name, b)
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("error %v, want Invalid", err)
			}
			return
		}
		whatever(t, c)
	})
}

func FuzzDump(f *testing.F) {
	fuzzParse(f, "shell.json",
		`{"tools":[{"name":"x","description":"\u0041\\","inputSchema":{"a":[1,{"b":"]"}]},"annotations":{"readOnlyHint":true}}]}`,
		`[{"name":"x"},1,null]`, `{"result":{"tools":[]}}`, "// c\n[1,]", `{"a":"\`, `{"tools":[`)
}

func FuzzCatalogueFile(f *testing.F) {
	b, err := os.ReadFile("testdata/catalogue.yaml")
	if err != nil {
		f.Fatal(err)
	}
	fuzzParse(f, "a.yaml", string(b), bomb(), "- name: x\n  inputSchema: {a: 0x1, b: .5, c: !!binary x}\n",
		`{"catalogue":1,"tools":[{"name":"x","deprecated":true}]}`)
}

func FuzzOverlay(f *testing.F) {
	fuzzParse(f, "a.yaml", "overlay:\n  a/b: {summary: x, enabled: no, examples: [{invocation: {a: 1}}]}\n",
		"overlay: {a/b: , c/d: {related: [x]}}")
}

func FuzzServers(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x","args":["${A}"],"timeout":1e300}}}`))
	f.Add([]byte(`{"servers":{"a":{"url":"x","type":"sse"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		servers, err := ParseServers(b)
		if err != nil && tool.CodeOf(err) != tool.Invalid {
			t.Errorf("error %v, want Invalid", err)
		}
		if err == nil {
			whatever(t, &Content{Servers: servers})
		}
	})
}

// FuzzScan holds the scanner against encoding/json: of any valid object it finds the same members.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[true,{"c":"\"}"}],"d" : null , "e":-1.5e-3}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) { // it must still end, and not panic
			_ = span{raw: b}.eachMember(func(string, span) error { return nil })
			_ = span{raw: b}.eachElement(func(span) error { return nil })
			return
		}
		got := map[string]json.RawMessage{}
		if err := (span{raw: b}).eachMember(func(k string, v span) error {
			got[k] = v.raw
			if !bytes.Equal(b[v.off:v.off+len(v.raw)], v.raw) {
				t.Errorf("%q lies elsewhere", k)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var want map[string]json.RawMessage
		if bytes.ContainsRune(b, 0xFFFD) || json.Unmarshal(b, &want) != nil {
			return // no object, or keys that encoding/json repairs
		}
		if d := diff(want, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}
