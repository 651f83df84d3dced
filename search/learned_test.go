package search

import (
	"cmp"
	"encoding/json"
	"testing"

	"tooldex/tool"
)

// favourite lifts one tool, for one profile.
type favourite struct {
	id      tool.ID
	profile string
	by      float32
}

func (f favourite) Lift(set *tool.Set, profile string, terms []string, vector []float32, allowed []bool,
	scores []float32,
) {
	for i, t := range set.All() {
		if t.ID() == f.id && profile == f.profile && allowed[i] && len(terms) > 0 {
			scores[i] += f.by
		}
	}
}

func TestLearned(t *testing.T) {
	tools := []*tool.Tool{
		{Server: "github", Name: "create_issue", Description: "Create a new issue in a repository."},
		{Server: "mail", Name: "send_email", Description: "Send an email to one or more people."},
	}
	snap := snapshotOf(t, tools)
	ask := func(l Learned, q tool.Query) *tool.Result {
		t.Helper()
		o := options(t, snap)
		o.Learned = l
		q.Text = cmp.Or(q.Text, "report a bug in a repository")
		r, err := New(o).Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	plain := ask(nil, tool.Query{Explain: true})
	if plain.Tools[0].ID != "github/create_issue" {
		t.Fatalf("without what was learned %s is first", plain.Tools[0].ID)
	}
	mail := favourite{"mail/send_email", "team", 5}
	bytes := func(r *tool.Result) string {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := ask(mail, tool.Query{Explain: true}); bytes(got) != bytes(plain) {
		t.Errorf("where nothing was learned the answer differs:\n%s\n%s", bytes(got), bytes(plain))
	}
	lifted := ask(mail, tool.Query{Profile: "team", Explain: true})
	if h := lifted.Tools[0]; h.ID != mail.id || h.Explain.Learned != 5 {
		t.Errorf("%s is first, lifted by %v", h.ID, h.Explain.Learned)
	}
	if unsure := ask(favourite{mail.id, "team", 2}, tool.Query{
		Text:    "the usual for the boss",
		Profile: "team",
	}); !unsure.Confident || unsure.Tools[0].ID != mail.id {
		t.Errorf("what use has shown is doubted: %+v", unsure.Tools[0])
	}
	if unsure := ask(nil, tool.Query{Text: "the usual for the boss"}); unsure.Confident {
		t.Errorf("sure of %+v without a reason", unsure.Tools[0])
	}
	hidden := ask(mail, tool.Query{Profile: "team", Filter: tool.Filter{Servers: []string{"github"}}})
	if len(hidden.Tools) != 1 || hidden.Tools[0].ID == mail.id {
		t.Errorf("a filter lets through %+v", hidden.Tools)
	}
}

func TestRead(t *testing.T) {
	e := engineOf(t, catalogue(t))
	r, err := e.Read(t.Context(), "  list   the xyzzy issues ", 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Terms) == 0 || len(r.Vector) == 0 || r.Model == "" || len(r.Found) != 3 || len(r.Unknown) != 1 ||
		r.Unknown[0] != "xyzzy" {
		t.Errorf("read %+v", r)
	}
	if _, err := e.Read(t.Context(), " ", 3); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("an empty request: %v", err)
	}
}
