package search

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/cmd/tooldex/demo"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// demoTools are the tools of the demo catalogue, read once. They are not changed.
var demoTools = sync.OnceValues(func() ([]*tool.Tool, error) {
	files, err := fs.Glob(demo.FS, "*.yaml")
	if err != nil {
		return nil, err
	}
	var out []*tool.Tool
	for _, name := range files {
		b, err := demo.FS.ReadFile(name)
		if err != nil {
			return nil, err
		}
		content, err := sources.Parse(name, b)
		if err != nil {
			return nil, err
		}
		for _, s := range content.Sources {
			tools, err := s.Tools(context.Background())
			if err != nil {
				return nil, err
			}
			out = append(out, tools...)
		}
	}
	for _, t := range out {
		if _, err := sanitize.Tool(t); err != nil {
			return nil, err
		}
	}
	return out, nil
})

func demoCatalogue(t testing.TB) []*tool.Tool {
	t.Helper()
	tools, err := demoTools()
	if err != nil || len(tools) < 200 {
		t.Fatal(len(tools), err)
	}
	return slices.Clone(tools)
}

// TestDemoNames asks for every tool of the demo catalogue by its name, in every decoration that clients have, alone and
// within a request. The tool is first; where others of that name are meant as well, it is among those that come first.
func TestDemoNames(t *testing.T) {
	asksOften(t)
	e := engineOf(t, demoCatalogue(t))
	set := e.o.Lookup.Current().Set()
	words := func(name string) []string { return strings.Split(strings.ToLower(splitName(name)), "_") }
	camel := func(name string) string {
		parts := words(name)
		for i, p := range parts[1:] {
			if p != "" {
				parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
			}
		}
		return strings.Join(parts, "")
	}
	decorations := map[string]func(h *tool.Tool) string{
		"id":                   func(h *tool.Tool) string { return string(h.ID()) },
		"exposed":              func(h *tool.Tool) string { return set.Exposed(h.ID()) },
		"mcp__x__name":         func(h *tool.Tool) string { return "mcp__" + h.Server + "__" + h.Name },
		"mcp_x_name":           func(h *tool.Tool) string { return "mcp_" + h.Server + "_" + h.Name },
		"x:name":               func(h *tool.Tool) string { return h.Server + ":" + h.Name },
		"x.name":               func(h *tool.Tool) string { return h.Server + "." + h.Name },
		"X/NAME":               func(h *tool.Tool) string { return strings.ToUpper(string(h.ID())) },
		"alias":                func(h *tool.Tool) string { return "mcp__myown__" + h.Name },
		"call":                 func(h *tool.Tool) string { return h.Server + "." + h.Name + `(path="a b")` },
		"alone":                func(h *tool.Tool) string { return h.Name },
		"words":                func(h *tool.Tool) string { return strings.Join(words(h.Name), " ") },
		"camel case":           func(h *tool.Tool) string { return camel(h.Name) },
		"with a question mark": func(h *tool.Tool) string { return h.Name + "?" },
		"in a request, id": func(h *tool.Tool) string {
			return "please run " + string(h.ID()) + " for the report of June"
		},
		"in a request, mcp__": func(h *tool.Tool) string {
			return "call mcp__" + h.Server + "__" + h.Name + ", it is what the report of June needs"
		},
		"in a request, x:name": func(h *tool.Tool) string {
			return "the report of June (" + h.Server + ":" + h.Name + ") is late"
		},
		"in a request, quoted": func(h *tool.Tool) string { return "for the report of June use `" + h.Name + "`." },
		"in a request, called": func(h *tool.Tool) string {
			return "use " + h.Server + "." + h.Name + "(x=1) for the report of June"
		},
		"in a request, exposed": func(h *tool.Tool) string {
			return "is " + set.Exposed(h.ID()) + " of use for the report of June?"
		},
	}
	for name, decorate := range decorations {
		t.Run(name, func(t *testing.T) {
			for i, h := range set.All() {
				if i%5 != len(name)%5 { // a fifth of the tools in each decoration
					continue
				}
				if h.Deprecated != "" && name == "words" { // such a request finds the replacement first
					continue
				}
				text := decorate(h)
				if h.Disabled {
					if slices.Contains(hitIDs(mustSearch(t, e, tool.Query{Text: text}).Tools), h.ID()) {
						t.Errorf("%q finds a disabled tool", text)
					}
					continue
				}
				r := mustSearch(t, e, tool.Query{Text: text, Detail: tool.DetailName, Limit: 20, Explain: true})
				exact := slices.DeleteFunc(slices.Clone(r.Tools), func(x tool.Hit) bool { return !x.Explain.Exact })
				if !slices.Contains(hitIDs(exact), h.ID()) || !r.Tools[0].Explain.Exact || !r.Confident {
					t.Errorf("%q finds %v, by name %v", text, hitIDs(r.Tools[:min(3, len(r.Tools))]), hitIDs(exact))
				}
				for _, x := range exact {
					if x.ID != h.ID() && !strings.EqualFold(strings.Join(words(x.Name), ""),
						strings.Join(words(h.Name), "")) {
						t.Errorf("%q counts as the name of %s", text, x.ID)
					}
				}
			}
		})
	}
}

