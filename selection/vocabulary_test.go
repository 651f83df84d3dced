package selection

import (
	"testing"

	"tooldex/tool"
)

func TestVocabulary(t *testing.T) {
	v := NewVocabulary(tool.NewSet([]*tool.Tool{
		{Server: "git", Name: "create_branch"},
		{Server: "git", Name: "deleteBranches"},
		{Server: "git", Name: "list-issues"},
		{Server: "git", Name: "go_to_line2"},
	}, ""))
	for text, want := range map[string]string{
		"create a branch":                "branch create",
		"Delete the branches 5 and 7!":   "branche delete", // as it is cut there, too
		"list the issue":                 "issue",
		"show me all issues":             "issue",
		"issue, issue; ISSUES":           "issue",
		"go to LINE2":                    "line",
		"nothing of theirs":              "",
		"":                               "",
		"größe der Datei line":           "line",
		"createBranch or deleteBranches": "branch branche create delete",
	} {
		if got := v.Key(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
