package httpapi

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/access"
	"tooldex/audit"
	"tooldex/tool"
	"tooldex/upstream"
	"tooldex/validate"
)

var update = flag.Bool("update", false, "rewrite golden files")

// fixture is a server over a real set, with a search that matches names and upstreams that answer from functions.
type fixture struct {
	*Server
	t       *testing.T
	set     *tool.Set
	mu      sync.Mutex // guards queries and calls
	queries []tool.Query
	calls   []tool.Call
	answer  func(context.Context, tool.Call) (*tool.CallResult, error)
	found   func(context.Context, tool.Query) (*tool.Result, error)
	states  []upstream.Status
	log     *buffer

	answered []int // statuses
}

type buffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (f *fixture) Set() *tool.Set { return f.set }

func (f *fixture) Status() []upstream.Status { return f.states }

func (f *fixture) Call(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	return f.answer(ctx, c)
}

func (f *fixture) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	f.mu.Lock()
	f.queries = append(f.queries, q)
	f.mu.Unlock()
	if f.found != nil {
		return f.found(ctx, q)
	}
	res := &tool.Result{Query: q.Text, Tools: []tool.Hit{}}
	for _, t := range f.set.All() {
		if !q.Filter.Match(t) || !strings.Contains(t.Name, q.Text) {
			continue
		}
		h := tool.Hit{
			ID: t.ID(), Name: t.Name, Server: t.Server, Exposed: f.set.Exposed(t.ID()), Summary: t.Summary,
			Category: t.Category, Score: .5,
		}
		if q.Detail == tool.DetailSchema {
			h.Schema = t.InputSchema
		}
		if q.Explain {
			h.Explain = &tool.Explain{
				Terms:    map[string]float64{q.Text: 1},
				Borrowed: []tool.Loan{{Archetype: "a", Weight: 1}},
			}
		}
		res.Tools = append(res.Tools, h)
	}
	res.Confident = len(res.Tools) > 0
	if !res.Confident {
		res.Advice = &tool.Advice{Message: "Nothing here does it.", NotUnderstood: []string{q.Text}}
	}
	return res, nil
}

func testTools() []*tool.Tool {
	yes := true
	return []*tool.Tool{
		{
			Server: "files", Name: "read_file", Title: "Read", Summary: "Read <one> file",
			Description: "Reads a file & more.", Category: "files",
			InputSchema: json.RawMessage("{ \"type\":\"object\",\n\"properties\":{\"z\":{\"type\":\"string\",\"pattern\":\"<&>\u2028\"},\"a\":{\"type\":\"integer\",\"maximum\":9007199254740993,\"default\":1.50}},\"required\":[\"z\"]}"),
			Annotations: &tool.Annotations{ReadOnlyHint: &yes}, Related: []tool.ID{"files/write_file"},
			Examples:   []tool.Example{{Description: "one", Invocation: json.RawMessage(`{"z":"x"}`)}},
			Utterances: []tool.Utterance{{Text: "open it"}},
		},
		{Server: "files", Name: "write_file", Category: "files", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Server: "files", Name: "old", Disabled: true, Deprecated: "use write_file"},
		{Server: "odd", Name: "a/b c", InputSchema: json.RawMessage(`{"type":`)},
		{Server: "odd", Name: "call"},
		{Server: "other", Name: "write_file"},
	}
}

// staff reports one of each.
type staff struct{}

// locker is a Credentials with one line, which takes everything.
type locker struct{}

func (locker) Own(access.Principal) ([]CredentialLine, error) {
	return []CredentialLine{{Server: "files", Name: "KEY"}}, nil
}

func (locker) All() ([]CredentialLine, error) {
	return []CredentialLine{{Server: "files", Name: "KEY", Stored: true, User: "token:1", Who: "token ci"}}, nil
}

func (locker) Store(access.Principal, string, string, string, string) error { return nil }

func (locker) BeginLogin(context.Context, access.Principal, string, string) (string, *http.Cookie, error) {
	return "https://login.example.com/authorize", &http.Cookie{Name: "login", Value: "secret"}, nil
}

