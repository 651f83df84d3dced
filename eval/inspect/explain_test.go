package inspect

import (
	"slices"
	"strings"
	"testing"

	"tooldex/tool"
)

func TestExplain(t *testing.T) {
	in := inspector(t, office(), nil)
	x, err := in.Explain(t.Context(), "reserve a meeting room", []tool.ID{"desk/water_plants", "desk/book_room"})
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Wanted) != 2 || x.Wanted[0].Tool != "desk/book_room" || x.First != nil {
		t.Fatalf("%+v", x)
	}
	room, plants := x.Wanted[0], x.Wanted[1]
	if room.Place != 1 || room.Score <= plants.Score || len(room.Above) != 0 || room.Words <= 0 || room.Like <= 0 ||
		room.Weight <= 0 {
		t.Errorf("the room: %+v", room)
	}
	// The words are spelt as in the request, and sum up to what words are worth.
	sum := 0.0
	for i, p := range room.Terms {
		sum += p.Added
		if i > 0 && p.Added > room.Terms[i-1].Added {
			t.Errorf("%+v is out of order", p)
		}
	}
	if d := sum - room.Words; d > .01 || d < -.01 {
		t.Errorf("words add %v, together they are %v", sum, room.Words)
	}
	if !slices.ContainsFunc(room.Terms, func(p Part) bool { return p.Word == "meeting" && p.From == "own" }) {
		t.Errorf("terms %+v", room.Terms)
	}
	if len(plants.Above) == 0 || plants.Above[0].Tool != "desk/book_room" || plants.Above[0].Place != 1 ||
		plants.Above[0].Words <= 0 ||
		!slices.ContainsFunc(plants.Above[0].Terms, func(l Lead) bool { return l.Word == "meeting" && l.More > 0 }) {
		t.Errorf("above the plants: %+v", plants.Above)
	}
}

func TestExplainWhatIsNotFound(t *testing.T) {
	in := inspector(t, office(), nil)
	x, err := in.Explain(t.Context(), "what nobody needs", []tool.ID{"west/old_thing"})
	if err != nil {
		t.Fatal(err)
	}
	if s := x.Wanted[0]; s.Place != 0 || !s.Disabled || s.Score != 0 {
		t.Errorf("a disabled tool: %+v", s)
	}
	// A request that no tool is labelled for shows what came first in spite of that.
	x, err = in.Explain(t.Context(), "water the plants", nil)
	if err != nil || x.First == nil || x.First.Tool != "desk/water_plants" {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := in.Explain(t.Context(), "x", []tool.ID{"no/such"}); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("error %v", err)
	}
	if _, err := failing(t).Explain(t.Context(), "x", nil); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("error %v", err)
	}
}

func TestExplainParts(t *testing.T) {
	in := inspector(t, office(), nil)
	x, err := in.Explain(t.Context(), "send a letter to my aunt, then list the files in a folder",
		[]tool.ID{"desk/send_letter"})
	if err != nil || len(x.Parts) != 2 || !strings.Contains(x.Parts[1], "files") ||
		x.Wanted[0].Place < 1 || x.Wanted[0].Place > 2 { // the first of either part may come first
		t.Errorf("%+v, %v", x, err)
	}
}
