package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/index"
	"tooldex/tool"
)

func TestQueryErrors(t *testing.T) {
	e := engineOf(t, catalogue(t)[:3])
	for name, c := range map[string]struct {
		q    tool.Query
		want tool.Code
		says string
	}{
		"no text":                {tool.Query{}, tool.Invalid, "empty"},
		"only space":             {tool.Query{Text: " \t\n\u00a0"}, tool.Invalid, "empty"},
		"only what is not UTF-8": {tool.Query{Text: "\xff\xfe"}, tool.Invalid, "empty"},
		"needs without text":     {tool.Query{Text: "ignored", Texts: []string{"", " "}}, tool.Invalid, "empty"},
		"negative limit":         {tool.Query{Text: "a", Limit: -1}, tool.Invalid, "limit"},
		"unknown mode":           {tool.Query{Text: "a", Mode: "fuzzy"}, tool.Invalid, "fuzzy"},
		"unknown detail":         {tool.Query{Text: "a", Detail: "everything"}, tool.Invalid, "everything"},
		"too many needs":         {tool.Query{Texts: make([]string, 21)}, tool.Invalid, "needs"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := e.Search(t.Context(), c.q)
			if tool.CodeOf(err) != c.want || r != nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, %v, want %v that says %s", r, err, c.want, c.says)
			}
			if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Hint == "" {
				t.Errorf("no hint in %v", err)
			}
		})
	}
}

func TestQueryTexts(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for name, text := range map[string]string{
		"spaces around and within": "  create \n\t issue  ",
		"not UTF-8 in it":          "create\xffissue",
		"longer than is read": "create issue" + strings.Repeat(" ", maxQuery) +
			strings.Repeat("weather forecast ", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			r := mustSearch(t, e, tool.Query{Text: text})
			if r.Query != "create issue" || r.Tools[0].ID != "forge/create_issue" {
				t.Errorf("query %q finds %v", r.Query, hitIDs(r.Tools))
			}
		})
	}
	t.Run("cut in the middle of a character", func(t *testing.T) {
		r := mustSearch(t, e, tool.Query{Text: strings.Repeat("ы", maxQuery)})
		if strings.ContainsRune(r.Query, '\uFFFD') || len(r.Query) > maxQuery {
			t.Errorf("%d bytes, ending in %q", len(r.Query), r.Query[len(r.Query)-4:])
		}
	})
}

func TestLimits(t *testing.T) {
	e := engineOf(t, archetypeTools(t, 150))
	for limit, want := range map[int]int{
		0: tool.DefaultLimit, 1: 1, 7: 7, tool.MaxLimit: tool.MaxLimit,
		5000: tool.MaxLimit,
	} {
		if got := len(mustSearch(t, e, tool.Query{
			Text:  "list the items of a project",
			Limit: limit,
		}).Tools); got != want {
			t.Errorf("limit %d gives %d tools, want %d", limit, got, want)
		}
	}
}

func TestDetails(t *testing.T) {
	tools := catalogue(t)
	tools[0].OutputSchema = []byte(`{"type":"object"}`)
	e := engineOf(t, tools)
	last := 0
	for _, c := range []struct {
		detail                     tool.Detail
		summary, signature, schema bool
	}{
		{tool.DetailName, false, false, false},
		{tool.DetailSummary, true, false, false},
		{"", true, false, false},
		{tool.DetailSignature, true, true, false},
		{tool.DetailSchema, true, false, true},
	} {
		r := mustSearch(t, e, tool.Query{Text: "create issue", Detail: c.detail})
		h := r.Tools[0]
		if h.Name != "create_issue" || h.Server != "forge" || h.Exposed != "forge__create_issue" ||
			h.Category != "development" || h.Tool == nil {
			t.Errorf("%q: hit %+v", c.detail, h)
		}
		if (h.Summary != "") != c.summary || (h.Signature != "") != c.signature || (h.Schema != nil) != c.schema ||
			(h.Output != nil) != c.schema {
			t.Errorf("%q: hit %+v", c.detail, h)
		}
		if r.Tokens < last {
			t.Errorf("%q costs %d tokens, less detail %d", c.detail, r.Tokens, last)
		}
		if c.detail != "" && c.detail != tool.DetailSignature {
			last = r.Tokens
		}
	}
}