func (locker) Remove(access.Principal, string, string, string) (int, error) { return 1, nil }

func (staff) Report() (*AccessReport, error) {
	return &AccessReport{
		Profiles: []ProfileLine{{Name: "work", Tools: 2}}, Tokens: []access.Line{{Name: "ci", ReadOnly: true}},
		Clients: []ClientLine{{Name: "editor", Who: "token ci"}},
	}, nil
}

func newFixture(t *testing.T, change func(*Options)) *fixture {
	t.Helper()
	f := &fixture{t: t, set: tool.NewSet(testTools(), ""), log: &buffer{}}
	f.answer = func(_ context.Context, c tool.Call) (*tool.CallResult, error) {
		return &tool.CallResult{Raw: json.RawMessage("{ \"content\":[],\n\"structuredContent\":{\"n\":9007199254740993,\"t\":\"<&>\"}}")}, nil
	}
	choice := &chooser{}
	o := Options{
		Searcher: f, Caller: f, Catalog: f, Metrics: f, Selector: choice, Preferences: choice, People: staff{}, Credentials: locker{},
		Records: audit.New(audit.Options{Dir: t.TempDir()}),
		Version: "1.2.3", Logger: slog.New(slog.NewTextHandler(f.log, nil)),
	}
	if change != nil {
		change(&o)
	}
	var err error
	if f.Server, err = New(o); err != nil {
		t.Fatal(err)
	}
	return f
}

// do sends a request, marked as our own; a body makes it JSON. It holds the answer to the description of the operation.
func (f *fixture) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	f.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req := httptest.NewRequest(method, target, r)
	req.Host = "127.0.0.1:8733"
	req.Header.Set("X-Request-Id", "test")
	req.Header.Set(markHeader, "1")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.Handler().ServeHTTP(w, req)
	f.described(req, w)
	return w
}

