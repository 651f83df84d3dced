package tool_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tooldex/tool"
)

func TestQueryValidate(t *testing.T) {
	for name, c := range map[string]struct {
		q    tool.Query
		want string // in the message; "" for a valid query
	}{
		"one need":               {tool.Query{Text: "read a file"}, ""},
		"20 needs":               {tool.Query{Texts: slices.Repeat([]string{"a"}, 20)}, ""},
		"one of two is empty":    {tool.Query{Texts: []string{"", "a"}}, ""},
		"everything set":         {tool.Query{Text: "a", Limit: 100, Mode: tool.Keyword, Detail: tool.DetailSchema}, ""},
		"limit over the most":    {tool.Query{Text: "a", Limit: 5000}, ""},
		"long text":              {tool.Query{Text: strings.Repeat("a ", 10_000)}, ""},
		"21 needs":               {tool.Query{Texts: slices.Repeat([]string{"a"}, 21)}, "20 needs"},
		"no text":                {tool.Query{}, "empty"},
		"only space":             {tool.Query{Text: " \t\n\u00a0"}, "empty"},
		"only what is not UTF-8": {tool.Query{Text: "\xff \xfe"}, "empty"},
		"empty needs":            {tool.Query{Text: "not read", Texts: []string{"", " "}}, "empty"},
		"negative limit":         {tool.Query{Text: "a", Limit: -1}, "limit"},
		"unknown mode":           {tool.Query{Text: "a", Mode: "fuzzy"}, "fuzzy"},
		"unknown detail":         {tool.Query{Text: "a", Detail: "all"}, `"all"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.q.Validate()
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *tool.Error
			if !errors.As(err, &e) || e.Code != tool.Invalid || !strings.Contains(e.Msg, c.want) || e.Hint == "" {
				t.Errorf("got %v, want an Invalid error with a hint that says %s", err, c.want)
			}
		})
	}
}
