package inspect

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func TestConfusion(t *testing.T) {
	tests := []struct {
		name       string
		own, other float64
		ahead      bool
		want       float64
	}{
		{"level", .5, .5, false, .5},
		{"level, and the other before it", .5, .5, true, .5},
		{"clearly ahead", .9, .5, false, 0},
		{"clearly behind", .5, .9, true, 1},
		// Scores of .81 and 1 are fused scores of 9 to 10: a tenth of the higher apart.
		{"just clear", 1, .81, false, 0},
		// (sqrt(.9025) = .95) a twentieth apart: half way.
		{"a little ahead", 1, .9025, false, .25},
		{"a little behind", .9025, 1, true, .75},
		{"nothing to compare, behind", 0, .5, true, 1},
		{"both nothing", 0, 0, false, .5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := confusionOf(tt.own, tt.other, tt.ahead); math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("confusion = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCollide(t *testing.T) {
	in := inspector(t, office(), nil)
	found, err := in.Collide(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	pair := func(a, b tool.ID) *Collision {
		for i := range found {
			if found[i].A == a && found[i].B == b {
				return &found[i]
			}
		}
		return nil
	}
	twins := pair("east/list_files", "west/list_files")
	if twins == nil || twins.Apart > .6 || !slices.Equal(twins.OnlyA, []string{"east"}) ||
		!slices.Equal(twins.OnlyB, []string{"west"}) {
		t.Errorf("twins: %+v", twins)
	}
	rooms := pair("desk/book_room", "desk/book_room_weekly")
	if rooms == nil || rooms.Apart <= twins.Apart-.1 || len(rooms.OnlyA) != 0 ||
		!slices.Contains(rooms.OnlyB, "weekly") || rooms.Wrong == "" {
		t.Errorf("rooms: %+v", rooms)
	}
	if c := pair("desk/send_letter", "desk/water_plants"); c != nil {
		t.Errorf("tools that have nothing in common: %+v", c)
	}
	if !slices.IsSortedFunc(found, func(x, y Collision) int {
		if x.Apart < y.Apart {
			return -1
		}
		return 0
	}) {
		t.Errorf("not worst first: %+v", found)
	}
	// The same again, to the last bit, whichever goroutine came first; and a limit takes the worst.
	again, err := in.Collide(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(found[:1], again); diff != "" {
		t.Errorf("(-all +one):\n%s", diff)
	}
	if _, err := failing(t).Collide(t.Context(), 0); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("error %v", err)
	}
}

// A thousand tools of which every second has a twin: every pair of twins is found, and each once.
func TestCollideManyTwins(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	things := []string{
		"invoice", "calendar", "river", "contract", "voucher", "parcel", "ticket", "recipe", "bridge",
		"novel",
	}
	doings := []string{"delete", "create", "print", "translate", "archive", "colour", "weigh", "rename"}
	var tools []*tool.Tool
	for i, thing := range things {
		for j, doing := range doings {
			one := tool.Tool{Server: "a", Name: doing + "_" + thing, Description: fmt.Sprintf("%s one %s", doing,
				thing)}
			tools = append(tools, &one)
			if (i+j)%2 == 0 {
				two := one
				two.Server = "b"
				tools = append(tools, &two)
			}
		}
	}
	found, err := inspector(t, tools, nil).Collide(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	twins := map[tool.ID]int{}
	for _, c := range found {
		if c.A.Name() == c.B.Name() {
			twins[c.A]++
		}
	}
	if len(twins) != 40 {
		t.Errorf("%d pairs of twins found, want 40", len(twins))
	}
	for id, n := range twins {
		if n != 1 {
			t.Errorf("%s is told %d times", id, n)
		}
	}
}
