package inspect

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"tooldex/tool"
)

func TestDescribe(t *testing.T) {
	in := inspector(t, office(), map[tool.ID][]Request{
		"desk/book_room": {
			{ID: "q1", Text: "reserve a room every week", From: Labelled}, // wrongly: it is the other's
			{Text: "reserve a meeting room", From: Borrowed},
		},
	})
	found, err := in.Describe(t.Context(), "desk/book_room", "desk/send_letter")
	if err != nil {
		t.Fatal(err)
	}
	room, letter := found[0], found[1]
	if room.Tool != "desk/book_room" || room.Requests != 2 || room.First != 1 || room.Five != 2 ||
		len(room.Found) != 1 || len(room.Missed) != 1 {
		t.Fatalf("%+v", room)
	}
	if m := room.Missed[0]; m.ID != "q1" || m.Place < 2 || m.First != "desk/book_room_weekly" {
		t.Errorf("missed %+v", m)
	}
	if len(room.LostTo) != 1 || room.LostTo[0] != (Lost{"desk/book_room_weekly", 1}) {
		t.Errorf("lost to %+v", room.LostTo)
	}
	if !slices.ContainsFunc(room.Words, func(p Part) bool { return p.Word == "room" && p.From == "own" }) {
		t.Errorf("words %+v", room.Words)
	}
	if letter.First != 1 || letter.Found[0].From != Declared || len(letter.Advice) != 0 {
		t.Errorf("%+v", letter)
	}
	if _, err := in.Describe(t.Context(), "no/such"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("error %v", err)
	}
	if _, err := failing(t).Describe(t.Context()); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("error %v", err)
	}
}

// All tools that can be found, the worst first.
func TestDescribeAll(t *testing.T) {
	in := inspector(t, office(), map[tool.ID][]Request{"desk/water_plants": {
		{Text: "post a letter", From: Labelled},
		{Text: "reserve a room", From: Labelled},
	}})
	found, err := in.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	missed := func(d Description) float64 { return 1 - float64(d.First)/float64(d.Requests) }
	worstFirst := func(a, b Description) int { return cmp.Compare(missed(b), missed(a)) }
	if len(found) != 7 || !slices.IsSortedFunc(found, worstFirst) {
		t.Errorf("%d, not the worst first: %+v", len(found), found)
	}
	at := slices.IndexFunc(found, func(d Description) bool { return d.Tool == "desk/water_plants" })
	if at < 0 || at > 1 || found[at].First != 1 || found[at].Requests != 3 {
		t.Errorf("the plants at %d of %+v", at, found)
	}
	for _, d := range found {
		if d.Requests == 0 || len(d.Words) > 0 {
			t.Errorf("%+v", d)
		}
	}
}

func TestAdvice(t *testing.T) {
	long := &tool.Tool{Server: "desk", Name: "essay", Description: strings.Repeat("It writes about the sea. ", 60)}
	tools := append(office(), long)
	in := inspector(t, tools, map[tool.ID][]Request{
		"desk/water_plants": {
			{Text: "post a letter", From: Borrowed},
			{Text: "send mail", From: Borrowed},
			{Text: "letter to an address", From: Borrowed},
		},
		"desk/book_room": {
			{Text: "reserve a room every week", From: Labelled},
			{Text: "weekly meeting room", From: Labelled},
			{Text: "book the room weekly", From: Labelled},
		},
	})
	tests := []struct {
		tool tool.ID
		want []string // in the problems or remedies, in this order
	}{
		{"desk/run", []string{"there is no description"}},
		{"desk/essay", []string{"the description has 1499 characters"}},
		{"east/list_files", []string{"west/list_files has the very same description"}},
		{"desk/book_room", []string{
			"it says nothing that desk/book_room_weekly does not say",
			"3 of its requests find desk/book_room_weekly first", "all that it says, the other says too",
		}},
		{"desk/book_room_weekly", []string{"2 of 3 parameters have no description"}},
		{"desk/water_plants", []string{
			"3 of its requests find desk/send_letter first", "(plants,",
			"declares none of its own", `"post a letter"`,
		}},
		{"west/old_thing", []string{"the tool is disabled"}},
		{"desk/send_letter", nil},
	}
	for _, tt := range tests {
		t.Run(string(tt.tool), func(t *testing.T) {
			found, err := in.Describe(t.Context(), tt.tool)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, a := range found[0].Advice {
				if a.Remedy == "" {
					t.Errorf("%q has no remedy", a.Problem)
				}
				text.WriteString(a.Problem + ": " + a.Remedy + "\n")
			}
			rest := text.String()
			if tt.want == nil && rest != "" {
				t.Errorf("advice where none is needed: %s", rest)
			}
			for _, w := range tt.want {
				at := strings.Index(rest, w)
				if at < 0 {
					t.Fatalf("%q is missing from, or out of order in:\n%s", w, text.String())
				}
				rest = rest[at:]
			}
		})
	}
}
