package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tooldex/tool"
)

func TestSpeedTextNamesMissedBudgets(t *testing.T) {
	page := speedText(t.Context(), []row{
		timeRow("quick thing", 2*time.Millisecond, 3*time.Millisecond),
		timeRow("slow thing", 400*time.Millisecond, 300*time.Millisecond),
		{"thing without a budget", "7", "", true},
	})
	for _, want := range []string{
		"| quick thing | 2.00 ms | at most 3.00 ms | yes |",
		"| slow thing | 400 ms | at most 300 ms | **no** |",
		"| thing without a budget | 7 |  |  |",
		"- slow thing: 400 ms, budget at most 300 ms.",
		"Written by `make bench`",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "- quick thing") {
		t.Error("a budget that is kept is named as missed")
	}
	if none := speedText(t.Context(), nil); !strings.Contains(none, "None.") {
		t.Errorf("a page without misses does not say so:\n%s", none)
	}
}

func TestPercentile(t *testing.T) {
	times := make([]time.Duration, 100)
	for i := range times {
		times[99-i] = time.Duration(i + 1)
	}
	for p, want := range map[int]time.Duration{50: 50, 99: 99, 100: 100} {
		if got := percentile(slices.Clone(times), p); got != want {
			t.Errorf("p%d is %d, want %d", p, got, want)
		}
	}
	if got := percentile([]time.Duration{7}, 99); got != 7 {
		t.Errorf("of one value p99 is %d", got)
	}
}

func TestGrow(t *testing.T) {
	real := []*tool.Tool{
		{Server: "a", Name: "one", Description: "paint the fence in the garden with care"},
		{Server: "b", Name: "two", Description: "count every sheep before they fall asleep"},
		{Server: "c", Name: "none"},
	}
	tools := grow(real, 100)
	if len(tools) != 100 {
		t.Fatalf("%d tools, want 100", len(tools))
	}
	ids := map[tool.ID]bool{}
	for _, grown := range tools {
		ids[grown.ID()] = true
	}
	if len(ids) != 100 {
		t.Errorf("%d different IDs, want 100", len(ids))
	}
	if real[0].Description != "paint the fence in the garden with care" {
		t.Error("a real tool was changed")
	}
	if again := grow(real, 100); again[50].Description != tools[50].Description {
		t.Error("growing twice gives two catalogues")
	}
	if len(grow(real, 0)) != 3 {
		t.Error("without a size the real tools are not left alone")
	}
}

func TestWriteOverview(t *testing.T) {
	r := &report{Tools: 3}
	r.All = summary{Queries: 2, Scores: map[string]float64{"hit@1": .5, "recall@5": 1}}
	e := evaluation{name: "desk", split: "test", reports: map[string]*report{"keyword": r, "semantic": r, "hybrid": r}}
	var b strings.Builder
	writeOverview(&b, []evaluation{e})
	if want := "| desk (test) | 3 | 2 | keyword | .500 | 1.000 |"; !strings.Contains(b.String(), want) {
		t.Errorf("the table lacks %q:\n%s", want, b.String())
	}
}
