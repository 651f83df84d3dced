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

// TestNameTableCollision has two keys of one hash: each finds its own tool.
func TestNameTableCollision(t *testing.T) {
	seen := map[uint32]string{}
	var keys []string
	for i := 0; len(keys) == 0; i++ {
		key := fmt.Sprint("key", i)
		h := hashKey([]byte(key))
		if other, ok := seen[h]; ok {
			keys = []string{other, key, other}
		}
		seen[h] = key
	}
	table := newNameTable(len(keys), func(dst []byte, i int) []byte { return append(dst, keys[i]...) })
	if got := table.find(keys[0]); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("%s is at %v", keys[0], got)
	}
	if got := table.find(keys[1]); !slices.Equal(got, []int{1}) {
		t.Errorf("%s is at %v", keys[1], got)
	}
}
