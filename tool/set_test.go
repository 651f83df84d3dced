package tool

import (
	"slices"
	"testing"
)

// TestSubset holds that a subset is one like any other, but that its names are those of the whole.
func TestSubset(t *testing.T) {
	whole := NewSet([]*Tool{{Server: "a", Name: "x"}, {Server: "a", Name: "y"}, {Server: "b", Name: "x"}}, "")
	part := whole.Subset(onServer("a"))
	if got := []string{part.Exposed("a/x"), part.Exposed("a/y"), part.Exposed("b/x")}; !slices.Equal(got,
		[]string{"a__x", "a__y", ""}) {
		t.Errorf("exposed as %q", got)
	}
	if one, err := part.Resolve("x"); err != nil || one.ID() != "a/x" {
		t.Errorf("x, of which there is one, means %v, %v", one, err)
	}
	if _, err := part.Resolve("b__x"); CodeOf(err) != NotFound {
		t.Errorf("what is left out gives %v", err)
	}
	same := whole.Subset(func(t *Tool) *Tool { return t })
	if same.Version() != whole.Version() || part.Version() == whole.Version() || part.Len() != 2 {
		t.Errorf("versions %s, %s, %s of %d", whole.Version(), same.Version(), part.Version(), part.Len())
	}
}

// onServer returns a function for Subset that keeps the tools of one server.
func onServer(name string) func(*Tool) *Tool {
	return func(t *Tool) *Tool {
		if t.Server != name {
			return nil
		}
		return t
	}
}
