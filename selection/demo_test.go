package selection_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"tooldex/catalog"
	"tooldex/cmd/tooldex/demo"
	"tooldex/index"
	"tooldex/search"
	"tooldex/selection"
	"tooldex/tool"
)

// fixedSet is a catalogue that does not change.
type fixedSet struct{ set *tool.Set }

func (f fixedSet) Set() *tool.Set { return f.set }

type snapshot struct{ s *index.Snapshot }

func (s snapshot) Current() *index.Snapshot { return s.s }

var builtin = sync.OnceValues(catalog.BuiltinModel)

// real are the options of a selector over some tools, with the search of the program.
func real(t testing.TB, tools []*tool.Tool) selection.Options {
	t.Helper()
	m, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	set := tool.NewSet(tools, "")
	snap, err := catalog.NewSnapshot(context.Background(), set, m, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine := search.New(search.Options{Lookup: snapshot{snap}, Embedder: m.Embedder, Base: m.Base, Map: m.Encoder})
	return selection.Options{Searcher: engine, Catalog: fixedSet{set}, Embedder: m.Embedder}
}

func choose(t testing.TB, s *selection.Selector, q selection.Query) *selection.Selection {
	t.Helper()
	res, err := s.Select(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func has(res *selection.Selection, id tool.ID) bool {
	return slices.ContainsFunc(res.Selected, func(s selection.Selected) bool { return s.ID == id })
}

// TestScenarios holds what messages of every day are given: the tools that they need, and how little that costs.
func TestScenarios(t *testing.T) {
	all := demoTools(t)
	var few []*tool.Tool // of an agent that writes programs
	for _, one := range all {
		if slices.Contains([]string{"filesystem", "shell", "codebase", "browser", "web"}, one.Server) {
			few = append(few, one)
		}
	}
	if len(few) < 40 {
		t.Fatalf("%d tools are too few to tell", len(few))
	}
	whole, part := selection.NewSelector(real(t, all)), selection.NewSelector(real(t, few))
	for _, c := range []struct {
		message string
		from    *selection.Selector
		saved   float64
		need    []tool.ID
	}{
		{"Read package.json", whole, .95, []tool.ID{"filesystem/read_file"}},
		{"List all files", whole, .95, []tool.ID{"filesystem/list_directory"}},
		{"Run npm install", whole, .95, []tool.ID{"shell/execute_command"}},
		{"Search for TODOs", whole, .90, []tool.ID{"codebase/find_todos"}},
		{"Full refactoring", whole, .60, []tool.ID{
			"codebase/rename_symbol", "codebase/extract_function",
			"codebase/move_symbol",
		}},
		{
			"Open the login page, fill in the form, submit it and take a screenshot", part, .85,
			[]tool.ID{
				"browser/browser_navigate", "browser/browser_fill_form", "browser/browser_click",
				"browser/browser_take_screenshot",
			},
		},
	} {
		res := choose(t, c.from, selection.Query{Message: c.message})
		if saved := float64(res.Saved) / float64(res.AllTokens); saved < c.saved {
			t.Errorf("%s: %.3f of the tokens are saved, want %.2f", c.message, saved, c.saved)
		}
		for _, id := range c.need {
			if !has(res, id) {
				t.Errorf("%s: %s is not selected", c.message, id)
			}
		}
	}
}

// TestLiftsDoNoHarm holds over the labelled requests of the demo that as many of the tools that they need are selected
// with lifts as without, also after other tools were called; and that the cache takes none away.
func TestLiftsDoNoHarm(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	o := real(t, demoTools(t))
	recall := func(change func(*selection.Options), used ...tool.ID) float64 {
		with := o
		change(&with)
		s := selection.NewSelector(with)
		for _, id := range used {
			s.Called("", id)
		}
		met, n := 0., 0.
		for _, c := range demoRequests(t) {
			res := choose(t, s, selection.Query{Message: c.Query})
			for _, name := range c.Relevant {
				one, err := with.Catalog.Set().Resolve(name)
				if err != nil {
					t.Fatal(err)
				}
				n++
				if has(res, one.ID()) {
					met++
				}
			}
		}
		return met / n
	}
	plain := recall(func(o *selection.Options) { o.NoLifts, o.CacheSize = true, -1 })
	lifted := recall(func(o *selection.Options) { o.CacheSize = -1 })
	busy := recall(func(*selection.Options) {}, "browser/browser_click", "github/create_issue", "email/send_email",
		"postgres/query")
	if lifted < plain || busy < plain-.005 || plain < .8 {
		t.Errorf("recall %.4f plain, %.4f with lifts, %.4f with lifts, other tools in use and a cache", plain, lifted,
			busy)
	}
}

type request struct {
	Query    string   `json:"query"`
	Relevant []string `json:"relevant"`
}

func demoRequests(t testing.TB) []request {
	t.Helper()
	files, err := fs.Glob(demo.FS, "*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	var out []request
	for _, name := range files {
		b, err := demo.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
			var r request
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
	}
	return out
}

// TestMeaning holds that the same need in other words is known again, and another need in nearly the same words is not.
func TestMeaning(t *testing.T) {
	o := real(t, demoTools(t))
	for _, c := range []struct {
		first, second string
		cached        bool
	}{
		{"send an email to the team", "please send an email to the team", true},
		{"send an email to the team", "Send an email to the team", true},
		{"create a branch called fix", "delete a branch called fix", false},
		{"list the files in this folder", "list the issues in this folder", false},
		{"send an email to the team", "what is the weather", false},
	} {
		s := selection.NewSelector(o)
		choose(t, s, selection.Query{Message: c.first})
		if got := choose(t, s, selection.Query{Message: c.second}); got.Cached != c.cached {
			t.Errorf("%q after %q: cached %v", c.second, c.first, got.Cached)
		}
		if c.cached {
			got := choose(t, s, selection.Query{Message: c.second})
			if !slices.ContainsFunc(got.Selected, func(s selection.Selected) bool { return s.Source == selection.FromCache }) {
				t.Errorf("%q: nothing is said to be from the cache", c.second)
			}
		}
	}
}
