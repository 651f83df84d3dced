package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/tool"
	"tooldex/upstream"
)

func TestUnseen(t *testing.T) {
	yes := true
	tools := append(catalogue(t), &tool.Tool{
		Server: "stars", Name: "draw_horoscope", Description: "Draw a horoscope for a person's day of birth.",
		Category:    "astrology",
		Annotations: &tool.Annotations{ReadOnlyHint: &yes},
	}, &tool.Tool{
		Server: "stars", Name: "cast_spell", Description: "Cast a magic spell on somebody's cauldron.",
		Category: "magic",
	},
		&tool.Tool{
			Server: "stars", Name: "bake_bread", Description: "Bake a loaf of bread in the oven.",
			Disabled: true,
		})
	const horoscope, spell, bread = "draw a horoscope for my day of birth", "cast a magic spell on the cauldron",
		"bake a loaf of bread in the oven"
	down := states{
		{Server: "crystal-ball", State: upstream.Failed},
		{Server: "forge", State: upstream.Failed},
		{Server: "mail", State: upstream.Running},
		{Server: "attic", State: upstream.Configured},
		{Server: "nursery", State: upstream.Starting},
	}
	o := options(t, snapshotOf(t, tools))
	o.Servers = down
	e := New(o)
	nothing := func(*tool.Tool) bool { return false }
	noStars := func(x *tool.Tool) bool { return x.Server != "stars" }
	all := func(*tool.Tool) bool { return true }
	for name, c := range map[string]struct {
		text    string
		filter  tool.Filter
		want    []string
		says    string
		servers []string // of the first
	}{
		"another server": {
			horoscope,
			tool.Filter{Servers: []string{"forge", "mail"}},
			[]string{whyServers},
			"1 tool of other servers (stars) might serve",
			[]string{"stars"},
		},
		"another category": {
			horoscope,
			tool.Filter{Categories: []string{"office"}},
			[]string{whyCategories, whyStopped},
			"without the category filter",
			[]string{"stars"},
		},
		"one that changes something": {
			spell,
			tool.Filter{ReadOnly: true},
			[]string{whyReadOnly, whyStopped},
			"1 tool not annotated as read-only might serve",
			[]string{"stars"},
		},
		"a disabled one": {
			bread,
			tool.Filter{},
			[]string{whyDisabled, whyStopped},
			"1 disabled tool might serve", nil,
		},
		"a disabled one, by name": {
			"bake_bread",
			tool.Filter{Servers: []string{"stars"}},
			[]string{whyDisabled},
			"1 disabled tool", nil,
		},
		"nothing passes the filter": {
			horoscope,
			tool.Filter{Servers: []string{"crystal-ball"}},
			[]string{whyServers, whyStopped},
			"stars",
			[]string{"stars"},
		},
		"nothing anywhere": {
			"weld two steel girders under water",
			tool.Filter{Servers: []string{"forge"}},
			nil, "", nil,
		},
		"a server that does not run": {
			"gaze into the crystal ball for the lottery numbers",
			tool.Filter{},
			[]string{whyStopped},
			"crystal-ball, attic do not run",
			[]string{"crystal-ball", "attic"},
		},
		"it is one of those asked": {
			"weld two steel girders under water",
			tool.Filter{Servers: []string{"attic"}},
			[]string{whyStopped},
			"attic does not run",
			[]string{"attic"},
		},
		"one is still being read": {
			"weld two steel girders under water",
			tool.Filter{Servers: []string{"nursery"}},
			nil, "1 server is still being read (nursery): search again in a moment.", nil,
		},
		"it is not among those asked": {
			"weld two steel girders under water",
			tool.Filter{Servers: []string{"forge"}},
			nil, "", nil,
		},
		"all are denied": {
			horoscope,
			tool.Filter{Allow: nothing},
			nil, "",
			nil,
		},
		"that server is denied": {
			horoscope,
			tool.Filter{Servers: []string{"forge"}, Allow: noStars},
			nil, "",
			nil,
		},
		"disabled and denied": {bread, tool.Filter{Allow: noStars}, nil, "", nil},
		"all are permitted": {
			horoscope,
			tool.Filter{Servers: []string{"forge"}, Allow: all},
			[]string{whyServers},
			"stars",
			[]string{"stars"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustSearch(t, e, tool.Query{Text: c.text, Filter: c.filter})
			if r.Confident || r.Advice == nil {
				t.Fatalf("confident of %v", hitIDs(r.Tools))
			}
			var got []string
			for _, u := range r.Advice.Excluded {
				got = append(got, u.Why)
				if u.Text == "" || (u.Tools == 0) != (u.Why == whyStopped) {
					t.Errorf("%+v", u)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Fatalf("left out for %v, want %v", got, c.want)
			}
			if len(got) == 0 && c.says != "" && r.Advice.Message != c.says {
				t.Errorf("the message is %q", r.Advice.Message)
			}
			if len(got) > 0 && (!strings.Contains(r.Advice.Excluded[0].Text, c.says) ||
				!slices.Equal(r.Advice.Excluded[0].Servers, c.servers)) {
				t.Errorf("%+v, want one that says %q of %v", r.Advice.Excluded[0], c.says, c.servers)
			}
			if text := encoded(t, e, tool.Query{Text: c.text, Filter: c.filter}); c.filter.Allow != nil &&
				!c.filter.Allow(tools[len(tools)-1]) && strings.Contains(text, "stars") {
				t.Errorf("what is denied is hinted at: %s", text)
			}
		})
	}
	t.Run("a tool fits", func(t *testing.T) {
		if r := mustSearch(t, e, tool.Query{
			Text:   "send an email to Anna",
			Filter: tool.Filter{Servers: []string{"mail"}},
		}); r.Advice != nil {
			t.Errorf("advice %+v", r.Advice)
		}
	})
}

// TestDeniedIsNotUnderstood asks in words that only a denied tool has: to the caller they are as unknown as any.
func TestDeniedIsNotUnderstood(t *testing.T) {
	secret := &tool.Tool{
		Server: "vault", Name: "unseal_zyxglorp",
		Description: "Unseal the zyxglorp of a quuxite chamber.",
	}
	with, without := engineOf(t, append(catalogue(t), secret)), engineOf(t, catalogue(t))
	denied := tool.Filter{Allow: func(x *tool.Tool) bool { return x.Server != "vault" }}
	const text = "book a flight to Lisbon with the zyxglorp of the quuxite"
	if got := mustSearch(t, with, tool.Query{Text: "unseal the zyxglorp"}); !got.Confident ||
		got.Tools[0].ID != secret.ID() {
		t.Fatalf("who may see it finds %v", hitIDs(got.Tools))
	}
	a, b := mustSearch(t, with, tool.Query{Text: text, Filter: denied}), mustSearch(t, without, tool.Query{Text: text})
	if a.Confident || b.Confident {
		t.Fatal("confident")
	}
	if !slices.Equal(a.Advice.NotUnderstood, b.Advice.NotUnderstood) || !slices.Contains(a.Advice.NotUnderstood,
		"zyxglorp") {
		t.Errorf("not understood: %q, without the tool %q", a.Advice.NotUnderstood, b.Advice.NotUnderstood)
	}
}

// TestDeniedSaysNothing changes what the denied tools are about, and nothing else: the answer to who may not know of
// them stays, scores and explanations included, but for the last digits.
func TestDeniedSaysNothing(t *testing.T) {
	asksOften(t)
	with := func(words ...string) *Engine {
		tools := catalogue(t)
		for i := range 30 {
			tools = append(tools, &tool.Tool{
				Server: "vault", Name: fmt.Sprintf("%s_%02d", words[i%len(words)], i), NoBorrow: true,
				Description: strings.Join([]string{
					words[i%len(words)], words[(i+1)%len(words)],
					words[(i+2)%len(words)],
				}, " "),
			})
		}
		return engineOf(t, tools)
	}
	one, other := with("issue", "email", "zyxglorp"), with("table", "weather", "quuxite")
	denied := tool.Filter{Allow: func(x *tool.Tool) bool { return x.Server != "vault" }}
	open := 0
	for _, q := range variants(t) {
		q.Filter.Allow = denied.Allow
		if d := cmp.Diff(mustSearch(t, one, q), mustSearch(t, other, q), cmpopts.EquateApprox(0, 1e-5),
			cmpopts.IgnoreFields(tool.Hit{}, "Tool")); d != "" {
			t.Errorf("%q%q tells what is denied:\n%s", q.Text, q.Texts, d)
		}
		q.Filter.Allow = nil
		if encoded(t, one, q) != encoded(t, other, q) {
			open++
		}
	}
	if open == 0 {
		t.Error("nobody's answers differ: the test tells nothing")
	}
}