// TestWordsAreNoNames holds that what is ordinary language names no tool, though a tool may be spelled like it.
func TestWordsAreNoNames(t *testing.T) {
	set := tool.NewSet([]*tool.Tool{
		{Server: "web", Name: "search"},
		{Server: "web", Name: "fetch"},
		{Server: "crm", Name: "follow_up"},
		{Server: "media", Name: "youtube"},
		{Server: "shell", Name: "readwrite"},
		{Server: "js", Name: "nodejs"},
		{Server: "chat", Name: "ask_codex"},
		{Server: "notes", Name: "notion-search"},
	}, "")
	for text, want := range map[string][]string{
		"search the web for news":                 nil,
		"fetch the follow-up letters":             nil,
		"find a YouTube video":                    nil,
		"(see the read-write lock)":               nil,
		"what does ask_codex do":                  {"ask_codex"},
		"ask-codex":                               {"ask_codex"},
		"ask askCodex about it":                   {"ask_codex"},
		"tell AskCodex and ask-codex":             {"ask_codex"},
		"“search” for it":                         {"search"},
		"'fetch', then `search`":                  {"fetch", "search"},
		"use notion-search to find it":            {"notion-search"},
		"follow_up!":                              {"follow_up"},
		"functions.ask_codex":                     {"ask_codex"},
		"mcp__other__fetch":                       {"fetch"},
		"other.fetch":                             nil,
		"a/b and 1.5 or __ or :: and http://x.y/": nil,
		"":        nil,
		"_":       nil,
		"…":       nil,
		"`":       nil,
		"``":      nil,
		"`search": {"search"}, // as a whole it is the name, with something around it
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, i := range namedTools(set, text, nil) {
				got = append(got, set.All()[i].Name)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("names %q, want %q", got, want)
			}
		})
	}
}

func FuzzNamed(f *testing.F) {
	for _, s := range []string{
		"create_issue", "use forge:create_issue(x) now", "`a`", "mcp__a__b", "é_è.ü/",
		"\xff_\xfe", "aB cD",
	} {
		f.Add(s)
	}
	set := tool.NewSet([]*tool.Tool{{Server: "forge", Name: "create_issue"}, {Server: "é", Name: "aB"}}, "")
	f.Fuzz(func(t *testing.T, text string) {
		got := namedTools(set, text, nil)
		if slices.ContainsFunc(got, func(i int) bool { return i < 0 || i >= set.Len() }) || len(got) > set.Len() {
			t.Errorf("%q names %v", text, got)
		}
	})
}

// TestServersAndCategoriesSteer names a server or a category beside what is wanted: its tool comes first, and the
// others stay. Two of the tools are one, so that only one of them is shown.
func TestServersAndCategoriesSteer(t *testing.T) {
	tools := append(catalogue(t),
		&tool.Tool{
			Server: "gitlab", Name: "create_issue", Description: "Create a new issue in a project",
			Category: "development",
		},
		&tool.Tool{
			Server: "jira", Name: "create_issue", Description: "File an issue, an epic or a story on a board",
			Category: "planning",
		},
		&tool.Tool{
			Server: "redmine", Name: "create_issue", Description: "Create a new issue in a project",
			Category: "support",
		},
	)
	e := engineOf(t, tools)
	for text, want := range map[string]tool.ID{
		"create issue in gitlab":             "gitlab/create_issue",
		"open a new issue on jira":           "jira/create_issue",
		"redmine: create a new issue":        "redmine/create_issue",
		"create a new issue for support":     "redmine/create_issue",
		"create a new issue, planning":       "jira/create_issue",
		"create_issue with the jira account": "jira/create_issue",
		"please create an issue in GitLab":   "gitlab/create_issue",
	} {
		t.Run(text, func(t *testing.T) {
			hits := mustSearch(t, e, tool.Query{Text: text, Limit: 10}).Tools
			got := hitIDs(hits)
			for _, h := range hits {
				got = append(got, h.Duplicates...)
			}
			if got[0] != want {
				t.Errorf("found %v", got)
			}
			for _, other := range []tool.ID{
				"gitlab/create_issue", "jira/create_issue", "redmine/create_issue",
				"forge/create_issue",
			} {
				if !slices.Contains(got, other) {
					t.Errorf("%s is left out: %v", other, got)
				}
			}
		})
	}
}
