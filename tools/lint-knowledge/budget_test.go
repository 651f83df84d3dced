package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadBudget(t *testing.T) {
	tests := []struct {
		name, text string
		want       budget
		err        string
	}{
		{"rules and comments", "# why\n\nfar 3\nleaning 12\n", budget{"far": 3, "leaning": 12}, ""},
		{"empty", "", budget{}, ""},
		{"no count", "far\n", nil, "line 1"},
		{"not a number", "far 3\nleaning many\n", nil, "line 2"},
		{"negative", "far -1\n", nil, "line 1"},
		{"twice", "far 1\nfar 2\n", nil, "stands twice"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := readBudget(strings.NewReader(tc.text))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("err = %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("budget (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBudgetOnlyFalls(t *testing.T) {
	b := budget{"far": 3, "leaning": 12, "gone": 4}
	now := map[string]int{"far": 5, "leaning": 10, "fresh": 1}
	if diff := cmp.Diff(budget{"far": 3, "leaning": 10, "fresh": 0}, b.lowered(now)); diff != "" {
		t.Errorf("lowered (-want +got):\n%s", diff)
	}
	want := []string{"far: 5 warnings, 3 allowed", "fresh: 1 warnings, 0 allowed"}
	if diff := cmp.Diff(want, b.exceeded(now)); diff != "" {
		t.Errorf("exceeded (-want +got):\n%s", diff)
	}
}

func TestBudgetIsReadAsWritten(t *testing.T) {
	b := budget{"far": 3, "leaning": 12}
	var s strings.Builder
	if err := b.write(&s); err != nil {
		t.Fatal(err)
	}
	got, err := readBudget(strings.NewReader(s.String()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, got); diff != "" {
		t.Errorf("budget (-want +got):\n%s", diff)
	}
}

func FuzzReadBudget(f *testing.F) {
	f.Add("far 3\n# x\n")
	f.Add("far 99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := readBudget(strings.NewReader(text))
		if err != nil {
			return
		}
		for rule, n := range b {
			if n < 0 {
				t.Errorf("%s: %d", rule, n)
			}
		}
	})
}
