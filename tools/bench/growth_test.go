package main

import (
	"slices"
	"strings"
	"testing"
)

// TestLargeText makes the page of invented figures: one that meets its budget, one that does not, and one without.
func TestLargeText(t *testing.T) {
	rows := growthMeasures()
	var got [][]float64
	for _, figure := range []float64{1, 10, 40} {
		got = append(got, slices.Repeat([]float64{figure}, len(rows)))
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
	page = largeText("Written here.", rows, append(got, slices.Repeat([]float64{700}, len(rows))))
	for _, want := range []string{
		"## 1000000 tools", "| import, cold |  | 700.0 s | at most 600 s | **no** |", "858 times as many", "1000000 #", "700.0\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of a million tools has no %q:\n%s", want, page)
		}
	}
}
