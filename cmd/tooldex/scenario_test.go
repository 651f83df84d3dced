package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tooldex/tool"
)

// searchDemo asks the demo catalogue from the command line.
func searchDemo(t *testing.T, query string) *tool.Result {
	t.Helper()
	var res tool.Result
	if err := json.Unmarshal([]byte(runCommand(t, t.TempDir(), "search", "--demo", "-o", "json", query)),
		&res); err != nil {
		t.Fatal(err)
	}
	return &res
}

func names(hits []tool.Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.Name
	}
	return out
}

// TestPhrases puts the requests that agents make to the demo catalogue: each must find its tools among the first five.
func TestPhrases(t *testing.T) {
	tests := []struct {
		query string
		want  []string
		first bool // the tool must come first
	}{
		{query: "Read package.json", want: []string{"read_file"}},
		{query: "List all files", want: []string{"list_directory"}},
		{query: "Run npm install", want: []string{"execute_command"}},
		{query: "Search for TODOs", want: []string{"search_files", "find_todos"}},
		{query: "bug report", want: []string{"create_issue"}},
		{query: "create issue", want: []string{"create_issue"}, first: true},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			res := searchDemo(t, tt.query)
			got := names(res.Tools)
			for _, want := range tt.want {
				if at := slices.Index(got, want); at < 0 || tt.first && at != 0 {
					t.Errorf("%s is not where it should be in %v", want, got)
				}
			}
			if !res.Confident {
				t.Error("the answer is not confident")
			}
		})
	}
}

func TestBrowserRequest(t *testing.T) {
	res := searchDemo(t, "open the login page in a browser, fill in the form and click the button")
	for _, h := range res.Tools {
		if h.Server != "browser" {
			t.Errorf("%s of %s is among the browser's tools", h.Name, h.Server)
		}
	}
	if len(res.Tools) == 0 {
		t.Error("nothing was found")
	}
}

// TestNothingFits wants an answer that says it has none, to people, to programs and to agents.
func TestNothingFits(t *testing.T) {
	const query = "draw me a horoscope"
	if res := searchDemo(t, query); res.Confident || res.Advice == nil || res.Advice.Message == "" {
		t.Errorf("confident %v, advice %v", res.Confident, res.Advice)
	}
	if got := runCommand(t, t.TempDir(), "search", "--demo", query); !strings.Contains(got, "Not confident") {
		t.Errorf("a person reads\n%s", got)
	}
	c := connectStdio(t, t.TempDir(), "serve", "--demo", "--stdio")
	got := strings.ToLower(c.text("search_tools", map[string]any{"query": query}))
	if !strings.Contains(got, "no tool") && !strings.Contains(got, "not confident") &&
		!strings.Contains(got, "confident: false") {
		t.Errorf("an agent reads\n%s", got)
	}
}

// small is a server of the demo with 12 tools.
const small = "filesystem"

// TestLazyLoading measures what an agent reads of a small server: names first, one description when it is needed.
func TestLazyLoading(t *testing.T) {
	c := connectStdio(t, t.TempDir(), "serve", "--demo", "--stdio")
	list, best := "", time.Hour
	for range 5 { // the best of several, so that a busy machine does not decide
		start := time.Now()
		list = c.text("list_available_tools", map[string]any{"server": small})
		best = min(best, time.Since(start))
	}
	if n := countTokens(list); n > 500 {
		t.Errorf("the list has %d tokens, want at most 500", n)
	}
	if best > 100*time.Millisecond {
		t.Errorf("the list takes %v, want less than 100 ms", best)
	}
	var plain []listed
	if err := json.Unmarshal([]byte(runCommand(t, t.TempDir(), "list", "--demo", "--server", small, "-o", "json")),
		&plain); err != nil {
		t.Fatal(err)
	}
	if len(plain) != 12 {
		t.Fatalf("%d tools, want 12", len(plain))
	}
	all, dearest := 0, 0
	for _, p := range plain {
		if !strings.Contains(list, p.Name) {
			t.Errorf("the list leaves out %s", p.Name)
		}
		full := c.text("get_tool_description", map[string]any{"name": p.Exposed})
		n := countTokens(full)
		if n > 400 {
			t.Errorf("the description of %s has %d tokens, want at most 400:\n%s", p.Name, n, full)
		}
		if !strings.Contains(strings.ToLower(full), "example") {
			t.Errorf("the description of %s has no example:\n%s", p.Name, full)
		}
		all, dearest = all+p.Tokens, max(dearest, n)
	}
	if read := countTokens(list) + dearest; float64(read) > .6*float64(all) {
		t.Errorf("an agent reads %d tokens, the plain listing has %d: less than 40 %% are saved", read, all)
	}
	res := c.call("get_tool_description", map[string]any{"name": "raed_file"})
	if text := textOf(res); !res.IsError || !strings.Contains(text, "read_file") {
		t.Errorf("an unknown tool gives %s", text)
	}
}

// countTokens estimates how many tokens a model reads for s: characters / 4, rounded up.
func countTokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }
