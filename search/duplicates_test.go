package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

// uses and states are what an Engine is told of use and of servers.
type uses map[tool.ID]float64

func (u uses) Uses(id tool.ID) float64 { return u[id] }

type states []upstream.Status

func (s states) Status() []upstream.Status { return s }

// copied are the tools of testdata, those of the forge there three times, as by three accounts.
func copied(t testing.TB) []*tool.Tool {
	t.Helper()
	out := catalogue(t)
	for _, one := range out {
		if one.Server != "forge" {
			continue
		}
		for _, account := range []string{"forge-work", "forge-home"} {
			again := *one
			again.Server = account
			out = append(out, &again)
		}
	}
	return out
}

func change(tools []*tool.Tool, id tool.ID, f func(*tool.Tool)) []*tool.Tool {
	for i, one := range tools {
		if one.ID() == id {
			again := *one
			f(&again)
			tools[i] = &again
		}
	}
	return tools
}

func TestTwinsShareAPlace(t *testing.T) {
	e := engineOf(t, copied(t))
	once := engineOf(t, catalogue(t))
	for _, q := range queries(t) {
		r := mustSearch(t, e, tool.Query{Text: q.text, Limit: 10})
		bare := map[string]bool{}
		for _, h := range r.Tools {
			name := strings.TrimSuffix(strings.TrimSuffix(h.Server, "-work"), "-home") + "/" + h.Name
			if bare[name] {
				t.Errorf("%q: %s has two places: %v", q.text, name, hitIDs(r.Tools))
			}
			bare[name] = true
			if n := len(h.Also); strings.HasPrefix(h.Server, "forge") && n != 2 ||
				!strings.HasPrefix(h.Server, "forge") && n != 0 {
				t.Errorf("%q: %s is also %v", q.text, h.ID, h.Also)
			}
			if len(h.Also) != len(h.Duplicates) || slices.Contains(h.Also, h.Exposed) {
				t.Errorf("%q: %s is also %v, %v", q.text, h.ID, h.Also, h.Duplicates)
			}
		}
		if want := len(mustSearch(t, once, tool.Query{Text: q.text, Limit: 10}).Tools); len(r.Tools) < want {
			t.Errorf("%q: %d places, %d without copies", q.text, len(r.Tools), want)
		}
	}
}

func TestTheBestTwinIsShown(t *testing.T) {
	running := func(server string) upstream.Status { return upstream.Status{Server: server, State: upstream.Running} }
	failed := func(server string) upstream.Status { return upstream.Status{Server: server, State: upstream.Failed} }
	always := func(x *tool.Tool) { x.Always = true }
	plain := snapshotOf(t, copied(t))
	for name, c := range map[string]struct {
		text   string
		tools  func([]*tool.Tool) []*tool.Tool
		uses   uses
		states states
		filter tool.Filter
		want   string
		also   []string
	}{
		"by score, which the name of a server sways": {
			text: "open an issue", want: "forge-work",
			also: []string{"forge", "forge-home"},
		},
		"a named server": {
			text: "open an issue at work", want: "forge-work", also: []string{"forge", "forge-home"},
		},
		"its ID": {text: "forge-home/create_issue", want: "forge-home", also: []string{"forge", "forge-work"}},
		"its exposed name in a request": {
			text: "for the crash use forge-home__create_issue", uses: uses{"forge/create_issue": 9}, want: "forge-home",
			also: []string{"forge", "forge-work"},
		},
		"most used": {
			text: "open an issue", uses: uses{"forge-home/create_issue": 3, "forge-work/create_issue": 5},
			want: "forge-work", also: []string{"forge-home", "forge"},
		},
		"always included": {
			text: "open an issue", uses: uses{"forge/create_issue": 99}, want: "forge-home",
			also:  []string{"forge", "forge-work"},
			tools: func(l []*tool.Tool) []*tool.Tool { return change(l, "forge-home/create_issue", always) },
		},
		"a server that runs": {
			text: "open an issue", states: states{failed("forge-work"), failed("forge"), running("forge-home")},
			want: "forge-home", also: []string{"forge-work", "forge"},
		},
		"used though it fails": {
			text: "open an issue", states: states{failed("forge-work")}, uses: uses{"forge-work/create_issue": 1},
			want: "forge-work", also: []string{"forge", "forge-home"},
		},
		"named over all": {
			text: "open an issue at home", uses: uses{"forge/create_issue": 9}, states: states{failed("forge-home")},
			want: "forge-home", also: []string{"forge-work", "forge"},
			tools: func(l []*tool.Tool) []*tool.Tool { return change(l, "forge-work/create_issue", always) },
		},
		"one is denied": {
			text: "open an issue", filter: tool.Filter{Allow: func(x *tool.Tool) bool { return x.Server != "forge" }},
			want: "forge-work", also: []string{"forge-home"},
		},
		"one is filtered": {
			text: "open an issue", filter: tool.Filter{Servers: []string{"forge-work", "mail"}}, want: "forge-work",
		},
		"one is disabled": {
			text: "open an issue", want: "forge-work", also: []string{"forge"},
			tools: func(l []*tool.Tool) []*tool.Tool {
				return change(l, "forge-home/create_issue", func(x *tool.Tool) { x.Disabled = true })
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			snap := plain
			if c.tools != nil {
				snap = snapshotOf(t, c.tools(copied(t)))
			}
			o := options(t, snap)
			o.Usage, o.Servers = c.uses, c.states
			h := mustSearch(t, New(o), tool.Query{Text: c.text, Filter: c.filter}).Tools[0]
			var also []string
			for _, id := range h.Duplicates {
				also = append(also, id.Server())
			}
			if h.Name != "create_issue" || h.Server != c.want || !slices.Equal(also, c.also) {
				t.Errorf("shown %s, also %v, want %s, also %v", h.ID, also, c.want, c.also)
			}
		})
	}
}

