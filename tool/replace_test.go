package tool

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReplace changes the tools of some servers again and again, and compares the set with one that is made of all
// tools.
func TestReplace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	// Names that come out alike in several ways, and others.
	servers := []string{"a", "a_", "a__b", "é", "b", "long"}
	names := []string{"b", "_b", "b__c", "c", "é", "ö", "x.y", "x_y", "x y", "list_all_things_of_a_very_long_name_that_does_not_fit_in_64", "z"}
	all, held := map[string][]*Tool{}, map[*Tool]string{}
	why := func(t *Tool) string { return held[t] }
	whole := func() *Set {
		var tools []*Tool
		for _, s := range servers {
			tools = append(tools, all[s]...)
		}
		return NewSet(tools, "").Withhold(why)
	}
	set := whole()
	for step := range 400 {
		changed, with := map[string]bool{}, []*Tool{}
		for range 1 + r.IntN(2) {
			changed[servers[r.IntN(len(servers))]] = true
		}
		for s := range changed {
			all[s] = nil
			for _, n := range names {
				if r.IntN(3) == 0 {
					one := &Tool{Server: s, Name: n}
					all[s] = append(all[s], one)
					if r.IntN(6) == 0 {
						held[one] = fmt.Sprintf("reason %d", step)
					}
				}
			}
			with = append(with, all[s]...)
		}
		want := whole()
		set = set.Replace(changed, with, why)
		if !slices.Equal(want.tools, set.tools) || !slices.Equal(want.exposed, set.exposed) {
			t.Fatalf("step %d: %v as %v, want %v as %v", step, set.tools, set.exposed, want.tools, want.exposed)
		}
		if d := cmp.Diff(want.held, set.held, cmp.AllowUnexported(heldTool{})); d != "" {
			t.Fatalf("step %d: held (-want +got)\n%s", step, d)
		}
		if want.Version() != set.Version() {
			t.Fatalf("step %d: another version", step)
		}
	}
}
