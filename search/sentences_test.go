package search

import (
	"slices"
	"strings"
	"testing"

	"tooldex/tool"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		"refund the customer's payment":  nil,
		"version 1.2 of node.js is slow": nil,
		"The parcel never came. Refund the customer's payment": {
			"The parcel never came",
			"Refund the customer's payment",
		},
		"Is it raining in Oslo?\n\nDim the kitchen lights!": {"Is it raining in Oslo", "Dim the kitchen lights!"},
		"Hi! Thanks. Refund the customer's payment.":        nil, // greetings say nothing
	} {
		if got := new(scratch).splitSentences(text); !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
	if got := new(scratch).splitSentences(strings.Repeat("Refund a payment. ", 50)); len(got) != maxSentences {
		t.Errorf("a long text has %d sentences", len(got))
	}
}

// TestSentenceAmongOthers finds what one sentence asks for although the others are about something else.
func TestSentenceAmongOthers(t *testing.T) {
	e := engineOf(t, catalogue(t))
	const need, want = "Why did the service go down?", tool.ID("ops/get_logs")
	for _, talk := range []string{
		"",
		"I am planning a trip for my family to the mountains next summer and we have been dreaming of it for years. My wife likes hiking and my children like " +
			"swimming in lakes and rivers, and all of us like good food and old towns. ",
		"We run a small company with two offices and forty people, most of whom work with customers, orders and payments every day. The last quarter was hard " +
			"and the team is tired of issues, messages and meetings. ",
	} {
		r := mustSearch(t, e, tool.Query{Text: talk + need})
		if !slices.Contains(hitIDs(r.Tools[:2]), want) {
			t.Errorf("behind %q finds %v", talk, hitIDs(r.Tools))
		}
	}
}
