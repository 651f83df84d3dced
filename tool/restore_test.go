package tool

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRestoreSet compares a restored set with that whose lists it has, held tools included.
func TestRestoreSet(t *testing.T) {
	set, known, exposed, held := restorable()
	got, ok := RestoreSet(known, exposed, held, set.NameLists())
	if !ok || got.Version() != set.Version() || got.Len() != set.Len() {
		t.Fatalf("restored %d tools (%v), want %d", got.Len(), ok, set.Len())
	}
	if a, b := maps.Collect(got.Held()), maps.Collect(set.Held()); len(b) != len(held) || !maps.Equal(a, b) {
		t.Errorf("held are %v, want %v", a, b)
	}
	for _, one := range known {
		plain := "mcp__" + one.Server + "__" + one.Name
		for _, name := range []string{string(one.ID()), set.Exposed(one.ID()), one.Name, plain} {
			if a, b := got.Spelled(name), set.Spelled(name); !slices.Equal(a, b) {
				t.Errorf("%s is at %v, want %v", name, a, b)
			}
		}
		if a, b := fmt.Sprint(got.CheckHeld(one.ID())), fmt.Sprint(set.CheckHeld(one.ID())); a != b {
			t.Errorf("%s: %s, want %s", one.ID(), a, b)
		}
	}
	for k := range numNameLists {
		lists := set.NameLists()
		lists[k] = lists[k][:len(lists[k])-1]
		if _, ok := RestoreSet(known, exposed, held, lists); ok {
			t.Errorf("list %d is too short, and was taken", k)
		}
	}
}

// TestRestoreSpoilt looks for names in sets whose lists the disk has spoilt. What is found is in the set, and every
// search ends.
func TestRestoreSpoilt(t *testing.T) {
	set, known, exposed, held := restorable()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		lists := set.NameLists()
		k := random.IntN(numNameLists)
		lists[k] = slices.Clone(lists[k])
		for i := range lists[k] {
			switch random.IntN(3) {
			case 0:
				lists[k][i] = random.Uint32()
			case 1:
				lists[k][i] = random.Uint32N(uint32(set.Len()) + 2)
			}
		}
		got, ok := RestoreSet(known, exposed, held, lists)
		if !ok {
			t.Fatal("lists of the right lengths were refused")
		}
		for _, one := range known {
			for _, i := range slices.Concat(got.Spelled(one.Name), got.Spelled(one.Server+one.Name)) {
				if i < 0 || i >= got.Len() {
					t.Fatalf("%s is at %d of %d", one.Name, i, got.Len())
				}
			}
		}
	}
}

// restorable returns a set that holds some tools, and what RestoreSet takes: all that it knows, in order.
func restorable() (set *Set, known []*Tool, exposed []string, held map[*Tool]string) {
	for i := range 60 {
		known = append(known, &Tool{Server: []string{"a.b", "a_b", "c"}[i%3], Name: fmt.Sprintf("get %d", i/6)})
		known[i].Name += []string{"", "X"}[i%2]
	}
	whole := NewSet(known, "")
	known, held = whole.All(), map[*Tool]string{}
	for i, one := range known {
		exposed = append(exposed, whole.Exposed(one.ID()))
		if i%7 == 0 {
			held[one] = fmt.Sprint("reason ", i)
		}
	}
	return whole.Withhold(func(t *Tool) string { return held[t] }), known, exposed, held
}
