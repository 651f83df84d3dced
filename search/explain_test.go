package search

import (
	"strings"
	"testing"

	"tooldex/knowledge"
	"tooldex/tool"
)

func TestLenders(t *testing.T) {
	tools := catalogue(t)
	own := *tools[3]
	own.Name, own.NoBorrow = "own_words", true
	hidden := *tools[4]
	hidden.Name, hidden.Disabled = "hidden", true
	tools = append(tools, &own, &hidden)
	e := engineOf(t, tools)
	for name, c := range map[string]struct {
		id   tool.ID
		lent bool
	}{
		"a tool":         {tools[0].ID(), true},
		"another":        {tools[len(tools)/2].ID(), true},
		"disabled":       {hidden.ID(), true},
		"borrows none":   {own.ID(), false},
		"is not here":    {"no/tool", false},
		"its name alone": {tool.ID(tools[0].Name), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := e.Lenders(c.id)
			if err != nil || (len(got) > 0) != c.lent {
				t.Fatalf("%d lenders, %v", len(got), err)
			}
			for i, l := range got {
				if l.Like <= 0 || l.Like > 1 || l.Weight <= 0 || l.Weight > 1 || l.Title == "" ||
					len(l.Utterances) == 0 || !strings.Contains(l.Archetype, "/") {
					t.Errorf("%+v", l)
				}
				if i > 0 && l.Like > got[i-1].Like {
					t.Errorf("%s stands before %s, which is liker", got[i-1].Archetype, l.Archetype)
				}
			}
		})
	}
}

// TestLendersAreThoseOfExplain holds the two ways in which a loan is shown against each other.
func TestLendersAreThoseOfExplain(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for _, h := range mustSearch(t, e, tool.Query{Text: "send an email", Explain: true, Limit: 5}).Tools {
		all, err := e.Lenders(h.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Explain.Borrowed) == 0 || len(h.Explain.Borrowed) > len(all) {
			t.Fatalf("%s: %d of %d are explained", h.ID, len(h.Explain.Borrowed), len(all))
		}
		for i, l := range h.Explain.Borrowed {
			if l != all[i].Loan {
				t.Errorf("%s: %v is explained, %v is lent", h.ID, l, all[i].Loan)
			}
		}
	}
}

func TestLendersWithout(t *testing.T) {
	snap := snapshotOf(t, catalogue(t))
	id := snap.Set().All()[0].ID()
	o := options(t, snap)
	for name, c := range map[string]struct {
		lookup Lookup
		base   *knowledge.Base
	}{
		"an index":  {fixed{}, o.Base},
		"knowledge": {fixed{snap}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := New(Options{Lookup: c.lookup, Base: c.base}).Lenders(id); len(got) != 0 || err != nil {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	t.Run("the archetypes it was lent by", func(t *testing.T) {
		small, err := knowledge.Open(tinyBase(t))
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(Options{Lookup: fixed{snap}, Base: small}).Lenders(id)
		if err == nil || tool.CodeOf(err) != tool.Internal {
			t.Errorf("error %v, want Internal", err)
		}
	})
}

// tinyBase compiles a base of one archetype.
func tinyBase(t *testing.T) []byte {
	t.Helper()
	src := &knowledge.Source{Archetypes: []knowledge.Archetype{{
		Server: "Mail", Name: "send", Title: "Send",
		Description: "Sends.", Utterances: []string{"drop a line"},
	}}}
	b, err := knowledge.Compile(src, builtin(t).Encoder)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
