package mcpsrv

import (
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/validate"
)

// structuredAnswer calls one of our own tools, and returns its structuredContent, "" for none.
func structuredAnswer(t *testing.T, f *fixture, revision, name, args string) string {
	t.Helper()
	lines := f.exchange(t, revision, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+name+
		`","arguments":`+args+`}}`)
	var answer struct {
		Result struct {
			Content    []json.RawMessage `json:"content"`
			Structured json.RawMessage   `json:"structuredContent"`
			IsError    bool              `json:"isError"`
		} `json:"result"`
	}
	last := lines[len(lines)-1]
	if err := json.Unmarshal([]byte(last), &answer); err != nil || answer.Result.IsError ||
		len(answer.Result.Content) != 1 {
		t.Fatalf("%s %s: %s", name, args, last)
	}
	return string(answer.Result.Structured)
}

// outputSchemas returns the output schemas of the server's own tools, as tools/describe_batch has them.
func outputSchemas(t *testing.T, f *fixture) map[string]json.RawMessage {
	t.Helper()
	names, _ := json.Marshal([]string{searchName, listName, categoriesName, describeName})
	lines := f.exchange(t, "2025-11-25",
		`{"jsonrpc":"2.0","id":2,"method":"tools/describe_batch","params":{"names":`+string(names)+`}}`)
	var answer struct {
		Result struct {
			Tools []struct {
				Name   string          `json:"name"`
				Output json.RawMessage `json:"outputSchema"`
			} `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &answer); err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	for _, one := range answer.Result.Tools {
		out[one.Name] = one.Output
	}
	if len(out[searchName]) == 0 || len(out[listName]) == 0 || len(out[categoriesName]) == 0 || len(out[describeName]) > 0 {
		t.Fatalf("output schemas: %v", out)
	}
	return out
}

func structuredTools() []*tool.Tool {
	return []*tool.Tool{
		{
			Server: "files", Name: "read", Summary: "Read a file.", Category: "files",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		},
		{Server: "files", Name: "old_read", Summary: "Read a file slowly.", Disabled: true, Deprecated: "use read"},
		{Server: "mail", Name: "send", Description: "Send a message. It goes out at once."},
	}
}

func TestStructuredContent(t *testing.T) {
	f := newFixture(t, structuredTools(), Options{})
	schemas := outputSchemas(t, f)
	for name, c := range map[string]struct{ tool, args, want string }{
		"list": {
			listName, `{"include_disabled":true,"structured":true}`,
			`{"tools":[{"name":"files__old_read","server":"files","summary":"Read a file slowly.","category":"other",` +
				`"enabled":false,"deprecated":"use read"},` +
				`{"name":"files__read","server":"files","summary":"Read a file.","category":"files","enabled":true},` +
				`{"name":"mail__send","server":"mail","summary":"Send a message","category":"other","enabled":true}],"total":3}`,
		},
		"page": {
			listName, `{"limit":1,"structured":true}`,
			`{"tools":[{"name":"files__read","server":"files","summary":"Read a file.","category":"files","enabled":true}],` +
				`"total":2,"nextCursor":"files/read"}`,
		},
		"no tools": {listName, `{"server":"mail","category":"files","structured":true}`, `{"tools":[],"total":0}`},
		"search": {
			searchName, `{"query":"read","structured":true}`,
			`{"tools":[{"name":"files__read","server":"files","summary":"Read a file.","category":"files","enabled":true,` +
				`"score":1,"signature":"read(path?: string)"}],"total":1,"confident":true}`,
		},
		"search with schemas": {
			searchName, `{"query":"read","detail":"schema","structured":true}`,
			`{"tools":[{"name":"files__read","server":"files","summary":"Read a file.","category":"files","enabled":true,` +
				`"score":1,"signature":"read(path?: string)","inputSchema":` +
				`{"type":"object","properties":{"path":{"type":"string"}}}}],"total":1,"confident":true}`,
		},
		"several needs": {
			searchName, `{"query":["read","fly"],"detail":"name","structured":true}`,
			`{"tools":[{"name":"files__read","server":"files","summary":"Read a file.","category":"files","enabled":true,` +
				`"score":1}],"total":1,"confident":false,"groups":[{"query":"read","tools":["files__read"],"confident":true},` +
				`{"query":"fly","tools":[],"confident":false,"advice":"Probably no tool here does this."}]}`,
		},
		"categories": {
			categoriesName, `{"structured":true}`,
			`{"categories":[{"name":"files","tools":1},{"name":"other","tools":1}],` +
				`"servers":[{"name":"files","tools":1},{"name":"mail","tools":1}],"total":2}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := structuredAnswer(t, f, "2025-06-18", c.tool, c.args)
			if diff := gocmp.Diff(c.want, got); diff != "" {
				t.Errorf("structuredContent (-want +got):\n%s", diff)
			}
			if bad := validate.NewSchemas(f.o.Logger).Of(c.tool, schemas[c.tool]).Check(json.RawMessage(got)); bad != nil {
				t.Errorf("it does not fit the output schema: %v", bad)
			}
			if old := structuredAnswer(t, f, "2025-03-26", c.tool, c.args); old != "" {
				t.Errorf("a revision without structuredContent gets %s", old)
			}
		})
	}
}

// TestStructuredContentIsFree holds that structuredContent which nobody asked for never costs more than the text.
func TestStructuredContentIsFree(t *testing.T) {
	f := newFixture(t, structuredTools(), Options{})
	for _, args := range []string{`{}`, `{"server":"mail","category":"files"}`} {
		got := structuredAnswer(t, f, "2025-11-25", listName, args)
		if wants := args != `{}`; (got != "") != wants {
			t.Errorf("%s: structuredContent is %q, want some: %v", args, got, wants)
		}
	}
	if got := structuredAnswer(t, f, "2025-11-25", searchName, `{"query":"read"}`); got != "" {
		t.Errorf("a search that did not ask has %s", got)
	}
}

// TestStructuredIsNotListed holds that models do not pay for what is for programs, and that other tools refuse it.
func TestStructuredIsNotListed(t *testing.T) {
	f := newFixture(t, structuredTools(), Options{})
	if l := rawListing(t, f); strings.Contains(l, "outputSchema") || strings.Contains(l, structuredKey) {
		t.Errorf("tools/list has %s", l)
	}
	session := f.connect(t, "", nil)
	if got, isError := ask(t, session, describeName, `{"name":"read","structured":true}`); !isError {
		t.Errorf("a tool without an output schema takes the argument: %s", got)
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: invokeName, Arguments: json.RawMessage(`{"name":"list_tool_categories","arguments":{"structured":true}}`),
	})
	if err != nil || res.StructuredContent == nil {
		t.Errorf("through invoke_tool: %v %v", res, err)
	}
}
