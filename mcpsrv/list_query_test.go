package mcpsrv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listedNames returns the names in an answer to tools/list, and its error.
func listedNames(t *testing.T, line string) (names []string, failed string) {
	t.Helper()
	var m struct {
		Result struct {
			Tools []struct {
				Name        string          `json:"name"`
				InputSchema json.RawMessage `json:"inputSchema"`
			} `json:"tools"`
		} `json:"result"`
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	for _, one := range m.Result.Tools {
		names = append(names, one.Name)
		if !strings.Contains(string(one.InputSchema), `"properties"`) {
			t.Errorf("%s has no parameters: %s", one.Name, one.InputSchema)
		}
	}
	if m.Error.Code != 0 {
		failed = fmt.Sprint(m.Error.Code, " ", m.Error.Message)
	}
	return names, failed
}

// TestListQuery asks for a part of the tools in each mode and generation, and wants the same tools in full.
func TestListQuery(t *testing.T) {
	for params, want := range map[string][]string{
		`{"query":"renames"}`:                                         {"move_file"},
		`{"query":"zebra"}`:                                           nil,
		`{"filter":{"namePatterns":["read_*"]}}`:                      {"read_file", "read_many_files"},
		`{"filter":{"namePatterns":["*_directory","file_?nfo"]}}`:     {"create_directory", "file_info", "list_directory"},
		`{"filter":{"namePatterns":["nothing"]}}`:                     nil,
		`{"query":"folder","filter":{"namePatterns":["create_*"]}}`:   {"create_directory"},
		`{"_meta":{"tooldex/filter":{"namePatterns":["move_file"]}}}`: {"move_file"},
	} {
		for _, mode := range []Mode{Search, Dynamic, Lazy, Full} {
			for _, revision := range generations {
				f := newFixture(t, smallServer(t), Options{Mode: mode})
				line := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":%s}`, params)
				if revision >= statelessRevision {
					line = statelessList(params, revision)
				}
				lines := f.exchange(t, revision, line)
				got, failed := listedNames(t, lines[len(lines)-1])
				slices.Sort(got)
				if failed != "" || !slices.Equal(got, want) {
					t.Errorf("%s %s: %s lists %v %s, want %v", mode, revision, params, got, failed, want)
				}
			}
		}
	}
}

// statelessList returns a tools/list of the protocol without sessions.
func statelessList(params, revision string) string {
	var p map[string]any
	_ = json.Unmarshal([]byte(params), &p)
	meta, _ := p["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta[mcp.MetaKeyProtocolVersion] = revision
	meta[mcp.MetaKeyClientInfo] = map[string]any{"name": "test", "version": "1"}
	meta[mcp.MetaKeyClientCapabilities] = map[string]any{}
	p["_meta"] = meta
	raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": p})
	return string(raw)
}

func TestListQueryRefusesNonsense(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	many, _ := json.Marshal(slices.Repeat([]string{"a"}, maxPatterns+1))
	for _, params := range []string{
		`{"query":7}`, `{"query":""}`, `{"query":null}`, `{"filter":"a"}`, `{"filter":[]}`,
		`{"filter":{"names":["a"]}}`, `{"filter":{"namePatterns":"a"}}`, `{"filter":{"namePatterns":[]}}`,
		`{"filter":{"namePatterns":[7]}}`, `{"filter":{"namePatterns":["["]}}`,
		`{"filter":{"namePatterns":["` + strings.Repeat("a", maxPattern+1) + `"]}}`,
		`{"filter":{"namePatterns":` + string(many) + `}}`,
	} {
		lines := f.exchange(t, "2025-11-25", `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":`+params+`}`)
		if _, failed := listedNames(t, lines[len(lines)-1]); !strings.HasPrefix(failed, "-32602 ") {
			t.Errorf("%.80s is answered with %s", params, lines[len(lines)-1])
		}
	}
	// An empty filter restricts nothing.
	lines := f.exchange(t, "2025-11-25", `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"filter":{}}}`)
	if n := strings.Count(lines[len(lines)-1], `"inputSchema"`); n < 12 {
		t.Errorf("an empty filter lists %d tools", n)
	}
}

// TestListQueryIsAnnounced reads the capability with the client of the SDK.
func TestListQueryIsAnnounced(t *testing.T) {
	session := newFixture(t, smallServer(t), Options{}).connect(t, "2025-11-25", nil)
	raw, err := json.Marshal(session.InitializeResult().Capabilities.Experimental[listQueryKey])
	if want := `{"filter":["namePatterns"],"ifNoneMatch":true,"query":true}`; err != nil || string(raw) != want {
		t.Errorf("announced is %s, %v, want %s", raw, err, want)
	}
	res, err := session.ListTools(t.Context(), &mcp.ListToolsParams{Meta: mcp.Meta{queryKey: "renames"}})
	if err != nil || len(res.Tools) != 1 || res.Tools[0].Name != "move_file" {
		t.Errorf("listed are %+v, %v", res, err)
	}
}

// referring opens a session whose client reads tool_reference blocks.
func referring(capabilities string) []string {
	return []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities +
			`,"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	}
}

// TestToolReferences wants references to the tools that a client has listed, if it says that it reads them, and the
// usual text for everybody else.
func TestToolReferences(t *testing.T) {
	const knows = `{"experimental":{"tooldex/toolReferences":{}}}`
	const search = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"renames"}}}`
	const nothing = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"zebra"}}}`
	for name, c := range map[string]struct {
		mode               Mode
		always             []string
		capabilities, line string
		want               string
	}{
		"dynamic":            {Dynamic, nil, knows, search, `"content":[{"type":"tool_reference","tool_name":"move_file"}]`},
		"lazy":               {Lazy, nil, knows, search, `"content":[{"type":"tool_reference","tool_name":"move_file"}]`},
		"always":             {Search, []string{"move_file"}, knows, search, `"content":[{"type":"tool_reference","tool_name":"move_file"}]`},
		"not listed":         {Search, nil, knows, search, `"content":[{"type":"text","text":"- move_file`},
		"nothing fits":       {Dynamic, nil, knows, nothing, `"content":[{"type":"text"`},
		"does not know":      {Dynamic, nil, `{}`, search, `"content":[{"type":"text","text":"- move_file`},
		"knows other things": {Dynamic, nil, `{"experimental":{"toolReferences":{}}}`, search, `"content":[{"type":"text"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newFixture(t, smallServer(t), Options{Mode: c.mode, Always: c.always}).pipe(t)
			for i, line := range append(referring(c.capabilities), c.line) {
				p.send(line)
				if i == 0 {
					p.receive()
				}
			}
			got := p.receive()
			if strings.Contains(got, "list_changed") {
				got = p.receive()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s\nis not %s", got, c.want)
			}
			if !strings.Contains(got, `"tooldex/search"`) {
				t.Errorf("what programs read is missing: %s", got)
			}
		})
	}
}

// TestToolReferencesCostLess measures the answer of a search that finds five tools, with the parts that a model reads.
func TestToolReferencesCostLess(t *testing.T) {
	cost := func(capabilities string) int {
		p := newFixture(t, smallServer(t), Options{Mode: Lazy}).pipe(t)
		for _, line := range referring(capabilities) {
			p.send(line)
		}
		p.receive()
		p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"file"}}}`)
		var m struct {
			Result struct {
				Content json.RawMessage `json:"content"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(p.receive()), &m); err != nil {
			t.Fatal(err)
		}
		return countTokens(string(m.Result.Content))
	}
	text, references := cost(`{}`), cost(`{"experimental":{"tooldex/toolReferences":{}}}`)
	t.Logf("five tools cost %d tokens as text, %d as references", text, references)
	if references*2 > text {
		t.Errorf("references cost %d tokens, text %d", references, text)
	}
}
