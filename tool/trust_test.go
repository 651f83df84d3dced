package tool

import (
	"errors"
	"strings"
	"testing"
)

func TestWithhold(t *testing.T) {
	whole := NewSet([]*Tool{
		{Server: "a", Name: "send_mail"},
		{Server: "a", Name: "list"},
		{Server: "b", Name: "send_mail"},
	}, "")
	s := whole.Withhold(func(x *Tool) string {
		if x.ID() == "a/send_mail" {
			return "it changed"
		}
		return ""
	})
	if s.Len() != 2 || s.Version() == whole.Version() || s.Exposed("a/send_mail") != "" ||
		s.Exposed("b/send_mail") != "b__send_mail" {
		t.Errorf("%d tools, %q", s.Len(), s.Exposed("b/send_mail"))
	}
	if _, ok := s.Get("a/send_mail"); ok {
		t.Error("the held tool can be got")
	}
	for _, near := range s.nearestNames("a__send_mail", 5) {
		if near == "a__send_mail" {
			t.Error("the held tool is offered in place of another")
		}
	}
	for _, name := range []string{"a/send_mail", "a__send_mail", "mcp__a__send_mail", "A.Send-Mail"} {
		_, err := s.Resolve(name)
		if CodeOf(err) != Denied || !strings.Contains(err.Error(), "it changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := s.Resolve("send_mail"); err != nil || got.Server != "b" {
		t.Errorf("the plain name means %v, %v", got, err)
	}
	if CodeOf(s.CheckHeld("a/send_mail")) != Denied || s.CheckHeld("a/list") != nil {
		t.Error("the reason is lost")
	}
	if whole.Withhold(func(*Tool) string { return "" }) != whole {
		t.Error("nothing is held, and yet there is another set")
	}
}

// TestHeldToolsOfOthersAreUnknown holds a narrower view to saying nothing of held tools that it may not see.
func TestHeldToolsOfOthersAreUnknown(t *testing.T) {
	s := NewSet([]*Tool{{Server: "a", Name: "x"}, {Server: "b", Name: "y"}},
		"").Withhold(func(*Tool) string { return "why" })
	mine := s.Subset(onServer("b"))
	for name, want := range map[string]Code{"a/x": NotFound, "b/y": Denied, "c/z": NotFound} {
		_, err := mine.Resolve(name)
		if CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		var te *Error
		if errors.As(err, &te) && want == NotFound && strings.Contains(te.Error(), "held") {
			t.Errorf("%s: the error says what it must not: %v", name, err)
		}
	}
}