// TestTwinsOfParts asks for several things: the same tool takes one place, whichever copy each part would show.
func TestTwinsOfParts(t *testing.T) {
	e := engineOf(t, copied(t))
	for _, q := range []tool.Query{
		{Text: "create an issue at home and merge the pull request at work, then list the issues", Limit: 12},
		{Texts: []string{"create an issue at home", "create an issue at work", "create an issue"}, Limit: 12},
	} {
		r := mustSearch(t, e, q)
		if len(r.Groups) < 2 {
			t.Fatalf("%q%q: %d groups", q.Text, q.Texts, len(r.Groups))
		}
		seen := map[tool.ID]bool{}
		for _, h := range r.Tools {
			for _, id := range append([]tool.ID{h.ID}, h.Duplicates...) {
				if seen[id] {
					t.Errorf("%q%q: %s is there twice", q.Text, q.Texts, id)
				}
				seen[id] = true
			}
		}
	}
}

// TestManyTwins bounds what one hit names, and what it costs.
func TestManyTwins(t *testing.T) {
	var tools []*tool.Tool
	for i := range 40 {
		tools = append(tools, &tool.Tool{
			Server: fmt.Sprintf("disk%02d", i), Name: "read_file",
			Description: "Read the complete text of a file on this disk.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		})
	}
	e := engineOf(t, tools)
	r := mustSearch(t, e, tool.Query{Text: "read a file"})
	if len(r.Tools) != 1 || len(r.Tools[0].Also) != maxAlso {
		t.Fatalf("%v, also %v", hitIDs(r.Tools), r.Tools[0].Also)
	}
	one := mustSearch(t, engineOf(t, tools[:1]), tool.Query{Text: "read a file"})
	if r.Tokens <= one.Tokens {
		t.Errorf("%d tokens with the names of others, %d without", r.Tokens, one.Tokens)
	}
	if got := mustSearch(t, e, tool.Query{Text: "read a file on disk33"}).Tools[0].ID; got != "disk33/read_file" {
		t.Errorf("with its server named: %s", got)
	}
}

// TestTwinsDoNotChangeOthers adds copies of one server: what else is found, and in which order, stays.
func TestTwinsDoNotChangeOthers(t *testing.T) {
	before, after := engineOf(t, catalogue(t)), engineOf(t, copied(t))
	agreed, all := 0, 0
	for _, q := range queries(t) {
		name := func(hits []tool.Hit) (out []string) {
			for _, h := range hits {
				out = append(out, h.Name)
			}
			return out
		}
		a, b := name(mustSearch(t, before, tool.Query{Text: q.text}).Tools),
			name(mustSearch(t, after, tool.Query{Text: q.text}).Tools)
		all++
		if a[0] == b[0] {
			agreed++
		} else {
			t.Logf("%q:\n%s", q.text, cmp.Diff(a, b))
		}
	}
	if agreed*100 < all*95 {
		t.Errorf("the first tool stays for %d of %d requests", agreed, all)
	}
}

// together are the tools of the demo and those of testdata with their copies, whose servers have other names.
func together(t testing.TB) []*tool.Tool {
	t.Helper()
	out := demoCatalogue(t)
	for _, one := range copied(t) {
		again := *one
		again.Server = "test-" + one.Server
		out = append(out, &again)
	}
	return out
}
