package knowledge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Many archetypes read at once are those read one by one, in the order asked for, also twice and from one block.
func TestHeads(t *testing.T) {
	b, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	asked := []int{b.Len() - 1, 0, perBlock + 1, 1, perBlock, 0, namesBlock, namesBlock - 1}
	got, err := b.Heads(asked)
	if err != nil {
		t.Fatal(err)
	}
	for i, archetype := range asked {
		want, err := b.Head(archetype)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("archetype %d (-one +many):\n%s", archetype, diff)
		}
	}
	for _, wrong := range []int{-1, b.Len()} {
		if _, err := b.Heads([]int{0, wrong}); err == nil {
			t.Errorf("archetype %d was read", wrong)
		}
	}
	if none, err := b.Heads(nil); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
}
