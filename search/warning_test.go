package search

import (
	"context"
	"testing"

	"tooldex/tool"
)

// TestHitsWarn wants a suspicious tool that is found to bring its warning, which counts as read, wherever it brings its
// summary.
func TestHitsWarn(t *testing.T) {
	plain := &tool.Tool{
		Server: "a", Name: "look_up_words", Summary: "Look up words",
		Description: "Look up words in a dictionary.",
	}
	warned := *plain
	warned.Warning = "this description is not to be trusted"
	for detail, want := range map[tool.Detail]string{
		tool.DetailName: "", "": warned.Warning, tool.DetailSummary: warned.Warning,
		tool.DetailSignature: warned.Warning, tool.DetailSchema: warned.Warning,
	} {
		tokens := map[bool]int{}
		for _, one := range []*tool.Tool{plain, &warned} {
			res, err := engineOf(t, []*tool.Tool{one}).Search(context.Background(),
				tool.Query{Text: "look up words", Detail: detail})
			if err != nil || len(res.Tools) != 1 {
				t.Fatalf("%v, %v", res, err)
			}
			tokens[one == &warned] = res.Tokens
			if got := res.Tools[0].Warning; one == &warned && got != want || one == plain && got != "" {
				t.Errorf("at detail %q the warning of %q is %q", detail, one.Warning, got)
			}
		}
		if more := tokens[true] > tokens[false]; more != (want != "") {
			t.Errorf("at detail %q it costs %d tokens with the warning, %d without", detail, tokens[true],
				tokens[false])
		}
	}
}
