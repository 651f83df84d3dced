package mcpsrv

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

func TestMoveLazy(t *testing.T) {
	for params, want := range map[string]string{
		`{"lazy":false}`:                               `{"_meta":{"tooldex/lazy":false}}`,
		`{"lazy":true,"cursor":"a"}`:                   `{"cursor":"a","_meta":{"tooldex/lazy":true}}`,
		`{"_meta":{"k":1e400},"lazy":false}`:           `{"_meta":{"k":1e400,"tooldex/lazy":false}}`,
		`{"_meta":{"tooldex/lazy":true},"lazy":false}`: `{"_meta":{"tooldex/lazy":false}}`,
		`{"lazy":"no"}`:                                `{"lazy":"no"}`,
		`{"query":"a","filter":7,"lazy":true}`:         `{"_meta":{"tooldex/lazy":true,"tooldex/query":"a","tooldex/filter":7}}`,
		`{"cursor":"\"lazy\""}`:                        `{"cursor":"\"lazy\""}`,
		`{"_meta":7,"lazy":false}`:                     `{"_meta":7,"lazy":false}`,
		`[{"lazy":false}]`:                             `[{"lazy":false}]`,
		`{"lazy":`:                                     `{"lazy":`,
		``:                                             ``,
	} {
		if got := string(moveListParams(json.RawMessage(params))); got != want {
			t.Errorf("%s becomes %s, want %s", params, got, want)
		}
	}
}

// FuzzMoveLazy holds that parameters stay JSON if they were, and stay as they are if they have none of our own.
func FuzzMoveLazy(f *testing.F) {
	f.Add(`{"lazy":false,"_meta":{"a":1},"lazy":true}`)
	f.Add(`{"cursor":"lazy"}`)
	f.Fuzz(func(t *testing.T, params string) {
		got := moveListParams(json.RawMessage(params))
		if json.Valid([]byte(params)) && !json.Valid(got) {
			t.Errorf("%q becomes %q", params, got)
		}
		if !regexp.MustCompile(`"(lazy|query|filter)"`).MatchString(params) && string(got) != params {
			t.Errorf("%q becomes %q", params, got)
		}
	})
}

// TestLazyIsHeard asks for full schemas in each way that there is, over each transport and in each generation.
func TestLazyIsHeard(t *testing.T) {
	whole := `"path":{"type":"string","description":"Path of the file, relative to the project folder"}`
	for _, revision := range generations {
		for name, c := range map[string]struct {
			params string
			mode   Mode
			want   bool
		}{
			"stubs":             {``, Lazy, false},
			"lazy":              {`"lazy":true`, Lazy, false},
			"not lazy":          {`"lazy":false`, Lazy, true},
			"not lazy, in meta": {`"_meta":{"tooldex/lazy":false}`, Lazy, true},
			"in another mode":   {`"lazy":false`, Search, false},
		} {
			t.Run(revision+" "+name, func(t *testing.T) {
				params := c.params
				if revision >= statelessRevision {
					meta := strings.TrimPrefix(statelessMeta, ",")
					if strings.HasPrefix(params, `"_meta":{`) {
						params = strings.TrimSuffix(params, "}") + "," + strings.TrimPrefix(meta, `"_meta":{`)
					} else {
						params = strings.TrimPrefix(params+","+meta, ",")
					}
				}
				line := `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + params + `}}`
				f := newFixture(t, smallServer(t), Options{Mode: c.mode})
				lines := f.exchange(t, revision, line)
				if got := lines[len(lines)-1]; strings.Contains(got, whole) != c.want ||
					strings.Contains(got, `"error"`) {
					t.Errorf("in memory: full schemas %v, want %v:\n%s", !c.want, c.want, got)
				}
				url, session := f.listen(t).URL, ""
				if revision < statelessRevision {
					_, header := post(t, url, revision, "", opening(revision)[0])
					session = header.Get("Mcp-Session-Id")
				}
				if got, _ := post(t, url, revision, session, line); strings.Contains(got, whole) != c.want ||
					!strings.Contains(got, "read_file") && c.mode == Lazy {
					t.Errorf("over HTTP: full schemas %v, want %v:\n%s", !c.want, c.want, got)
				}
			})
		}
	}
}

// TestLazyOverHTTPRefuses holds that a body which lazy mode reads first is refused as without it.
func TestLazyOverHTTPRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"too large": `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` +
			strings.Repeat("x", mcp.DefaultMaxRequestBodyBytes) + `"}}`,
		"not JSON":   `tools/list`,
		"empty":      ``,
		"no session": `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"lazy":false}}`,
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[Mode]int{}
			for _, mode := range []Mode{Search, Lazy} {
				f := newFixture(t, smallServer(t), Options{Mode: mode})
				req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
				setHeaders(req, "2025-11-25", "")
				answer := httptest.NewRecorder()
				f.Handler().ServeHTTP(answer, req)
				answers[mode] = answer.Code
			}
			if answers[Search] != answers[Lazy] {
				t.Errorf("status %v", answers)
			}
		})
	}
}

