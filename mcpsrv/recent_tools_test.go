package mcpsrv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func ids(names string) []tool.ID {
	var out []tool.ID
	for _, name := range strings.Fields(names) {
		out = append(out, tool.ID(name))
	}
	return out
}

// TestVisible plays steps: "+a b" adds, "a" uses. The set holds three.
func TestVisible(t *testing.T) {
	for name, c := range map[string]struct{ steps, want string }{
		"in order":                      {"+b a,+c", "b a c"},
		"again":                         {"+a b,+b a", "a b"},
		"the oldest goes":               {"+a,+b,+c,+d", "b c d"},
		"what was used stays":           {"+a,+b,+c,a,+d", "a c d"},
		"what was found again stays":    {"+a,+b,+c,+a,+d", "a c d"},
		"what is not there is not used": {"+a,+b,+c,x,+d", "b c d"},
		"what comes back is at the end": {"+a,+b,+c,+d,+a", "c d a"},
		"the best of one search stay":   {"+a b c,+d,+e", "a d e"},
		"more than fit":                 {"+a b c d e", "a b c"},
		"all others go":                 {"+a b c,+d e f", "d e f"},
	} {
		t.Run(name, func(t *testing.T) {
			var v recentTools
			for step := range strings.SplitSeq(c.steps, ",") {
				if added, ok := strings.CutPrefix(step, "+"); ok {
					v.addTools(ids(added), 3)
				} else {
					v.markUsed(tool.ID(step))
				}
			}
			if diff := gocmp.Diff(ids(c.want), v.order); diff != "" {
				t.Errorf("the set (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVisibleOnlyAppends holds, for random uses, that what stays keeps its order, that what comes is behind it, that
// there is never too much, and that the last used is never the one to go.
func TestVisibleOnlyAppends(t *testing.T) {
	const most = 7
	random := rand.New(rand.NewPCG(1, 2))
	var v recentTools
	for range 5000 {
		before := slices.Clone(v.order)
		one := tool.ID(fmt.Sprint("t", random.IntN(20)))
		if random.IntN(2) == 0 {
			if v.markUsed(one) != slices.Contains(before, one) {
				t.Fatalf("use of %s, of %v, is told wrong", one, before)
			}
			continue
		}
		last := v.recent[max(0, len(v.recent)-1):]
		changed := v.addTools([]tool.ID{one}, most)
		stayed := slices.DeleteFunc(slices.Clone(before), func(id tool.ID) bool {
			return !slices.Contains(v.order, id)
		})
		if !slices.Equal(stayed, v.order[:len(stayed)]) {
			t.Fatalf("%v became %v", before, v.order)
		}
		if len(v.order) > most || len(v.recent) != len(v.order) || !slices.Contains(v.order, one) ||
			len(before)-len(stayed) > 1 {
			t.Fatalf("%v became %v after %s", before, v.order, one)
		}
		if changed == slices.Contains(before, one) {
			t.Fatalf("adding %s to %v: changed %v", one, before, changed)
		}
		if len(last) == 1 && !slices.Contains(v.order, last[0]) {
			t.Fatalf("%s, used last, went", last[0])
		}
	}
}
