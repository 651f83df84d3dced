package main

import (
	"slices"
	"strings"
	"testing"
)

// TestLargeText makes the page of invented figures: one that meets its budget, one that does not, and one without.
func TestLargeText(t *testing.T) {
	rows := growthMeasures()
	var got [numSizes][]float64
	for k, figure := range []float64{1, 10, 40} {
		got[k] = slices.Repeat([]float64{figure}, len(rows))
	}
	page := largeText("Written here.", rows, got)
	for _, want := range []string{
		"| import, cold | 1.1 s | 1.0 s | at most 0.7 s | **no** |", "| import, cold | 1430.0 s | 40.0 s | at most 50 s | yes |",
		"| its peak of private memory |  | 40 MB |  |  |", "import, cold ", "40.0\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	got[3] = slices.Repeat([]float64{700}, len(rows))
	page = largeText("Written here.", rows, got)
	const missed = "| import, cold |  | 700.0 s | at most 600 s | **no** |"
	for _, want := range []string{"## 1000000 tools", missed, "858 times as many", "1000000 #", "700.0\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of a million tools has no %q:\n%s", want, page)
		}
	}
	page = largeText("Written here.", rows, [numSizes][]float64{3: got[3]})
	for want, there := range map[string]bool{
		"## 1000000 tools": true, missed: true, "## 1165 tools": false, "## Growth": false,
	} {
		if strings.Contains(page, want) != there {
			t.Errorf("the page of one size has %q: %v", want, !there)
		}
	}
}
