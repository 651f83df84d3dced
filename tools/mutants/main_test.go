package main

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestList checks the list without running it: the code has what is removed, what remains is Go, and SECURITY.md names
// the tests.
func TestList(t *testing.T) {
	const root = "../.."
	all, err := readMutants()
	if err != nil {
		t.Fatal(err)
	}
	promises, err := os.ReadFile(root + "/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		text, err := m.apply(root)
		if err != nil {
			t.Errorf("without %s: %v", m.Without, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.File, text, 0); err != nil {
			t.Errorf("without %s: %v", m.Without, err)
		}
		if !strings.Contains(string(promises), "`"+m.Test+"`") {
			t.Errorf("without %s: SECURITY.md does not name %s", m.Without, m.Test)
		}
	}
	if len(all) < 25 {
		t.Errorf("only %d mutants", len(all))
	}
}

func TestFirstFailure(t *testing.T) {
	const out = "--- FAIL: TestX (0.01s)\n    --- FAIL: TestX/y (0.00s)\n        x_test.go:7: it is lost\nFAIL\n"
	if got := firstFailure(out); got != "x_test.go:7: it is lost" {
		t.Errorf("%q", got)
	}
}

// TestReport wants the page to tell apart what was noticed, what was not, and what could not be judged.
func TestReport(t *testing.T) {
	got := report(t.Context(), []outcome{
		{mutant: mutant{Without: "a lock", File: "a.go", Test: "a.TestA"}, noticed: true},
		{mutant: mutant{Without: "a sync", File: "b.go", Test: "b.TestB"}},
		{mutant: mutant{Without: "a sum", File: "c.go", Test: "c.TestC"}, unjudged: true},
	})
	for _, want := range []string{
		"**1 of 3**", "| a lock | `a.go` | `a.TestA` | yes |", "| a sync | `b.go` | `b.TestB` | **no** |",
		"| a sum | `c.go` | `c.TestC` | not judged |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got)
		}
	}
}