func TestStubIsListedInFullAfterAMistake(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{Mode: Lazy})
	session := f.connect(t, "2025-11-25", nil)
	other := f.connect(t, "2025-11-25", nil)
	in := func(s *mcp.ClientSession, name string) string {
		t.Helper()
		for one, err := range s.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if one.Name == name {
				raw, err := json.Marshal(one)
				if err != nil {
					t.Fatal(err)
				}
				return string(raw)
			}
		}
		return ""
	}
	stub := `{"description":"Write a text file, replacing what it held","inputSchema":{"type":"object"},"name":"write_file"}`
	if got := in(session, "write_file"); len(got) > 2*len(stub) || !strings.Contains(got,
		`"inputSchema":{"type":"object"}`) || strings.Contains(got, "annotations") {
		t.Errorf("the stub is %s", got)
	}
	if _, failed := ask(t, session, "write_file", `{"path":"a","content":"b"}`); failed {
		t.Error("arguments that fit are refused")
	}
	if got := in(session, "write_file"); strings.Contains(got, "properties") {
		t.Errorf("a call that fits unfolds the stub: %s", got)
	}
	got, failed := ask(t, session, "write_file", `{}`)
	if !failed || !strings.Contains(got, `input schema: {"type":"object","properties":{"path"`) {
		t.Errorf("error %v, without the schema: %s", failed, got)
	}
	if got := in(session, "write_file"); !strings.Contains(got, "The whole new content") ||
		!strings.Contains(got, "destructiveHint") {
		t.Errorf("after the mistake it is listed as %s", got)
	}
	if got := in(other, "write_file"); strings.Contains(got, "properties") {
		t.Errorf("in the other session, too: %s", got)
	}
	if got := in(session, "read_file"); strings.Contains(got, "properties") {
		t.Errorf("and so is the next: %s", got)
	}
}

type toolAnswer struct {
	mcp.ResultBase
	Tool   json.RawMessage   `json:"tool"`
	Tools  []json.RawMessage `json:"tools"`
	Errors []struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	} `json:"errors"`
}

