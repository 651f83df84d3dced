package inspect_test

import (
	"context"
	"fmt"
	"strings"

	"tooldex/eval/inspect"
	"tooldex/tool"
)

// byWord is a very plain Searcher: it finds the tools that have a word of the request in their description.
type byWord []*tool.Tool

func (s byWord) Search(_ context.Context, q tool.Query) (*tool.Result, error) {
	res := &tool.Result{Query: q.Text}
	for _, t := range s {
		for _, w := range strings.Fields(q.Text) {
			if strings.Contains(t.Description, w) && len(res.Tools) < q.Limit {
				res.Tools = append(res.Tools, tool.Hit{ID: t.ID(), Score: 1})
				break
			}
		}
	}
	return res, nil
}

func Example() {
	set := tool.NewSet([]*tool.Tool{
		{Server: "kitchen", Name: "boil", Description: "heat water"},
		{Server: "kitchen", Name: "steam", Description: "heat vegetables over water"},
	}, "")
	in := inspect.New(inspect.Options{
		Set: set, Searcher: byWord(set.All()),
		Words: func(text string, yield func(word, term string)) {
			for _, w := range strings.Fields(text) {
				yield(w, w)
			}
		},
		Requests: func(*tool.Tool) []inspect.Request { return nil },
	})
	found, err := in.Collide(context.Background(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range found {
		fmt.Printf("%s and %s are told apart by %.0f %%\n", c.A, c.B, 100*c.Apart)
		fmt.Println("only the second says:", c.OnlyB)
	}
	// Output:
	// kitchen/boil and kitchen/steam are told apart by 50 %
	// only the second says: [steam over vegetables]
}
