package search

import (
	"slices"
	"testing"

	"tooldex/tool"
)

// fileTools are tools of a file server, of which read_file says what replaces it.
func fileTools(deprecated string) []*tool.Tool {
	return []*tool.Tool{
		{
			Server: "files", Name: "read_file", Description: "Read the complete contents of a file as text.",
			Deprecated: deprecated,
		},
		{
			Server: "files", Name: "read_text_file",
			Description: "Get what a document in the file system holds, in an encoding.",
		},
		{Server: "files", Name: "write_file", Description: "Create a file or overwrite the one that exists."},
		{Server: "files", Name: "list_directory", Description: "List the files and folders in a directory."},
		{Server: "other", Name: "read_text_file", Description: "Read a text file of another server."},
	}
}

// TestDeprecatedRanksBelow requires that a deprecated tool ranks below the one that replaces it, however the
// replacement is named, that an answer marks it at every detail, and that without a deprecation the order is another.
func TestDeprecatedRanksBelow(t *testing.T) {
	rank := func(e *Engine, text string, id tool.ID) int {
		t.Helper()
		return slices.Index(hitIDs(mustSearch(t, e, tool.Query{Text: text, Limit: 10}).Tools), id)
	}
	const old, replacement = "files/read_file", "files/read_text_file"
	plain := engineOf(t, fileTools(""))
	requests := []string{"read the complete contents of a file", "read file", "show me the contents of the file"}
	for _, text := range requests {
		if rank(plain, text, old) > rank(plain, text, replacement) {
			t.Fatalf("%q finds the tools in that order without a deprecation, too", text)
		}
	}
	for _, said := range []string{
		"Use read_text_file instead", "superseded by `read_text_file`.", "use files/read_text_file",
		"in favour of readTextFile",
	} {
		e := engineOf(t, fileTools(said))
		for _, text := range requests {
			if was, is := rank(e, text, old), rank(e, text, replacement); is < 0 || was <= is {
				t.Errorf("%q: %q finds the old tool at %d, the one that replaces it at %d", said, text, was, is)
			}
		}
		for _, text := range []string{"read_file", "files/read_file", "call files__read_file for me"} {
			if rank(e, text, old) != 0 {
				t.Errorf("%q: %q does not find the tool that it names first", said, text)
			}
		}
		for _, detail := range []tool.Detail{tool.DetailName, tool.DetailSummary, tool.DetailSignature} {
			for _, h := range mustSearch(t, e, tool.Query{Text: requests[0], Detail: detail}).Tools {
				if want := map[bool]string{true: said}[h.ID == old]; h.Deprecated != want {
					t.Errorf("at detail %s, %s is marked with %q", detail, h.ID, h.Deprecated)
				}
			}
		}
		only := mustSearch(t, e, tool.Query{
			Text: requests[0], Filter: tool.Filter{Allow: func(one *tool.Tool) bool { return one.ID() != replacement }},
		})
		if slices.Contains(hitIDs(only.Tools), replacement) || only.Tools[0].ID != old && only.Tools[1].ID != old {
			t.Errorf("where the replacement may not be seen: %v", hitIDs(only.Tools))
		}
	}
}

// TestReplacementOf holds what is taken for the name of a tool in a message, and that a deprecated tool replaces none.
func TestReplacementOf(t *testing.T) {
	for said, want := range map[string]tool.ID{
		"deprecated": "", "use another tool": "", "use read_file": "", "use the text in a file": "",
		"use write_file": "files/write_file", "use list instead": "files/list", "a list is better": "",
		"use other/read_text_file": "other/read_text_file", "use gone": "", "use off_now": "", "use old_too": "",
	} {
		tools := append(fileTools(said), &tool.Tool{Server: "files", Name: "list"},
			&tool.Tool{Server: "files", Name: "off_now", Disabled: true},
			&tool.Tool{Server: "files", Name: "old_too", Deprecated: "deprecated"})
		set := tool.NewSet(tools, "")
		old, _ := set.Get("files/read_file")
		got := tool.ID("")
		if i := replacementOf(set, old); i >= 0 {
			got = set.All()[i].ID()
		}
		if got != want {
			t.Errorf("%q names %q, want %q", said, got, want)
		}
	}
}
