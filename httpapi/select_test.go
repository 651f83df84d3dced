package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/selection"
	"tooldex/tool"
)

// chooser selects what is asked for by name, and keeps preferences in memory.
type chooser struct {
	mu       sync.Mutex
	queries  []selection.Query
	called   []string
	kept     map[string]selection.Preferences
	versions map[string]uint64
	race     int // how often another is faster
}

func (c *chooser) Select(_ context.Context, q selection.Query) (*selection.Selection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queries = append(c.queries, q)
	if q.Profile == "nobody" {
		return nil, &tool.Error{Code: tool.NotFound, Msg: "there is no profile nobody"}
	}
	res := &selection.Selection{
		Format: q.Format, Mode: q.Mode, Tools: []json.RawMessage{}, Selected: []selection.Selected{},
		AllTools: 9, AllTokens: 99, Tokens: 9, Saved: 90,
	}
	for _, name := range q.Explicit {
		res.Tools = append(res.Tools, json.RawMessage(`{"name":"<`+name+`>","n":1.50}`))
		res.Selected = append(res.Selected, selection.Selected{ID: tool.ID(name), Name: name, Source: selection.FromExplicit})
	}
	return res, nil
}

func (c *chooser) Called(profile, session string, id tool.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = append(c.called, fmt.Sprintf("%s|%s|%s", profile, session, id))
}

func (c *chooser) Preferences(_ context.Context, profile string) (selection.Preferences, uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if profile == "nobody" {
		return selection.Preferences{}, 0, &tool.Error{Code: tool.NotFound, Msg: "there is no profile nobody"}
	}
	return c.kept[profile], c.versions[profile], nil
}

func (c *chooser) SetPreferences(_ context.Context, profile string, base uint64, p selection.Preferences) (selection.Preferences,
	uint64, error,
) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Mode == "some" {
		return p, 0, &tool.Error{Code: tool.Invalid, Msg: "mode is wrong"}
	}
	if c.kept == nil {
		c.kept, c.versions = map[string]selection.Preferences{}, map[string]uint64{}
	}
	if c.race > 0 {
		c.race--
		c.versions[profile]++
	}
	if base != c.versions[profile] {
		return p, 0, fmt.Errorf("store: %w", tool.ErrConflict)
	}
	c.versions[profile]++
	c.kept[profile] = p
	return p, c.versions[profile], nil
}

func choosing(c *chooser) func(*Options) {
	return func(o *Options) { o.Selector, o.Preferences = c, c }
}

func TestSelect(t *testing.T) {
	c := &chooser{}
	f := newFixture(t, choosing(c))
	w := f.do("POST", "/api/tools/select", `{"message":"read","history":[{"role":"user","content":"a file"}],"session":"s","task":"t","profile":"p","mode":"auto",
		"explicitTools":["a/b"],"maxTools":3,"tokenThreshold":400,"format":"anthropic","deferLoading":true,"toolReferences":true}`)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"tools":[{"name":"<a/b>","n":1.50}]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	want := selection.Query{
		Profile: "p", Message: "read", History: []selection.Turn{{Role: "user", Content: "a file"}}, Session: "s", Task: "t",
		Mode:     selection.ModeAuto,
		Explicit: []string{"a/b"}, MaxTools: 3, TokenThreshold: 400, Format: selection.FormatAnthropic, Defer: true,
		References: true,
	}
	if diff := gocmp.Diff(want, c.queries[0]); diff != "" {
		t.Errorf("asked (-want +got)\n%s", diff)
	}
	if w := f.do("POST", "/api/tools/select", `{"message":"x"}`, "X-Session-Id",
		"of the header"); w.Code != http.StatusOK || c.queries[1].Session != "of the header" {
		t.Errorf("%d, session %q", w.Code, c.queries[1].Session)
	}
	for body, status := range map[string]int{
		`{"message":1}`: 400, `{"no":1}`: 400, `{`: 400,
		`{"profile":"nobody"}`: 404,
	} {
		if w := f.do("POST", "/api/tools/select", body); w.Code != status {
			t.Errorf("%s: %d %s, want %d", body, w.Code, w.Body, status)
		}
	}
	if w := newFixture(t, func(o *Options) { o.Selector, o.Preferences = nil, nil }).do("POST", "/api/tools/select",
		`{}`); w.Code != http.StatusNotFound {
		t.Errorf("without a selector: %d", w.Code)
	}
}

// TestCallsAreTold holds that a selector hears of calls, with the conversation that they belong to.
func TestCallsAreTold(t *testing.T) {
	c := &chooser{}
	f := newFixture(t, func(o *Options) { choosing(c)(o); o.Profile = "p" })
	f.do("POST", "/api/tools/files/read_file/call", `{}`, "X-Session-Id", "s")
	f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
		return &tool.CallResult{Raw: json.RawMessage(`{"isError":true}`), IsError: true}, nil
	}
	f.do("POST", "/api/tools/files/read_file/call", `{}`)
	if diff := gocmp.Diff([]string{"p|s|files/read_file"}, c.called); diff != "" {
		t.Error(diff)
	}
}

