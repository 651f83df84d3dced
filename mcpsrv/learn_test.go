package mcpsrv

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// diary writes down what a Learner is told.
type diary struct {
	mu    sync.Mutex
	lines []string
	who   []tool.Asker
}

func (d *diary) add(who tool.Asker, line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
	d.who = append(d.who, who)
}

func (d *diary) RecordSearch(who tool.Asker, res *tool.Result) { d.add(who, "searched "+res.Query) }
func (d *diary) RecordCall(who tool.Asker, id tool.ID)         { d.add(who, "called "+string(id)) }
func (d *diary) RecordFeedback(who tool.Asker, f tool.Feedback) error {
	line := "told " + f.Request + " " + string(f.Tool)
	if f.Wrong {
		line += " wrong"
	}
	d.add(who, line)
	if f.Request == "" {
		return &tool.Error{Code: tool.Invalid, Msg: "no request"}
	}
	return nil
}

// TestLearnerIsTold follows what reaches the learner, in a session and without one.
func TestLearnerIsTold(t *testing.T) {
	for _, revision := range []string{"2025-06-18", statelessRevision} {
		t.Run(revision, func(t *testing.T) {
			d := &diary{}
			f := newFixture(t, smallServer(t), Options{Learner: d, Profile: "team"})
			session := f.connect(t, revision, nil)
			set := f.Set()
			ok, fails := set.All()[0], set.All()[1]
			f.answer = func(_ context.Context, c tool.Call) (*tool.CallResult, error) {
				raw := `{"content":[]}`
				if c.ID == fails.ID() {
					raw = `{"content":[],"isError":true}`
				}
				return &tool.CallResult{Raw: json.RawMessage(raw)}, nil
			}
			ask(t, session, searchName, `{"query":"read a file"}`)
			ask(t, session, invokeName, `{"name":"`+set.Exposed(ok.ID())+`","arguments":`+fitting(ok)+`}`)
			ask(t, session, set.Exposed(ok.ID()), fitting(ok))
			ask(t, session, set.Exposed(fails.ID()), fitting(fails))
			ask(t, session, searchName, `{"query":["one","two"]}`)
			want := []string{
				"searched read a file", "called " + string(ok.ID()), "called " + string(ok.ID()),
				"searched ",
			}
			if diff := cmp.Diff(want, d.lines); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, who := range d.who {
				if who != d.who[0] || who.Session == "" || who.Client != "test" || who.Profile != "team" {
					t.Errorf("asked by %+v", who)
				}
			}
		})
	}
}

// fitting makes arguments of the right types for a tool.
func fitting(t *tool.Tool) string {
	args := map[string]any{}
	for _, p := range t.Parameters() {
		if !p.Required {
			continue
		}
		switch {
		case strings.HasPrefix(p.Type, "integer"), strings.HasPrefix(p.Type, "number"):
			args[p.Name] = 1
		default:
			args[p.Name] = "x"
		}
	}
	b, _ := json.Marshal(args)
	return string(b)
}

func TestFeedbackInMeta(t *testing.T) {
	d := &diary{}
	f := newFixture(t, smallServer(t), Options{Learner: d})
	session := f.connect(t, "2025-06-18", nil)
	one, two := f.Set().All()[0], f.Set().All()[1]
	for name, c := range map[string]struct {
		said any
		want []string
	}{
		"the tool that is called": {map[string]any{"query": "q1"}, []string{"told q1 " + string(one.ID())}},
		"another tool": {
			map[string]any{"query": "q2", "tool": string(two.ID()), "wrong": true},
			[]string{"told q2 " + string(two.ID()) + " wrong"},
		},
		"a list": {
			[]any{map[string]any{"query": "q3"}, map[string]any{"query": "q4", "tool": f.Set().Exposed(two.ID())}},
			[]string{"told q3 " + string(one.ID()), "told q4 " + string(two.ID())},
		},
		"an unknown tool":     {map[string]any{"query": "q5", "tool": "nobody/nothing"}, nil},
		"something else":      {"good", nil},
		"without a request":   {map[string]any{}, []string{"told  " + string(one.ID())}},
		"nothing of the sort": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, direct := range []bool{true, false} {
				d.lines = nil
				p := &mcp.CallToolParams{
					Name: f.Set().Exposed(one.ID()), Arguments: json.RawMessage(fitting(one)),
					Meta: mcp.Meta{keyFeedback: c.said, "other": 1},
				}
				if !direct {
					p.Arguments = json.RawMessage(`{"name":"` + p.Name + `","arguments":` + fitting(one) + `}`)
					p.Name = invokeName
				}
				if _, err := session.CallTool(t.Context(), p); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(append(c.want, "called "+string(one.ID())), d.lines); diff != "" {
					t.Errorf("direct %t (-want +got)\n%s", direct, diff)
				}
				if meta := string(f.last(t).Meta); meta != `{"other":1}` {
					t.Errorf("the upstream was told %s", meta)
				}
			}
		})
	}
}