// TestNamesComeFirst writes the name of a tool in the ways in which clients do.
func TestNamesComeFirst(t *testing.T) {
	e := engineOf(t, append(catalogue(t), &tool.Tool{
		Server: "other", Name: "send_email_about_issue",
		Description: "Create issue create issue issue create.",
	}))
	for _, text := range []string{
		"create issue", "create_issue", "createIssue", "Create Issue", "CREATE-ISSUE", "create.issue",
		"forge/create_issue", "forge__create_issue", "mcp__forge__create_issue", "mcp_forge_create_issue",
		"forge:create_issue", "forge.create_issue", "  create_issue ",
	} {
		t.Run(text, func(t *testing.T) {
			for _, mode := range []tool.Mode{tool.Hybrid, tool.Keyword, tool.Semantic} {
				r := mustSearch(t, e, tool.Query{Text: text, Mode: mode, Explain: true})
				if len(r.Tools) == 0 || r.Tools[0].ID != "forge/create_issue" || !r.Confident {
					t.Fatalf("%s: %v, confident %v", mode, hitIDs(r.Tools), r.Confident)
				}
				if h := r.Tools[0]; h.Score != 1 || !h.Explain.Exact {
					t.Errorf("%s: score %v, exact %v", mode, h.Score, h.Explain.Exact)
				}
				for _, h := range r.Tools[1:] {
					if h.Explain.Exact || h.Score >= 1 && h.ID != "other/send_email_about_issue" {
						t.Errorf("%s: %s, which is not named, scores %v", mode, h.ID, h.Score)
					}
				}
			}
		})
	}
}

// TestSharedName asks for a name that two servers have: both come first, in the order of their IDs.
func TestSharedName(t *testing.T) {
	e := engineOf(t, append(catalogue(t), &tool.Tool{
		Server: "tracker", Name: "createIssue",
		Description: "Put a ticket on the board.",
	}))
	r := mustSearch(t, e, tool.Query{Text: "create issue"})
	if got := hitIDs(r.Tools[:2]); !slices.Contains(got, "forge/create_issue") ||
		!slices.Contains(got, "tracker/createIssue") {
		t.Errorf("first two: %v", got)
	}
	if got := hitIDs(mustSearch(t, e, tool.Query{Text: "tracker create issue"}).Tools); got[0] != "tracker/createIssue" {
		t.Errorf("with its server named: %v", got)
	}
}

func TestFilters(t *testing.T) {
	tools := catalogue(t)
	e := engineOf(t, tools)
	for name, f := range map[string]tool.Filter{
		"a server":    {Servers: []string{"forge"}},
		"two servers": {Servers: []string{"mail", "ops"}},
		"a category":  {Categories: []string{"OFFICE"}},
		"read-only":   {ReadOnly: true},
		"a permission": {Allow: func(x *tool.Tool) bool {
			return strings.HasPrefix(x.Name, "list") || strings.HasPrefix(x.Name, "get")
		}},
		"all of them": {
			Servers: []string{"forge", "files", "chat", "db", "ops"}, ReadOnly: true,
			Allow: func(x *tool.Tool) bool { return x.Name != "get_logs" },
		},
		"disabled ones, too":     {Disabled: true},
		"everything but the top": {Allow: func(x *tool.Tool) bool { return x.Name != "create_issue" }},
	} {
		t.Run(name, func(t *testing.T) {
			passing := 0
			for _, x := range tools {
				if f.Match(x) {
					passing++
				}
			}
			for _, text := range []string{
				"create an issue for the developers", "delete the file and list the tables",
				"forge/create_issue",
			} {
				for _, q := range []tool.Query{{Text: text}, {Texts: []string{text, "send an email"}}} {
					q.Filter, q.Limit = f, 5
					r := mustSearch(t, e, q)
					if len(r.Tools) != min(5, passing) {
						t.Errorf("%q: %d tools of %d that pass", text, len(r.Tools), passing)
					}
					for _, h := range r.Tools {
						if !f.Match(h.Tool) {
							t.Errorf("%q: %s does not pass", text, h.ID)
						}
					}
				}
			}
		})
	}
	t.Run("nothing passes", func(t *testing.T) {
		nothing := func(*tool.Tool) bool { return false }
		r := mustSearch(t, e, tool.Query{Text: "create issue", Filter: tool.Filter{Allow: nothing}})
		if len(r.Tools) != 0 || r.Tools == nil || r.Confident || r.Advice == nil {
			t.Errorf("%+v", r)
		}
	})
}