// TestDescribeMethods calls the methods as the SDK's client does, over each transport and in each generation.
func TestDescribeMethods(t *testing.T) {
	for _, revision := range generations {
		for _, transport := range []string{"in memory", "http"} {
			t.Run(revision+" "+transport, func(t *testing.T) {
				f := newFixture(t, smallServer(t), Options{Mode: Lazy})
				client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
				for _, err := range []error{
					mcp.AddSendingCustomMethod[*describeParams, *toolAnswer](client, describeMethod),
					mcp.AddSendingCustomMethod[*describeBatchParams, *toolAnswer](client, describeBatchMethod),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				session := f.connectClient(t, client, revision, transport)
				one, err := mcp.CallCustomMethod[*describeParams, *toolAnswer](t.Context(), session, describeMethod,
					&describeParams{Name: "mcp__tooldex__file_info"})
				if err != nil {
					t.Fatal(err)
				}
				info, err := f.resolveTool(f.Set(), "file_info")
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(string(orderedjson.Encode(fullTool(f.Set(), info))), string(one.Tool)); diff != "" {
					t.Errorf("one (-want +got):\n%s", diff)
				}
				for _, p := range []*describeParams{{}, {Name: "nothing"}} {
					if _, err := mcp.CallCustomMethod[*describeParams, *toolAnswer](t.Context(), session,
						describeMethod, p); err == nil || !strings.Contains(err.Error(), "name") {
						t.Errorf("%q gives %v", p.Name, err)
					}
				}
				two, err := mcp.CallCustomMethod[*describeBatchParams, *toolAnswer](t.Context(), session,
					describeBatchMethod, &describeBatchParams{Names: []string{"file_info", "fil_info", "read_file"}})
				if err != nil || len(two.Tools) != 2 || string(two.Tools[0]) != string(one.Tool) ||
					len(two.Errors) != 1 {
					t.Fatalf("several: %v %v", two, err)
				}
				if e := two.Errors[0]; e.Name != "fil_info" || !strings.Contains(e.Hint, "nearest: file_info") {
					t.Errorf("what is unknown is told as %+v", e)
				}
				for _, names := range [][]string{nil, make([]string, maxBatch+1)} {
					if _, err := mcp.CallCustomMethod[*describeBatchParams, *toolAnswer](t.Context(), session,
						describeBatchMethod, &describeBatchParams{Names: names}); err == nil {
						t.Errorf("%d names are answered", len(names))
					}
				}
			})
		}
	}
}

// connectClient connects a client that is set up already.
func (f *fixture) connectClient(t *testing.T, client *mcp.Client, revision, transport string) *mcp.ClientSession {
	t.Helper()
	var theirs, ours mcp.Transport = mcp.NewInMemoryTransports()
	if transport == "http" {
		theirs = &mcp.StreamableClientTransport{Endpoint: f.listen(t).URL}
	} else {
		go func() { _ = f.Run(t.Context(), ours) }()
	}
	session, err := client.Connect(t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func TestPrompt(t *testing.T) {
	tools := append(smallServer(t), &tool.Tool{
		Server: "mail", Name: "send", Summary: "Send\na letter",
		Deprecated: "x",
	}, &tool.Tool{Server: "mail", Name: "off", Disabled: true})
	set := tool.NewSet(tools, "")
	golden(t, "prompt.txt", Prompt(set, tool.Filter{}))
	if got := Prompt(tool.NewSet(nil, ""), tool.Filter{}); !strings.HasSuffix(got, "There are no further tools.\n") {
		t.Errorf("of nothing: %s", got)
	}
	f := newFixture(t, tools, Options{})
	for _, revision := range generations {
		session := f.connect(t, revision, nil)
		list, err := session.ListPrompts(t.Context(), nil)
		if err != nil || len(list.Prompts) != 1 || list.Prompts[0].Name != promptName {
			t.Fatalf("prompts: %v %v", list, err)
		}
		for server, want := range map[string]tool.Filter{"": {}, "mail": {Servers: []string{"mail"}}} {
			p, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{
				Name:      promptName,
				Arguments: map[string]string{"server": server},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(Prompt(set, want), p.Messages[0].Content.(*mcp.TextContent).Text); diff != "" {
				t.Errorf("the prompt for %q (-want +got):\n%s", server, diff)
			}
		}
	}
}

// TestDeprecatedIsMarked requires that stubs, searches, lists and descriptions say that a tool is deprecated, and
// what to use instead.
func TestDeprecatedIsMarked(t *testing.T) {
	tools := []*tool.Tool{
		{Server: "files", Name: "read_file", Summary: "Read a file", Deprecated: "Use read_text_file instead"},
		{Server: "files", Name: "read_text_file", Summary: "Read a file as text"},
	}
	const mark = "deprecated: Use read_text_file instead"
	f := newFixture(t, tools, Options{Mode: Lazy})
	session := f.connect(t, "", nil)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list.Tools {
		if strings.Contains(one.Description, mark) != (one.Name == "read_file") {
			t.Errorf("%s is listed as %q", one.Name, one.Description)
		}
	}
	for name, args := range map[string]string{
		searchName: `{"query":"read"}`, listName: `{}`, describeName: `{"name":"read_file"}`,
	} {
		if got, failed := ask(t, session, name, args); failed || strings.Count(got, mark) != 1 {
			t.Errorf("%s answers %q", name, got)
		}
	}
}

// TestLazySavesOnSmallCatalogues requires that names and one line of each tool, together with our own, cost at most
// half of a full listing, however few the tools are; that what lazy mode does not list still works there, and so do
// parameters that it does not show.
func TestLazySavesOnSmallCatalogues(t *testing.T) {
	cost := func(f *fixture, mode Mode) (tokens int) {
		for _, e := range f.toolListing(f.currentSet(), mode).entries {
			tokens += countTokens(string(e.raw))
		}
		return tokens
	}
	f := newFixture(t, smallServer(t), Options{Mode: Lazy})
	lazy, full := cost(f, Lazy), cost(f, Full)
	t.Logf("12 tools: %d tokens, in full %d", lazy, full)
	if lazy*2 > full {
		t.Errorf("12 tools cost %d tokens, in full %d: less than half is saved", lazy, full)
	}
	session := f.connect(t, "", nil)
	for name, args := range map[string]string{
		searchName:   `{"query":["read a file","write"],"limit":2,"detail":"name","read_only":true}`,
		describeName: `{"name":["read_file","edit_file"],"include_examples":false}`,
		listName:     `{}`, categoriesName: `{}`, invokeName: `{"name":"read_file","arguments":{"path":"x"}}`,
	} {
		if got, failed := ask(t, session, name, args); failed {
			t.Errorf("%s %s: %s", name, args, got)
		}
	}
}

// TestLazySavesOnRealServers measures what lazy mode saves of the listing of a few tools of real servers: of those that
// one server lists first, and of a hundred random mixes. docs/reference/mcp.md has these figures.
func TestLazySavesOnRealServers(t *testing.T) {
	all := realCatalogue(t)
	byServer := map[string][]*tool.Tool{}
	for _, one := range all {
		byServer[one.Server] = append(byServer[one.Server], one)
	}
	random := rand.New(rand.NewPCG(1, 2))
	saves := func(tools []*tool.Tool) float64 {
		f := newFixture(t, tools, Options{Mode: Lazy})
		sum := map[Mode]int{}
		for _, mode := range []Mode{Lazy, Full} {
			for _, e := range f.toolListing(f.currentSet(), mode).entries {
				sum[mode] += countTokens(string(e.raw))
			}
		}
		return 1 - float64(sum[Lazy])/float64(sum[Full])
	}
	for _, want := range []struct {
		tools                int
		single, mixed, least float64 // parts saved: medians, and the least of all
	}{{12, .85, .88, .60}, {23, .87, .90, .70}} {
		var single, mixed []float64
		for _, tools := range byServer {
			if len(tools) >= want.tools {
				single = append(single, saves(tools[:want.tools]))
			}
		}
		for range 100 {
			var tools []*tool.Tool
			for _, i := range random.Perm(len(all))[:want.tools] {
				tools = append(tools, all[i])
			}
			mixed = append(mixed, saves(tools))
		}
		slices.Sort(single)
		slices.Sort(mixed)
		ofSingle, ofMixed, least := single[len(single)/2], mixed[len(mixed)/2], min(single[0], mixed[0])
		t.Logf("%d tools: %.0f %% saved of one of %d servers, %.0f %% of mixes, at the median; %.0f %% at least",
			want.tools, 100*ofSingle, len(single), 100*ofMixed, 100*least)
		if ofSingle < want.single || ofMixed < want.mixed || least < want.least {
			t.Errorf("%d tools: want %.0f, %.0f and %.0f %%", want.tools, 100*want.single, 100*want.mixed, 100*want.least)
		}
	}
}

// TestCategoriesTellOfServers requires that list_tool_categories says once what each visible server says of itself, on
// one line, bounded, and says nothing for servers that say nothing.
func TestCategoriesTellOfServers(t *testing.T) {
	text := "Zyxforge\nkeeps repositories. " + strings.Repeat("long ", 200)
	tools := []*tool.Tool{
		{Server: "code", Name: "a", ServerText: text},
		{Server: "code", Name: "b", ServerText: text},
		{Server: "off", Name: "c", ServerText: "Offline.", Disabled: true},
		{Server: "plain", Name: "d"},
	}
	f := newFixture(t, tools, Options{})
	got, failed := ask(t, f.connect(t, "", nil), categoriesName, `{}`)
	if failed || strings.Count(got, "- code: Zyxforge keeps repositories. long") != 1 ||
		strings.Contains(got, "Offline") || strings.Contains(got, "- plain") || len(got) > maxServerText+200 {
		t.Errorf("got %q", got)
	}
	var many []*tool.Tool
	for i := range 100 {
		many = append(many, &tool.Tool{Server: fmt.Sprintf("s%02d", i), Name: "t", ServerText: text})
	}
	all := newFixture(t, many, Options{})
	if got, _ := ask(t, all.connect(t, "", nil), categoriesName, `{}`); len(got) > maxServerTexts+2000 {
		t.Errorf("100 servers take %d bytes", len(got))
	}
}
