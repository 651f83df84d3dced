package knowledge

import (
	"strings"
	"testing"
)

func TestEffects(t *testing.T) {
	var an Analyzer
	for request, want := range map[string]struct {
		tool        string
		contradicts bool
	}{
		"delete the old branch":   {"get_branch", true},
		"show the branch":         {"get_branch", false},
		"open a ticket":           {"close_issue", true},
		"open the ticket":         {"close_issue", false}, // it may mean to look at it
		"open another ticket":     {"create_issue", false},
		"deleting is not for me":  {"delete_branch", false},
		"branches of the project": {"delete_branch", false}, // it does not say
		"create a file":           {"frobnicate", false},
		"":                        {"delete_branch", false},
	} {
		asked := an.RequestedEffect(strings.Fields(request))
		if got := asked.Contradicts(an.NameEffect(want.tool)); got != want.contradicts {
			t.Errorf("%q against %s: %v", request, want.tool, got)
		}
	}
}