// TestHiddenStaysHidden asks for what may not be seen in every way: nothing of the answer may tell that it is there.
func TestHiddenStaysHidden(t *testing.T) {
	e := engineOf(t, catalogue(t))
	without := engineOf(t, append(slices.DeleteFunc(catalogue(t), func(x *tool.Tool) bool {
		return x.Name == "drop_database"
	}), &tool.Tool{Server: "admin", Name: "nothing", Description: "Do nothing.", Disabled: true}))
	for _, q := range []tool.Query{
		{Text: "drop_database"},
		{Text: "admin/drop_database"},
		{Text: "drop a whole database without asking"},
		{Text: "admin__drop_database", Limit: 100},
		{Texts: []string{"drop database", "secret category"}},
		{Text: "drop the database and create an issue"},
		{Text: "secret-category"},
		{Text: "drop_database", Mode: tool.Keyword},
		{Text: "drop_database", Mode: tool.Semantic},
		{Text: "drop database", Filter: tool.Filter{Servers: []string{"admin"}}},
	} {
		q.Explain = true
		t.Run(q.Text+strings.Join(q.Texts, "; "), func(t *testing.T) {
			text := encoded(t, e, q)
			for _, tell := range []string{"secret-category", `"server":"admin"`, `"id":"admin/`, `"exposed":"admin__`} {
				if strings.Contains(strings.ReplaceAll(text, `"query":"`+q.Text+`"`, ""), tell) {
					t.Errorf("the answer holds %s", tell)
				}
			}
			have, had := mustSearch(t, e, q), mustSearch(t, without, q)
			if have.Confident && !had.Confident {
				t.Error("a hidden tool makes the answer confident")
			}
		})
	}
	shown := mustSearch(t, e, tool.Query{Text: "drop_database", Filter: tool.Filter{Disabled: true}})
	if shown.Tools[0].ID != "admin/drop_database" {
		t.Errorf("where disabled tools may be seen: %v", hitIDs(shown.Tools))
	}
}

func TestAdvice(t *testing.T) {
	e := engineOf(t, catalogue(t))
	r := mustSearch(t, e, tool.Query{Text: "book a flight to Lisbon with Zyxglorp"})
	if r.Confident {
		t.Fatalf("confident: %v", hitIDs(r.Tools))
	}
	a := r.Advice
	if len(a.Kinds) == 0 || len(a.Kinds) > maxKinds || !strings.Contains(a.Message, a.Kinds[0]) {
		t.Errorf("kinds %q, message %q", a.Kinds, a.Message)
	}
	if !slices.Contains(a.NotUnderstood, "zyxglorp") {
		t.Errorf("not understood: %q", a.NotUnderstood)
	}
	if len(a.Categories) == 0 || len(a.Categories) > maxCategories || len(r.Tools) == 0 {
		t.Errorf("categories %q, tools %v", a.Categories, hitIDs(r.Tools))
	}
	if mustSearch(t, e, tool.Query{Text: "send an email to Anna"}).Advice != nil {
		t.Error("advice where a tool fits")
	}
}

