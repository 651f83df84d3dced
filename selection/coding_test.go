package selection_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tooldex/selection"
	"tooldex/tool"
)

// codingTools are the 40 tools of an agent that writes programs, of which five are always there.
func codingTools(t testing.TB) []*tool.Tool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "coding.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tools []*tool.Tool
	if err := json.Unmarshal(raw, &tools); err != nil {
		t.Fatal(err)
	}
	core := 0
	for _, one := range tools {
		if one.Always {
			core++
		}
	}
	if len(tools) != 40 || core != 5 {
		t.Fatalf("%d tools, of which %d are always there", len(tools), core)
	}
	return tools
}

// TestCodingAgent holds what everyday messages to an agent that writes programs are given: the five tools that are
// always there, those that the message needs, and how many tokens fewer that costs than all 40. docs/reference/selection.md
// has these figures.
func TestCodingAgent(t *testing.T) {
	s := selection.NewSelector(real(t, codingTools(t)))
	for _, c := range []struct {
		message string
		saved   float64
		need    []string
	}{
		{"Read package.json", .85, []string{"read_file"}},
		{"List all files", .85, []string{"list_files"}},
		{"Run npm install", .85, []string{"run_command"}},
		{"Search for TODOs", .85, []string{"search_text"}},
		{"Full refactoring", .60, []string{"rename_symbol", "extract_function", "move_symbol"}},
		{"browser automation", .75, []string{"browser_open", "browser_click", "browser_type", "browser_screenshot"}},
		{"thanks, that is great", .90, nil},
	} {
		res := choose(t, s, selection.Query{Message: c.message})
		saved := float64(res.Saved) / float64(res.AllTokens)
		t.Logf("%s: %d of %d tools, %d of %d tokens, %.0f %% saved", c.message, len(res.Selected), res.AllTools,
			res.Tokens, res.AllTokens, 100*saved)
		if saved < c.saved {
			t.Errorf("%s: %.0f %% of the tokens are saved, want %.0f", c.message, 100*saved, 100*c.saved)
		}
		core, last := 0, 1.0
		for _, one := range res.Selected {
			t.Logf("    %s %.2f %d tokens, by %s", one.Name, one.Score, one.Tokens, one.Source)
			switch one.Source {
			case selection.FromCore:
				core++
			case selection.FromSearch:
				if one.Score > last {
					t.Errorf("%s: %s has the score %.2f after one of %.2f", c.message, one.Name, one.Score, last)
				}
				last = one.Score
			default:
				t.Errorf("%s: %s comes from %s", c.message, one.Name, one.Source)
			}
		}
		if core != 5 || c.need == nil && len(res.Selected) > core {
			t.Errorf("%s: %d core tools of %d", c.message, core, len(res.Selected))
		}
		for _, name := range c.need {
			if !slices.ContainsFunc(res.Selected, func(s selection.Selected) bool { return s.Name == name }) {
				t.Errorf("%s: %s is not selected", c.message, name)
			}
		}
	}
}
