package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"snake case", "list_open_orders", []string{"list", "open", "orders"}},
		{"camel case", "listOpenOrders", []string{"list", "open", "orders"}},
		{"capitals stay together", "readDNS of HTTP", []string{"read", "dns", "of", "http"}},
		{"punctuation", "what's up? ok!", []string{"what", "s", "up", "ok"}},
		{"digits", "order 4711-b", []string{"order", "4711", "b"}},
		{"other scripts", "найди «хлеб»", []string{"найди", "хлеб"}},
		{"vowel signs stay in the word", "रोटी लाओ", []string{"रोटी", "लाओ"}},
		{"nothing", " ,. ", nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, split(tc.text)); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContentDropsStopWordsAndStems(t *testing.T) {
	got := slices.Sorted(maps.Keys(newAnalyser().content("Please list my orders", "ordering_of")))
	if diff := cmp.Diff([]string{"list", "order"}, got); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
}

func TestNormalIgnoresCaseAndPunctuation(t *testing.T) {
	if a, b := normal("List  open_orders!"), normal("list OPEN orders"); a != b {
		t.Errorf("%q and %q differ", a, b)
	}
}

func TestJaccard(t *testing.T) {
	set := func(words ...string) map[string]bool {
		m := make(map[string]bool)
		for _, w := range words {
			m[w] = true
		}
		return m
	}
	tests := []struct {
		name string
		a, b map[string]bool
		want float64
	}{
		{"equal", set("a", "b"), set("b", "a"), 1},
		{"one of three", set("a", "b"), set("b", "c"), 1.0 / 3},
		{"apart", set("a"), set("b"), 0},
		{"empty sets are not alike", set(), set(), 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := jaccard(tc.a, tc.b); got != tc.want {
				t.Errorf("got %g, want %g", got, tc.want)
			}
		})
	}
}