func TestModes(t *testing.T) {
	e := engineOf(t, catalogue(t))
	const text = "let the customer have her money back"
	k := mustSearch(t, e, tool.Query{Text: text, Mode: tool.Keyword, Explain: true})
	for _, h := range k.Tools {
		if h.Explain.Semantic != 0 || h.Explain.Keyword <= 0 {
			t.Errorf("keyword: %s has %+v", h.ID, h.Explain)
		}
	}
	s := mustSearch(t, e, tool.Query{Text: text, Mode: tool.Semantic, Explain: true})
	for _, h := range s.Tools {
		if h.Explain.Keyword != 0 || h.Explain.Semantic == 0 {
			t.Errorf("semantic: %s has %+v", h.ID, h.Explain)
		}
	}
	if k.Degraded != "" || s.Degraded != "" {
		t.Errorf("degraded: %q, %q", k.Degraded, s.Degraded)
	}
	if s.Tools[0].ID != "shop/refund_payment" {
		t.Errorf("semantic finds %v", hitIDs(s.Tools))
	}
}

// TestDegraded takes the model away: words go on finding, and the answer says so.
func TestDegraded(t *testing.T) {
	snap := snapshotOf(t, catalogue(t))
	full := options(t, snap)
	for name, change := range map[string]func(o *Options){
		"no embedder": func(o *Options) { o.Embedder = nil },
		"embedder fails": func(o *Options) {
			o.Embedder = failing{full.Embedder, errors.New("connection refused")}
		},
		"embedder says timeout":   func(o *Options) { o.Embedder = failing{full.Embedder, context.DeadlineExceeded} },
		"vectors of other widths": func(o *Options) { o.Embedder = narrow{full.Embedder} },
	} {
		t.Run(name, func(t *testing.T) {
			o := full
			change(&o)
			e := New(o)
			for _, mode := range []tool.Mode{tool.Hybrid, tool.Semantic} {
				for _, q := range []tool.Query{
					{Text: "refund the payment"},
					{Texts: []string{"refund the payment", "archive the mail"}},
					{Text: "refund the payment and archive the mail"},
				} {
					q.Mode = mode
					r := mustSearch(t, e, q)
					if r.Degraded == "" || strings.Contains(r.Degraded, "refused") {
						t.Errorf("%s: degraded is %q", mode, r.Degraded)
					}
					if len(r.Tools) == 0 || r.Tools[0].ID != "shop/refund_payment" {
						t.Errorf("%s: words find %v", mode, hitIDs(r.Tools))
					}
				}
			}
			if r := mustSearch(t, e, tool.Query{Text: "refund the payment", Mode: tool.Keyword}); r.Degraded != "" {
				t.Errorf("keyword mode is degraded: %q", r.Degraded)
			}
		})
	}
	t.Run("no knowledge", func(t *testing.T) {
		r := mustSearch(t, New(Options{Lookup: fixed{snap}, Embedder: full.Embedder}),
			tool.Query{Text: "refund the payment"})
		if r.Degraded != "" || r.Tools[0].ID != "shop/refund_payment" {
			t.Errorf("%q, %v", r.Degraded, hitIDs(r.Tools))
		}
	})
	t.Run("nothing but words", func(t *testing.T) {
		r := mustSearch(t, New(Options{Lookup: fixed{snap}}), tool.Query{Text: "refund the payment", Explain: true})
		if r.Degraded == "" || r.Tools[0].ID != "shop/refund_payment" {
			t.Errorf("%q, %v", r.Degraded, hitIDs(r.Tools))
		}
	})
}

func TestUnavailable(t *testing.T) {
	o := options(t, nil)
	o.Lookup = new(index.Index)
	_, err := New(o).Search(t.Context(), tool.Query{Text: "create issue"})
	if tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("without a snapshot: %v", err)
	}
	if _, err := New(o).Search(t.Context(), tool.Query{}); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("a bad query is bad even then: %v", err)
	}
}