// TestGoldenAnswers holds the bytes of a good answer of each route.
func TestGoldenAnswers(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Upstreams = nil })
	f.o.Upstreams = f
	f.states = []upstream.Status{
		{Server: "files", State: upstream.Running, Transport: upstream.Stdio},
		{Server: "new", State: upstream.Failed, Error: "exit status 1"},
	}
	var b strings.Builder
	for _, c := range [][3]string{
		{"GET", "/search?q=read"},
		{"GET", "/search?q=read&detail=schema&explain"},
		{"GET", "/api/tools/search?q=horoscope"},
		{"POST", "/search", `{"query":"write","limit":3}`},
		{"POST", "/api/tools/search", `{"query":["write"]}`},
		{"GET", "/api/tools"},
		{"GET", "/api/tools?limit=2"},
		{"GET", "/api/tools?limit=2&cursor=files/write_file&include_disabled=true"},
		{"GET", "/api/tools?category=OTHER&server=odd&server=other"},
		{"GET", "/api/tools?read_only=1"},
		{"GET", "/api/tools/files/read_file"},
		{"GET", "/api/tools/files%2Fwrite_file"},
		{"GET", "/api/tools/odd/a/b%20c"},
		{"GET", "/api/tools/odd%2Fa%2Fb%20c"},
		{"GET", "/api/tools/read_file"},
		{"GET", "/api/tools/odd/call"},
		{"POST", "/api/tools/files/read_file/call", `{"arguments":{"z":"x","a":9007199254740993}}`},
		{"POST", "/api/tools/odd%2Fcall/call", `{}`},
		{"GET", "/api/tools/categories"},
		{"GET", "/api/servers"},
		{"GET", "/healthz"},
		{"GET", "/readyz"},
	} {
		w := f.do(c[0], c[1], c[2])
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" ||
			w.Header().Get("X-Request-Id") != "test" {
			t.Errorf("%s %s: %d %v", c[0], c[1], w.Code, w.Header())
		}
		fmt.Fprintf(&b, "%s %s %s\n%s\n\n", c[0], c[1], c[2], strings.TrimSpace(w.Body.String()))
	}
	golden(t, "answers.txt", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
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
	everything := tool.Query{
		Texts: []string{"a", "b"}, Limit: 7, Detail: tool.DetailSchema, Mode: tool.Keyword, Explain: true,
		Filter: tool.Filter{Servers: []string{"s", "t"}, Categories: []string{"c"}, ReadOnly: true},
	}
	for name, c := range map[string]struct {
		method, target, body string
		want                 tool.Query
	}{
		"get":     {"GET", "/search?q=caf%C3%A9", "", tool.Query{Text: "café"}},
		"get all": {"GET", "/search?q=a&q=b&limit=7&detail=schema&mode=keyword&explain=1&server=s&server=t&category=c&read_only=true", "", everything},
		"get not": {"GET", "/search?q=a&explain=false&read_only=0", "", tool.Query{Text: "a"}},
		"post":    {"POST", "/search", `{"query":"a"}`, tool.Query{Text: "a"}},
		"post list": {"POST", "/search", `{"query":["a"],"server":"s"}`, tool.Query{
			Text:   "a",
			Filter: tool.Filter{Servers: []string{"s"}},
		}},
		"post all": {"POST", "/search", `{"query":["a","b"],"limit":7,"detail":"schema","mode":"keyword","explain":true,"server":["s","t"],"category":"c","read_only":true}`, everything},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			if w := f.do(c.method, c.target, c.body); w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if diff := gocmp.Diff([]tool.Query{c.want}, f.queries); diff != "" {
				t.Errorf("query (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCallPassesOn(t *testing.T) {
	f := newFixture(t, nil)
	for body, want := range map[string]tool.Call{
		`{}`:                              {ID: "files/write_file", Arguments: json.RawMessage(`{}`)},
		`{"arguments":null,"_meta":null}`: {ID: "files/write_file", Arguments: json.RawMessage(`{}`)},
		`{"arguments":{"n":9007199254740993, "t":"<"},"_meta":{"a":1}}`: {
			ID: "files/write_file", Arguments: json.RawMessage(`{"n":9007199254740993, "t":"<"}`),
			Meta: json.RawMessage(`{"a":1}`),
		},
		`{"confirm":true}`: {ID: "files/write_file", Arguments: json.RawMessage(`{}`), Confirmed: true},
	} {
		want.Who = tool.Asker{Session: "192.0.2.1 ", Via: "api"}
		f.calls = nil
		w := f.do("POST", "/api/tools/files/write_file/call", body)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), "{ \"content\":[],\n") {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		if diff := gocmp.Diff([]tool.Call{want}, f.calls); diff != "" {
			t.Errorf("%s: call (-want +got):\n%s", body, diff)
		}
	}
}

// TestProblemOfWrongArguments holds that a call whose arguments do not fit is not made, and that its answer names the
// field and holds the schema.
func TestProblemOfWrongArguments(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Caller = validate.NewCaller(o.Caller, o.Catalog, validate.NewSchemas(nil)) })
	w := f.do("POST", "/api/tools/files/read_file/call", `{"arguments":{"z":"<&>\u2028","a":"b"}}`)
	var p problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusBadRequest {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	const detail = `arguments of files__read_file do not fit: a: b has type "string", want "integer"`
	if p.Code != "invalid" || p.Detail != detail || p.Field != "a" || !strings.Contains(string(p.InputSchema), `"maximum"`) {
		t.Errorf("problem %+v", p)
	}
	if len(f.calls) != 0 {
		t.Errorf("the call is made: %v", f.calls)
	}
}

// TestProblems holds what each kind of bad request is told.
func TestProblems(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.limits.body = 200 })
	for name, c := range map[string]struct {
		method, target, body string
		status               int
		code, detail         string
	}{
		"no such page": {"GET", "/nope", "", 404, "not_found", "there is no such page"},
		"root":         {"GET", "/", "", 404, "not_found", "there is no such page"},
		"wrong method": {"DELETE", "/search", "", 405, "method_not_allowed", "does not support the method"},
		"wrong method on tool": {
			"POST", "/api/tools/files/read_file", "{}", 405, "method_not_allowed",
			"does not support the method",
		},
		"no query":            {"GET", "/search", "", 400, "invalid", "query is empty"},
		"empty query":         {"GET", "/search?q=", "", 400, "invalid", "query is empty"},
		"empty among several": {"POST", "/search", `{"query":["a",""]}`, 400, "invalid", "query is empty"},
		"too many needs": {"POST", "/search", `{"query":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 21),
			",") + `]}`, 400, "invalid", "at most 20 needs"},
		"unknown parameter": {"GET", "/search?q=a&lmit=3", "", 400, "invalid", "lmit is not a known parameter"},
		"limit of words":    {"GET", "/search?q=a&limit=three", "", 400, "invalid", "limit is not a whole number"},
		"limit twice":       {"GET", "/search?q=a&limit=3&limit=4", "", 400, "invalid", "limit is given more than once"},
		"limit too large":   {"GET", "/search?q=a&limit=101", "", 400, "invalid", "limit is not from 1 to 100"},
		"negative limit": {
			"POST", "/search", `{"query":"a","limit":-1}`, 400, "invalid",
			"limit is not from 1 to 100",
		},
		"unknown detail": {"GET", "/search?q=a&detail=all", "", 400, "invalid", `unknown detail "all"`},
		"unknown mode":   {"POST", "/search", `{"query":"a","mode":"x"}`, 400, "invalid", `unknown mode "x"`},
		"flag of words":  {"GET", "/search?q=a&explain=maybe", "", 400, "invalid", "explain is neither true nor false"},
		"bad escape":     {"GET", "/search?q=%zz", "", 400, "invalid", "the query cannot be read"},
		"no JSON":        {"POST", "/search", `query=a`, 400, "invalid", "is not JSON: invalid character 'q'"},
		"cut JSON":       {"POST", "/search", `{"query":`, 400, "invalid", "ends before its JSON does"},
		"two bodies":     {"POST", "/search", `{"query":"a"}{}`, 400, "invalid", "more than one JSON value"},
		"a key twice":    {"POST", "/search", `{"query":"a","Query":"b"}`, 400, "invalid", `the key "Query" twice`},
		"an argument twice": {
			"POST", "/api/tools/files/write_file/call", `{"arguments":{"path":"a","path":"b"}}`, 400, "invalid",
			`the key "path" twice`,
		},
		"unknown field": {
			"POST", "/search", `{"query":"a","lmit":3}`, 400, "invalid",
			"lmit is not a known field",
		},
		"wrong type": {
			"POST", "/search", `{"query":"a","limit":"three"}`, 400, "invalid",
			"limit does not accept a value of type string",
		},
		"a list": {
			"POST", "/search", `[1]`, 400, "invalid",
			"the body does not accept a value of type array",
		},
		"too large": {
			"POST", "/search", `{"query":"` + strings.Repeat("a", 300) + `"}`, 413, "too_large",
			"larger than allowed",
		},
		"unknown server": {
			"GET", "/api/tools?server=flies", "", 400, "invalid",
			`there are no tools of a server "flies"`,
		},
		"unknown category": {
			"GET", "/api/tools?server=files&category=none", "", 400, "invalid",
			`there are no tools of a category "none"`,
		},
		"page limit":          {"GET", "/api/tools?limit=1001", "", 400, "invalid", "limit is not from 1 to 1000"},
		"no parameters taken": {"GET", "/api/tools/categories?x=1", "", 400, "invalid", "x is not a known parameter"},
		"no parameters of tool": {
			"GET", "/api/tools/files/read_file?x=1", "", 400, "invalid",
			"x is not a known parameter",
		},
		"no parameters there": {"GET", "/api/servers?x=1", "", 400, "invalid", "x is not a known parameter"},
		"unknown tool": {
			"GET", "/api/tools/files/red_file", "", 404, "not_found",
			`no tool is named "files/red_file"`,
		},
		"ambiguous tool":        {"GET", "/api/tools/write_file", "", 400, "invalid", "is ambiguous"},
		"no tool":               {"GET", "/api/tools/", "", 404, "not_found", "no tool is named"},
		"call of unknown tool":  {"POST", "/api/tools/files/nope/call", `{}`, 404, "not_found", "no tool is named"},
		"call of disabled tool": {"POST", "/api/tools/files/old/call", `{}`, 403, "denied", "files/old is disabled"},
		"call with a list": {
			"POST", "/api/tools/files/read_file/call", `{"arguments":[]}`, 400, "invalid",
			"arguments is not an object",
		},
		"call with a word": {
			"POST", "/api/tools/files/read_file/call", `{"_meta":"x"}`, 400, "invalid",
			"_meta is not an object",
		},
		"call without a body": {
			"POST", "/api/tools/files/read_file/call", "", 415, "unsupported_media_type",
			"has no Content-Type: application/json",
		},
		"no mcp here": {"POST", "/mcp", "{}", 404, "not_found", "there is no such page"},
	} {
		t.Run(name, func(t *testing.T) {
			w := f.do(c.method, c.target, c.body)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			if c.status == http.StatusOK {
				return
			}
			p := readProblem(t, w)
			if p.Code != c.code || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("code %q, detail %q, want %q and one with %q", p.Code, p.Detail, c.code, c.detail)
			}
			if c.status == http.StatusMethodNotAllowed && w.Header().Get("Allow") == "" {
				t.Error("no Allow header")
			}
		})
	}
	if f.calls != nil {
		t.Errorf("a refused call reached the upstream: %v", f.calls)
	}
}

// problem reads an error answer and checks what all of them must have.
func readProblem(t *testing.T, w *httptest.ResponseRecorder) problem {
	t.Helper()
	var p problem
	dec := json.NewDecoder(w.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		t.Fatal(err)
	}
	if p.Type != "about:blank" || p.Title != http.StatusText(w.Code) || p.Status != w.Code || p.RequestID != "test" ||
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("not a whole problem: %+v, %v", p, w.Header())
	}
	return p
}

func TestTooManyNeeds(t *testing.T) {
	w := newFixture(t, nil).do("GET", "/search?q=a"+strings.Repeat("&q=a", 20), "")
	if p := readProblem(t, w); p.Code != "invalid" || p.Detail != "a query holds at most 20 needs" {
		t.Errorf("%+v", p)
	}
}

func TestAnswerThatIsNoJSON(t *testing.T) {
	f := newFixture(t, nil)
	f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
		return &tool.CallResult{Raw: json.RawMessage(`{"content":`)}, nil
	}
	if p := readProblem(t, f.do("POST", "/api/tools/files/read_file/call", "{}")); p.Code != "unavailable" {
		t.Errorf("%+v", p)
	}
}

func FuzzRequests(f *testing.F) {
	f.Add("q=a&limit=3", `{"query":"a"}`)
	f.Add("q=%zz&&q=;", `{"query":[null],"limit":1e99}`)
	f.Add("q=a&explain", `{"query":{"a":[]},"server":7}`)
	f.Fuzz(func(t *testing.T, query, body string) {
		fix := newFixture(t, nil)
		fix.o.Logger = slog.New(slog.DiscardHandler)
		for _, target := range []string{"/search", "/api/tools"} {
			req := httptest.NewRequest("GET", target, nil)
			req.URL.RawQuery = query
			req.Host = "localhost"
			w := httptest.NewRecorder()
			fix.Handler().ServeHTTP(w, req)
			if w.Code != http.StatusOK && w.Code != http.StatusBadRequest || !json.Valid(w.Body.Bytes()) {
				t.Errorf("GET %s?%s: %d %s", target, query, w.Code, w.Body)
			}
		}
		for _, target := range []string{"/search", "/api/tools/files/read_file/call"} {
			w := fix.do("POST", target, body+" ")
			if w.Code != http.StatusOK && w.Code != http.StatusBadRequest || !json.Valid(w.Body.Bytes()) {
				t.Errorf("POST %s %s: %d %s", target, body, w.Code, w.Body)
			}
		}
	})
}
