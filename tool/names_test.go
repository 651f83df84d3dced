package tool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestNames compares the look-ups of a set with a walk over all of its tools.
func TestNames(t *testing.T) {
	var tools []*Tool
	for i := range 300 {
		server := []string{"git-hub", "git", "GitHub", "m.é", "a!"}[i%5]
		tools = append(tools, &Tool{Server: server, Name: fmt.Sprintf([]string{"get_%d", "Get-%d", "list/%d"}[i%3], i/9)})
	}
	set := NewSet(tools, "")
	for i := 1; i < set.Len(); i++ {
		if a, b := set.All()[i-1].ID(), set.All()[i].ID(); a >= b {
			t.Errorf("%s stands before %s", a, b)
		}
	}
	for i, one := range set.All() {
		if got, ok := set.Get(one.ID()); !ok || got != one {
			t.Errorf("%s is not found by its ID", one.ID())
		}
		if got := set.Spelled(set.Exposed(one.ID())); !slices.Equal(got, []int{i}) {
			t.Errorf("%s is found at %v by its exposed name, want %d", one.ID(), got, i)
		}
		var plain, full []int
		for k, other := range set.All() {
			if Fold(other.Name) == Fold(one.Name) {
				plain = append(plain, k)
			}
			if Fold(other.Server+other.Name) == Fold(one.Server+one.Name) {
				full = append(full, k)
			}
		}
		if got := set.Spelled(strings.ToUpper(one.Name)); !slices.Equal(got, plain) {
			t.Errorf("%s is found at %v, want %v", one.Name, got, plain)
		}
		if got := set.Spelled("mcp:" + one.Server + ":" + one.Name); !slices.Equal(got, full) {
			t.Errorf("%s in full is found at %v, want %v", one.ID(), got, full)
		}
	}
	for _, id := range []ID{"", "a", "git", "git/", "git-hub/none", "zzz/x", "git-hub"} {
		if _, ok := set.Get(id); ok {
			t.Errorf("%q is found", id)
		}
	}
	if got := new(Set).Spelled("x"); got != nil || new(Set).Version() != "" {
		t.Error("the zero Set is not empty")
	}
}