func TestEmptyCatalogue(t *testing.T) {
	r := mustSearch(t, engineOf(t, nil), tool.Query{Text: "create issue and send an email"})
	if r.Tools == nil || len(r.Tools) != 0 || r.Confident {
		t.Errorf("%+v", r)
	}
}

func TestEndedContext(t *testing.T) {
	e := engineOf(t, catalogue(t)[:5])
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel2 := context.WithDeadline(t.Context(), past)
	defer cancel2()
	for name, ctx := range map[string]context.Context{"cancelled": cancelled, "expired": expired} {
		for _, q := range []tool.Query{
			{Text: "create issue"},
			{Texts: []string{"a b", "c d"}},
			{Text: "create issue", Mode: tool.Keyword},
		} {
			if r, err := e.Search(ctx, q); tool.CodeOf(err) != tool.Timeout || !errors.Is(err, ctx.Err()) {
				t.Errorf("%s: %v, %v", name, r, err)
			}
		}
	}
	t.Run("while embedding", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		o := options(t, snapshotOf(t, catalogue(t)[:5]))
		o.Embedder = ending{failing{o.Embedder, errors.New("gone")}, cancel}
		if _, err := New(o).Search(ctx, tool.Query{Text: "create issue"}); tool.CodeOf(err) != tool.Timeout {
			t.Errorf("%v", err)
		}
	})
}

func TestTexts(t *testing.T) {
	e := engineOf(t, catalogue(t))
	r := mustSearch(t, e, tool.Query{Text: "ignored", Texts: []string{
		"send an email", "  ", "check the weather",
		"draw me a horoscope",
	}, Limit: 6})
	var got []string
	for _, g := range r.Groups {
		got = append(got, fmt.Sprintf("%s %v %v", g.Query, g.Confident, g.Advice == nil))
	}
	want := []string{"send an email true true", "check the weather true true", "draw me a horoscope false false"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("groups (-want +got):\n%s", d)
	}
	if r.Confident {
		t.Error("confident, though one need is not served")
	}
	if got := hitIDs(r.Tools); len(got) != 6 || got[0] != "mail/send_email" || got[1] != "weather/get_forecast" {
		t.Errorf("tools %v", got)
	}
	checkGroups(t, r)
	for limit, n := range map[int]int{1: 3, 2: 3, 4: 4, 100: 43} {
		q := tool.Query{Texts: []string{"send an email", "check the weather", "draw me a horoscope"}, Limit: limit}
		r := mustSearch(t, e, q)
		if len(r.Tools) > n || len(r.Tools) < min(n, 10) {
			t.Errorf("limit %d gives %d tools, want %d", limit, len(r.Tools), n)
		}
		checkGroups(t, r)
	}
	t.Run("one", func(t *testing.T) {
		r := mustSearch(t, e, tool.Query{Texts: []string{"send an email"}})
		if len(r.Groups) != 0 || r.Query != "send an email" || r.Tools[0].ID != "mail/send_email" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("the same need twice", func(t *testing.T) {
		r := mustSearch(t, e, tool.Query{Texts: []string{"send an email", "send an email"}, Limit: 4})
		if ids := hitIDs(r.Tools); len(ids) != 4 || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 {
			t.Errorf("tools %v", ids)
		}
	})
}

// checkGroups holds what an answer in groups promises: no tool twice, and all tools of the groups are among the tools.
func checkGroups(t *testing.T, r *tool.Result) {
	t.Helper()
	seen := map[tool.ID]int{}
	for _, h := range r.Tools {
		if seen[h.ID]++; seen[h.ID] > 1 {
			t.Errorf("%s is listed twice", h.ID)
		}
	}
	for _, g := range r.Groups {
		if g.Tools == nil {
			t.Errorf("the tools of %q are null", g.Query)
		}
		for _, h := range g.Tools {
			if seen[h.ID] == 0 {
				t.Errorf("%s of %q is not among the tools", h.ID, g.Query)
			}
		}
	}
}
