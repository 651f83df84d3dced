package inspect

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/eval"
	"tooldex/tool"
)

func TestDraft(t *testing.T) {
	in := inspector(t, office(), map[tool.ID][]Request{
		"desk/book_room": {
			{ID: "q1", Text: "labelled already", From: Labelled},
			{Text: "a room", From: Borrowed},
			{Text: "a table", From: Borrowed},
			{Text: "a chair", From: Borrowed},
		},
		"desk/book_room_weekly": {{Text: "A  ROOM", From: Borrowed}, {Text: " ", From: Borrowed}},
	})
	want := []Drafted{
		{"desk/book_room-1", "a room", []tool.ID{"desk/book_room", "desk/book_room_weekly"}, Borrowed},
		{"desk/book_room-2", "a table", []tool.ID{"desk/book_room"}, Borrowed},
		{"desk/run-1", "run", []tool.ID{"desk/run"}, Summary},
		{"desk/send_letter-1", "mail this to my aunt on paper", []tool.ID{"desk/send_letter"}, Declared},
		{"desk/water_plants-1", "give the ficus a drink", []tool.ID{"desk/water_plants"}, Example},
		{"east/list_files-1", "List the files in a folder", []tool.ID{"east/list_files", "west/list_files"}, Summary},
	}
	if diff := cmp.Diff(want, in.Draft(DraftOptions{})); diff != "" {
		t.Errorf("draft (-want +got):\n%s", diff)
	}
	if n := len(in.Draft(DraftOptions{PerTool: 1})); n != len(want)-1 {
		t.Errorf("%d requests with one borrowed of each tool", n)
	}
}

// What is drafted loads as what it was, whatever is in its texts.
func FuzzWriteDraft(f *testing.F) {
	f.Add("water: the # plants", "a/b")
	f.Add("\"quoted\" \\ 'single' \u0085\u2028 %s - [x] {y}", "é/天")
	f.Add("\x00\xff\ufeff", "s/n #1")
	f.Fuzz(func(t *testing.T, text, id string) {
		if strings.TrimSpace(quoteText(text)) == `""` || strings.TrimSpace(strings.Map(printableRune, text)) == "" {
			t.Skip()
		}
		var b bytes.Buffer
		draft := []Drafted{
			{ID: id + "-1", Text: text, Tools: []tool.ID{"a/one", "a/two"}, From: Borrowed},
			{ID: "x", Text: "y", Tools: []tool.ID{"a/two"}, From: Declared},
		}
		if err := WriteDraft(&b, draft, func(id tool.ID) string { return string(id) }, "tooldex eval x"); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "q.yaml")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		set := tool.NewSet([]*tool.Tool{{Server: "a", Name: "one"}, {Server: "a", Name: "two"}}, "")
		d, err := eval.LoadCases(file, set)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		c := d.Cases[0]
		want := strings.Map(printableRune, strings.ToValidUTF8(text, "\uFFFD"))
		if c.Query != want || !c.Any || len(c.Relevant) != 2 || c.Kind != "borrowed" || !c.Unreviewed {
			t.Fatalf("%q is read as %+v", text, c)
		}
		if d.Cases[1].ID != "x" || d.Cases[1].Any || d.Cases[1].Kind != "declared" {
			t.Fatalf("%+v", d.Cases[1])
		}
	})
}

var errFull = errors.New("disk is full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteDraftFails(t *testing.T) {
	if err := WriteDraft(fullDisk{}, nil, nil, ""); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}
