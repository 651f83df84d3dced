package service

import (
	"errors"
	"fmt"
	"testing"

	"tooldex/embed"
)

// TestFailureFilter wants an outage to be logged once, whatever the count of its failures, and another one again.
func TestFailureFilter(t *testing.T) {
	down := &embed.Error{Kind: embed.ErrUnavailable, Msg: "does not serve", Hint: "ollama serve"}
	alone := func(n int) error {
		return &embed.Error{
			Kind: embed.ErrUnavailable, Msg: fmt.Sprintf("left alone after %d failures", n),
			Hint: "it is asked again by itself", Err: fmt.Errorf("embed: %w", down),
		}
	}
	missing := &embed.Error{Kind: embed.ErrModelMissing, Msg: "no model", Hint: "ollama pull"}
	var f failureFilter
	for i, step := range []struct {
		err  error
		news bool
	}{
		{nil, false},
		{down, true},
		{down, false},
		{alone(3), false},
		{fmt.Errorf("embed tools: %w", alone(4)), false},
		{down, false},
		{missing, true},
		{missing, false},
		{nil, false},
		{missing, true},
		{errors.New("disk full"), true},
		{errors.New("disk full"), false},
	} {
		if got := f.isNew(step.err); got != step.news {
			t.Errorf("step %d, %v: news %v", i, step.err, got)
		}
	}
}
