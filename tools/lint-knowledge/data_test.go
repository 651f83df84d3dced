package main

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "lower budget.txt to the warnings that are left")

const dataDir = "../../knowledge/data"

// The repository's own knowledge holds no error, and its warnings stay within the recorded budget. With -update the
// budget follows the warnings down.
func TestData(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	r := check(loadData(t))
	for _, f := range r.findings {
		if !r.isWarning(f) {
			t.Error(f)
		}
	}
	b := loadBudget(t)
	if *update {
		b = b.lowered(r.warnings)
		var out bytes.Buffer
		if err := b.write(&out); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("budget.txt", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, over := range b.exceeded(r.warnings) {
		t.Errorf("%s; see bin/tools/lint-knowledge ./knowledge/data", over)
	}
	for rule := range b {
		if _, ok := r.warnings[rule]; !ok {
			t.Errorf("budget.txt has %s, which is no warning", rule)
		}
	}
	var totals bytes.Buffer
	r.write(&totals, true)
	t.Log(totals.String())
}

func loadBudget(t *testing.T) budget {
	t.Helper()
	raw, err := os.ReadFile("budget.txt")
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBudget(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func loadData(t *testing.T) *corpus {
	t.Helper()
	c, err := load(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
