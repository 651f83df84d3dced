package mcpsrv

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// golden compares with a file under testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestSearchPassesOn(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		want tool.Query
	}{
		"defaults":      {`{"query":"x"}`, tool.Query{Text: "x", Detail: tool.DetailSignature}},
		"several needs": {`{"query":["a","b"]}`, tool.Query{Texts: []string{"a", "b"}, Detail: tool.DetailSignature}},
		"list of one":   {`{"query":["a"]}`, tool.Query{Text: "a", Detail: tool.DetailSignature}},
		"list in text": {`{"query":"[\"a\",\"b\"]"}`, tool.Query{
			Texts:  []string{"a", "b"},
			Detail: tool.DetailSignature,
		}},
		"bracket in text": {`{"query":"[WIP] issues"}`, tool.Query{Text: "[WIP] issues", Detail: tool.DetailSignature}},
		"everything": {
			`{"query":"x","limit":7,"detail":"schema","server":["s"],"category":["c","d"],"read_only":true,"explain":true}`,
			tool.Query{
				Text: "x", Limit: 7, Detail: tool.DetailSchema, Explain: true,
				Filter: tool.Filter{Servers: []string{"s"}, Categories: []string{"c", "d"}, ReadOnly: true},
			},
		},
		"other spellings": {
			`{"q":"x","limit":"7","servers":"s","categories":"c","readOnly":"true"}`,
			tool.Query{Text: "x", Limit: 7, Detail: tool.DetailSignature, Filter: tool.Filter{
				Servers:    []string{"s"},
				Categories: []string{"c"}, ReadOnly: true,
			}},
		},
		"the largest limit": {`{"query":"x","limit":100}`, tool.Query{
			Text: "x", Limit: tool.MaxLimit,
			Detail: tool.DetailSignature,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			ask(t, f.connect(t, "", nil), searchName, c.args)
			if diff := gocmp.Diff(c.want, <-f.queries); diff != "" {
				t.Errorf("query (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwnToolsRefuse(t *testing.T) {
	for name, c := range map[string]struct{ tool, args, want string }{
		"no query":        {searchName, `{}`, "query missing, but required"},
		"query of digits": {searchName, `{"query":7}`, "query: fits none of the alternatives"},
		"unknown detail":  {searchName, `{"query":"x","detail":"all"}`, "detail: enum: all does not equal any of"},
		"endless limit":   {searchName, `{"query":"x","limit":1e30}`, "limit cannot be read"},
		"limit too large": {searchName, `{"query":"x","limit":5000}`, "limit is 5000, and not from 1 to 100"},
		"negative limit":  {searchName, `{"query":"x","limit":-1}`, "limit is -1"},
		"unknown argument": {
			searchName, `{"query":"x","limits":3}`,
			"arguments of search_tools do not fit: limits not known: did you mean limit?",
		},
		"unknown argument of a list": {listName, `{"colour":"red"}`, "colour not known\n"},
		"a list of no server":        {listName, `{"server":"filles"}`, "there are no tools of a server \"filles\"\ndid you mean files?"},
		"a list of no category":      {listName, `{"category":"sell"}`, "did you mean shell? Otherwise choose from files, other"},
		"no name":                    {describeName, `{}`, "name missing, but required"},
		"empty list":                 {describeName, `{"name":[]}`, "name holds 0 names"},
		"unknown name":               {describeName, `{"name":"red_file"}`, "nearest: read_file"},
		"all unknown":                {describeName, `{"name":["red_file","nope"]}`, "not_found"},
		"a list":                     {listName, `[1]`, "arguments is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			got, failed := ask(t, f.connect(t, "", nil), c.tool, c.args)
			if !failed || !strings.Contains(got, c.want) {
				t.Errorf("error %v, text %q, want one with %q", failed, got, c.want)
			}
		})
	}
}

func TestSearchAnswers(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	session := f.connect(t, "", nil)
	var b strings.Builder
	for _, args := range []string{
		`{"query":"read a text file"}`,
		`{"query":"read a text file","detail":"name","limit":2}`,
		`{"query":"read a text file","detail":"summary","limit":2}`,
		`{"query":"folders","detail":"schema","limit":1}`,
		`{"query":["npm install","horoscope"],"explain":true}`,
		`{"query":"folder","category":"SEARCH"}`,
		`{"query":"folders","category":"other","server":"files"}`,
		`{"query":"file","read_only":true,"limit":20,"detail":"name"}`,
	} {
		got, _ := ask(t, session, searchName, args)
		b.WriteString("> " + args + "\n" + got + "\n\n")
	}
	golden(t, "search.txt", b.String())
}

func TestSearchSaysThatNothingFits(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	f.found = func(q tool.Query) (*tool.Result, error) {
		return &tool.Result{
			Query: q.Text, Tokens: 40, Degraded: "the model is not loaded",
			Tools: []tool.Hit{{
				ID: "files/file_info", Name: "file_info", Exposed: "file_info", Server: "files",
				Summary: "Tell size", Score: .04, Confirm: true,
			}},
			Advice: &tool.Advice{
				Message:       "No tool here seems to draw; a server of astrology would.",
				NotUnderstood: []string{"horoscope"},
				Kinds:         []string{"astrology"}, Categories: []string{"files"},
				Excluded: []tool.Excluded{
					{Why: "disabled", Tools: 1, Text: "1 disabled tool might."},
					{Why: "stopped", Text: "The server x does\nnot run."},
				},
			},
		}, nil
	}
	res, err := f.connect(t, "", nil).CallTool(t.Context(), &mcp.CallToolParams{
		Name:      searchName,
		Arguments: json.RawMessage(`{"query":"draw me a horoscope"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "Searched by words only: the model is not loaded\n" +
		"No tool here seems to draw; a server of astrology would. Not understood: horoscope. Nearest categories: files. 1 disabled tool might. The server x does not run. Nearest:\n" +
		"- file_info: Tell size [files, 0.04, a person confirms each call]"
	if diff := gocmp.Diff(want, text(res)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	facts, err := json.Marshal(res.Meta["tooldex/search"])
	if err != nil {
		t.Fatal(err)
	}
	wantFacts := `{"confident":false,"degraded":"the model is not loaded","tokens":40,"tools":[{"confirm":true,"id":"files/file_info","score":0.04}]}`
	if diff := gocmp.Diff(wantFacts, string(facts)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if res.StructuredContent != nil {
		t.Error("the answer is there twice, as text and structured")
	}
}

// TestTwinsAreNamed writes a tool that other servers have, too: by the names under which it can be called there.
func TestTwinsAreNamed(t *testing.T) {
	h := tool.Hit{
		Name: "read", Exposed: "home__read", Server: "home", Summary: "Read a file", Score: .9,
		Also: []string{"work__read", searchName}, Duplicates: []tool.ID{"work/read", "odd/" + searchName},
	}
	for detail, want := range map[tool.Detail]string{
		tool.DetailName:    "- home__read 0.90 also work__read, odd__search_tools\n",
		tool.DetailSummary: "- home__read: Read a file [home, 0.90] also work__read, odd__search_tools\n",
	} {
		var b strings.Builder
		writeHit(&b, &h, detail)
		if diff := gocmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", detail, diff)
		}
	}
}

func TestLongSignatureIsCut(t *testing.T) {
	var b strings.Builder
	writeHit(&b, &tool.Hit{Name: "t", Exposed: "s__t", Server: "s", Signature: "t(" +
		strings.Repeat("параметр: string, ", 100) + ")"}, tool.DetailSignature)
	if got := b.String(); len(got) > maxSignature+60 || !strings.HasPrefix(got, "- s__t(параметр") ||
		!strings.Contains(got, "…: ") || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("got %q", got)
	}
}

func TestDescriptions(t *testing.T) {
	tools := append(smallServer(t), &tool.Tool{
		Server: "notes", Name: "add_block", Category: "notes", Description: "Adds a block.\n\nSecond paragraph.",
		Deprecated: "use add_blocks", Disabled: true,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"block":{"$ref":"#/$defs/block"},"kind":{"enum":["a","b","c","d","e","f","g","h"]},"x":true},"required":["block"],"$defs":{"block":{"type":"object"}}}`),
		OutputSchema: json.RawMessage(`{"type":"object",
			"properties":{"id":{"type":"string"}}}`),
		Examples: []tool.Example{{
			Description: "A heading", Invocation: json.RawMessage(`{ "block": {"h": 1} }`),
			Output: "ok\nline",
		}, {Description: "Nothing"}},
		Related:    []tool.ID{"files/write_file", "gone/tool"},
		Utterances: []tool.Utterance{{Text: "write this down"}, {Text: "put a note", From: tool.Borrowed}},
	}, &tool.Tool{Server: "notes", Name: "bare", Summary: "Only a summary", InputSchema: json.RawMessage(`{"type":`)})
	f := newFixture(t, tools, Options{})
	session := f.connect(t, "", nil)
	var b strings.Builder
	for _, args := range []string{
		`{"name":"files__read_file"}`, `{"name":["edit_file","nope","allowed_directories"]}`,
		`{"tool":"add_block","utterances":true}`, `{"name":"bare"}`,
	} {
		got, failed := ask(t, session, describeName, args)
		if failed {
			t.Errorf("%s refused: %s", args, got)
		}
		b.WriteString("> " + args + "\n" + got + "\n\n")
	}
	golden(t, "describe.txt", b.String())
}

func TestHugeDescriptionIsCut(t *testing.T) {
	huge := &tool.Tool{
		Server: "s", Name: "huge", Description: strings.Repeat("word ", 1<<20),
		InputSchema: objectSchema,
	}
	f := newFixture(t, []*tool.Tool{huge}, Options{})
	got, _ := ask(t, f.connect(t, "", nil), describeName, `{"name":"huge"}`)
	if len(got) > maxDescription+200 {
		t.Errorf("the answer has %d bytes", len(got))
	}
}

func TestListPages(t *testing.T) {
	tools := smallServer(t)
	tools[3].Disabled, tools[4].Deprecated = true, "use write_file"
	f := newFixture(t, tools, Options{})
	session := f.connect(t, "", nil)
	var b strings.Builder
	for _, args := range []string{
		``, `{"limit":5}`, `{"limit":5,"cursor":"files/file_info"}`, `{"limit":5,"cursor":"files/search_files"}`,
		`{"cursor":"files/zzz"}`,
		`{"category":"shell"}`, `{"category":"other"}`, `{"include_disabled":true,"limit":4}`, `{"server":"none"}`,
	} {
		got, _ := ask(t, session, listName, args)
		b.WriteString("> " + args + "\n" + got + "\n\n")
	}
	golden(t, "list.txt", b.String())
}

// TestSmallServerBudgets holds what lazy loading is for: what a client reads of a twelve-tool server.
func TestSmallServerBudgets(t *testing.T) {
	tools := smallServer(t)
	f := newFixture(t, tools, Options{})
	session := f.connect(t, "", nil)
	list, _ := ask(t, session, listName, "")
	if n := countTokens(list); n > 500 {
		t.Errorf("the list costs %d tokens, want at most 500:\n%s", n, list)
	}
	plain := 0
	for _, one := range tools {
		plain += one.Tokens()
		got, _ := ask(t, session, describeName, `{"name":"`+one.Name+`"}`)
		if n := countTokens(got); n > 400 {
			t.Errorf("the description of %s costs %d tokens, want at most 400:\n%s", one.Name, n, got)
		}
	}
	one, _ := ask(t, session, describeName, `{"name":"read_file"}`)
	lazy := countTokens(list) + countTokens(one)
	t.Logf("list %d tokens, one description %d, plain listing %d", countTokens(list), countTokens(one), plain)
	if lazy > plain*6/10 {
		t.Errorf("list and one description cost %d tokens, want at most 60 %% of the plain listing's %d", lazy, plain)
	}
}

// TestSearchBudget holds the median answer over real tools to 500 tokens. The five tools of an answer are taken from
// one server, as alike ones mostly are.
func TestSearchBudget(t *testing.T) {
	set := tool.NewSet(realCatalogue(t), "")
	var costs []int
	for tools := range slices.Chunk(set.All(), tool.DefaultLimit) {
		if len(tools) < tool.DefaultLimit {
			break
		}
		res := &tool.Result{Confident: true}
		for _, one := range tools {
			res.Tools = append(res.Tools, tool.Hit{
				ID: one.ID(), Name: one.Name, Server: one.Server, Exposed: set.Exposed(one.ID()), Summary: one.Summary,
				Category: "issue tracking", Score: .5, Signature: one.Signature(),
			})
		}
		costs = append(costs, countTokens(searchText(res, tool.DetailSignature)))
	}
	slices.Sort(costs)
	t.Logf("%d answers: median %d tokens, 90th percentile %d, most %d", len(costs), costs[len(costs)/2],
		costs[len(costs)*9/10], costs[len(costs)-1])
	if median := costs[len(costs)/2]; median > 500 {
		t.Errorf("the median answer costs %d tokens, want at most 500", median)
	}
}
