package search

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

func TestFilterNames(t *testing.T) {
	tools := []*tool.Tool{
		{Server: "github", Name: "open_issue", Description: "Open an issue.", Category: "Development"},
		{Server: "mail", Name: "send", Description: "Send a message."},
		{Server: "attic", Name: "dust", Description: "Dust a box.", Category: "cleaning", Disabled: true},
		{Server: "vault", Name: "unlock", Description: "Unlock a safe.", Category: "secrets"},
	}
	o := options(t, snapshotOf(t, tools))
	o.Servers = states{{Server: "nursery", State: upstream.Starting}, {Server: "cellar", State: upstream.Failed}}
	e := New(o)
	noVault := func(x *tool.Tool) bool { return x.Server != "vault" && x.Server != "cellar" }
	readOnly := func(x *tool.Tool) bool { return x.ReadOnly() }
	for name, c := range map[string]struct {
		filter tool.Filter
		msg    string // "" if the search is answered
		hint   string
	}{
		"a server":                         {filter: tool.Filter{Servers: []string{"github"}}},
		"one that has only disabled tools": {filter: tool.Filter{Servers: []string{"attic"}}},
		"one that is being read":           {filter: tool.Filter{Servers: []string{"nursery"}}},
		"one that failed":                  {filter: tool.Filter{Servers: []string{"cellar"}}},
		"a category, in another case":      {filter: tool.Filter{Categories: []string{"development"}}},
		"without a category":               {filter: tool.Filter{Categories: []string{"other"}}},
		"a misspelled server": {
			tool.Filter{Servers: []string{"gihub"}},
			`there are no tools of a server "gihub"`,
			"did you mean github? Otherwise choose from attic, github, mail, vault",
		},
		"one of several": {
			tool.Filter{Servers: []string{"mail", "slack"}},
			`there are no tools of a server "slack"`,
			"choose from attic, github, mail, vault",
		},
		"a misspelled category": {
			tool.Filter{Categories: []string{"developement"}},
			`there are no tools of a category "developement"`,
			"did you mean Development? Otherwise choose from Development, cleaning, other, secrets",
		},
		"a hidden server": {
			tool.Filter{Servers: []string{"vault"}, Allow: noVault},
			`there are no tools of a server "vault"`,
			"choose from attic, github, mail",
		},
		"a hidden server without tools": {
			tool.Filter{Servers: []string{"cellar"}, Allow: noVault},
			`there are no tools of a server "cellar"`,
			"choose from attic, github, mail",
		},
		"an invented server": {
			tool.Filter{Servers: []string{"zebra"}, Allow: noVault},
			`there are no tools of a server "zebra"`,
			"choose from attic, github, mail",
		},
		"a permitted server without tools": {filter: tool.Filter{Servers: []string{"nursery"}, Allow: noVault}},
		"a hidden category": {
			tool.Filter{Categories: []string{"secrets"}, Allow: noVault},
			`there are no tools of a category "secrets"`,
			"choose from Development, cleaning, other",
		},
		"where nothing may be seen": {
			tool.Filter{Servers: []string{"github"}, Allow: readOnly},
			`there are no tools of a server "github"`,
			"there are none; leave the filter out",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Search(context.Background(), tool.Query{Text: "open an issue", Filter: c.filter})
			var got tool.Error
			if wrong := new(tool.Error); errors.As(err, &wrong) {
				got = *wrong
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.msg, c.hint}, []string{got.Msg, got.Hint}); diff != "" {
				t.Errorf("message and hint (-want +got):\n%s", diff)
			}
			if err != nil && got.Code != tool.Invalid {
				t.Errorf("code %v", got.Code)
			}
		})
	}
}

func TestFilterNamesAreBounded(t *testing.T) {
	var tools []*tool.Tool
	for _, letter := range "abcdefghijklmnopqrstuvwxyz" {
		tools = append(tools, &tool.Tool{Server: strings.Repeat(string(letter), 500), Name: "run", Description: "Run."})
	}
	e := New(options(t, snapshotOf(t, tools)))
	_, err := e.Search(context.Background(), tool.Query{Text: "run", Filter: tool.Filter{Servers: []string{"1"}}})
	wrong := new(tool.Error)
	if !errors.As(err, &wrong) || len(wrong.Hint) > 2000 || !strings.HasSuffix(wrong.Hint, " and 6 more") {
		t.Errorf("error %v, hint %q", err, wrong.Hint)
	}
}
