package inspect

import (
	"strings"
	"testing"

	"tooldex/tool"
)

func TestRemedy(t *testing.T) {
	tools := append(office(), &tool.Tool{Server: "desk", Name: "shredder", Description: "Destroy paper.", Disabled: true})
	in := inspector(t, tools, nil)
	for name, tt := range map[string]struct {
		query  string
		wanted []tool.ID
		first  tool.ID
		want   []string
	}{
		"words that the tool lacks": {
			"convene the quarterly palaver in a room",
			[]tool.ID{"desk/book_room"},
			"desk/send_letter",
			[]string{"search phrase", "desk/book_room", "palaver"},
		},
		"a tool that has the words too": {
			"book room", []tool.ID{"desk/book_room"}, "desk/book_room_weekly", []string{"desk/book_room", "desk/book_room_weekly"},
		},
		"disabled":                {"destroy paper", []tool.ID{"desk/shredder"}, "", []string{"desk/shredder is disabled"}},
		"no tool should serve it": {"letter to the moon", nil, "desk/send_letter", []string{"desk/send_letter", "letter"}},
		"nothing is known":        {"anything", []tool.ID{"no/such"}, "", nil},
		"nothing was found":       {"anything", nil, "", nil},
	} {
		got := in.Remedy(tt.query, tt.wanted, tt.first)
		if len(tt.want) == 0 && got != "" {
			t.Errorf("%s: %q, want nothing", name, got)
		}
		for _, part := range tt.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q does not contain %q", name, got, part)
			}
		}
	}
}