// TestServerOfOneProfile knows of no other.
func TestServerOfOneProfile(t *testing.T) {
	c := &chooser{}
	f := newFixture(t, func(o *Options) { choosing(c)(o); o.Profile = "p" })
	for target, status := range map[string]int{
		preferencesPath: 200, preferencesPath + "?profile=p": 200,
		preferencesPath + "?profile=q": 404,
	} {
		if w := f.do("GET", target, ""); w.Code != status {
			t.Errorf("%s: %d, want %d", target, w.Code, status)
		}
	}
	if w := f.do("POST", "/api/tools/select", `{"message":"x","profile":"q"}`); w.Code != http.StatusNotFound ||
		len(c.queries) > 0 {
		t.Errorf("%d, %v", w.Code, c.queries)
	}
	f.do("PUT", preferencesPath, `{"maxTools":3}`)
	if c.kept["p"].MaxTools != 3 {
		t.Errorf("kept %+v", c.kept)
	}
	f.do("POST", "/api/tools/select", `{"message":"x"}`)
	if c.queries[0].Profile != "p" {
		t.Errorf("%+v", c.queries)
	}
}

func TestPreferences(t *testing.T) {
	c := &chooser{}
	f := newFixture(t, choosing(c))
	step := func(name, method, target, body string, status int, tag string, headers ...string) string {
		t.Helper()
		w := f.do(method, target, body, headers...)
		if w.Code != status || tag != "" && w.Header().Get("ETag") != tag {
			t.Errorf("%s: %d with tag %s, want %d with %s: %s", name, w.Code, w.Header().Get("ETag"), status, tag,
				w.Body)
		}
		return w.Body.String()
	}
	const all = preferencesPath
	step("before the first", "GET", all, "", 200, `"0"`)
	step("the first", "PUT", all, `{"maxTools":7,"neverInclude":["a/b"]}`, 200, `"1"`, "If-Match", `"0"`)
	step("two firsts", "PUT", all, `{}`, 412, "", "If-Match", `"0"`)
	step("of a tag that is not ours", "PUT", all, `{}`, 412, "", "If-Match", `W/"1"`)
	if got := step("read", "GET", all, "", 200, `"1"`); got != `{"neverInclude":["a/b"],"maxTools":7}`+"\n" {
		t.Errorf("kept %s", got)
	}
	step("not changed", "GET", all, "", 304, `"1"`, "If-None-Match", `"1"`)
	step("changed", "GET", all, "", 200, `"1"`, "If-None-Match", `"0"`)
	step("of a profile", "PUT", all+"?profile=p", `{"mode":"all"}`, 200, `"1"`)
	step("wrong", "PUT", all, `{"mode":"some"}`, 400, "")
	step("unknown field", "PUT", all, `{"moda":"all"}`, 400, "")
	step("unknown parameter", "GET", all+"?profil=p", "", 400, "")
	step("unknown profile", "PUT", all+"?profile=nobody", `{}`, 404, "")
	c.race = 3
	step("whatever is there", "PUT", all, `{"maxTools":8}`, 200, `"5"`)
	c.race = 1
	step("another was faster", "PUT", all, `{"maxTools":9}`, 412, "", "If-Match", `"5"`)
	if w := newFixture(t, func(o *Options) { o.Preferences = nil }).do("GET", all, ""); w.Code != http.StatusNotFound {
		t.Errorf("without preferences: %d", w.Code)
	}
}

// TestTags asks for each answer again with its tag, and for one with another's.
func TestTags(t *testing.T) {
	f := newFixture(t, nil)
	for _, target := range []string{
		"/search?q=read", "/api/tools", "/api/tools/files/read_file",
		"/api/tools/categories", "/api/servers", "/openapi.json", preferencesPath,
	} {
		first := f.do("GET", target, "")
		tag := first.Header().Get("ETag")
		if first.Code != http.StatusOK || tag == "" || first.Header().Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: %d with tag %q, %q", target, first.Code, tag, first.Header().Get("Cache-Control"))
		}
		for _, list := range []string{tag, `"other", ` + tag, strings.TrimPrefix(tag, "W/"), "*"} {
			if w := f.do("GET", target, "", "If-None-Match", list); w.Code != http.StatusNotModified ||
				w.Body.Len() > 0 || w.Header().Get("ETag") != tag {
				t.Errorf("%s: %s gives %d with %d bytes", target, list, w.Code, w.Body.Len())
			}
		}
		if w := f.do("GET", target, "", "If-None-Match", `W/"other"`); w.Code != http.StatusOK ||
			w.Body.String() != first.Body.String() {
			t.Errorf("%s: another tag gives %d", target, w.Code)
		}
	}
	before := f.do("GET", "/api/tools", "").Header().Get("ETag")
	f.set = tool.NewSet(testTools()[1:], "")
	if w := f.do("GET", "/api/tools", "", "If-None-Match", before); w.Code != http.StatusOK {
		t.Errorf("the tools have changed, and it gives %d", w.Code)
	}
	if w := f.do("POST", "/search", `{"query":"read"}`); w.Header().Get("ETag") != "" {
		t.Error("the answer to a POST has a tag")
	}
	zipped := f.do("GET", "/openapi.json", "", "Accept-Encoding", "gzip")
	if zipped.Header().Get("Content-Encoding") != "gzip" || zipped.Header().Get("ETag") == "" {
		t.Errorf("%v", zipped.Header())
	}
}
