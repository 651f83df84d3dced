package doctor

import (
	"encoding/json"
	"testing"

	"tooldex/knowledge"
	"tooldex/tool"
)

func TestEveryFew(t *testing.T) {
	all := make([]*tool.Tool, 10)
	for i := range all {
		all[i] = &tool.Tool{Name: string(rune('a' + i)), Disabled: i == 1}
	}
	names := func(list []*tool.Tool) (out string) {
		for _, one := range list {
			out += one.Name
		}
		return out
	}
	for n, want := range map[int]string{1: "a", 3: "adg", 9: "abcdefghi", 10: "abcdefghij", 99: "abcdefghij"} {
		if got := names(everyFew(all, n)); got != want {
			t.Errorf("%d of ten are %s, want %s", n, got, want)
		}
	}
	if got := names(enabledTools(tool.NewSet(all, ""))); got != "acdefghij" {
		t.Errorf("enabled are %s", got)
	}
}

func TestSchemaFaults(t *testing.T) {
	tests := map[string]struct {
		schema string
		faults int
	}{
		"fine":           {`{"type":"object","properties":{"a":{"type":"string"}}}`, 0},
		"no object":      {`[]`, 2},
		"no type":        {`{"type":"object","properties":{"a":{"type":5}}}`, 1},
		"dangling $ref":  {`{"type":"object","properties":{"a":{"$ref":"#/definitions/none"}}}`, 1},
		"circle of refs": {`{"type":"object","properties":{"a":{"$ref":"#"}}}`, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := schemaFaults(&tool.Tool{
				Server: "s", Name: "n", Description: "Do what is asked for",
				InputSchema: json.RawMessage(tt.schema),
			})
			if len(got) != tt.faults {
				t.Errorf("%d faults, want %d: %q", len(got), tt.faults, got)
			}
		})
	}
}

// TestAsksOf shows how many tools are searched by name: all of a small catalogue, and fewer of a large one, but some.
func TestAsksOf(t *testing.T) {
	for tools, want := range map[int]int{0: 2000, 10_000: 200, 100_000: 20, 1_000_000: 20} {
		if got := asksOf(tools); got != want {
			t.Errorf("of %d tools %d are searched by name, want %d", tools, got, want)
		}
	}
}

// TestSaysNothing compares the quick test of a summary with the whole one: it may only find what that finds.
func TestSaysNothing(t *testing.T) {
	for name, c := range map[string]struct {
		tool    tool.Tool
		nothing bool
	}{
		"the name again":    {tool.Tool{Server: "azure", Name: "role_assignment_list", Summary: "List role assignments"}, true},
		"camel case":        {tool.Tool{Server: "s", Name: "listAssignments", Summary: "Lists assignments"}, true},
		"the server":        {tool.Tool{Server: "github", Name: "search", Summary: "Search github"}, true},
		"a new word":        {tool.Tool{Server: "s", Name: "list", Summary: "List the subscriptions"}, false},
		"a short new word":  {tool.Tool{Server: "s", Name: "list", Summary: "List pets"}, false},
		"another ending":    {tool.Tool{Server: "s", Name: "create_database", Summary: "Creates databases"}, true},
		"a word of no use":  {tool.Tool{Server: "s", Name: "list", Summary: "List yourselves"}, false},
		"other letters":     {tool.Tool{Server: "s", Name: "liste_société", Summary: "liste société"}, true},
		"folded letters":    {tool.Tool{Server: "s", Name: "liste_société", Summary: "liste societe"}, true},
		"no summary at all": {tool.Tool{Server: "s", Name: "list"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var an knowledge.Analyzer
			if got := saysNothing(&an, &c.tool); got != c.nothing {
				t.Errorf("it says nothing: %v", got)
			}
			if c.nothing && hasNewWord(&an, &c.tool) {
				t.Error("the quick test finds a word that is none")
			}
		})
	}
}
