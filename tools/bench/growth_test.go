package main

import (
	"strings"
	"testing"
)

// TestLargeText makes the page of invented figures: one that meets its budget, one that does not, and one without.
func TestLargeText(t *testing.T) {
	rows := growthMeasures()
	got := make([][3]float64, len(rows))
	for i := range got {
		got[i] = [3]float64{1, 10, 40}
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
}
