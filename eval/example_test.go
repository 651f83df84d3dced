package eval_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing/fstest"

	"tooldex/eval"
	"tooldex/tool"
)

// byName is a very plain Searcher: it finds the tools whose name is in the request.
type byName []*tool.Tool

func (s byName) Search(_ context.Context, q tool.Query) (*tool.Result, error) {
	res := &tool.Result{Query: q.Text}
	for _, t := range s {
		if strings.Contains(q.Text, t.Name) && len(res.Tools) < q.Limit {
			res.Tools = append(res.Tools, tool.Hit{ID: t.ID(), Score: 1})
		}
	}
	res.Confident = len(res.Tools) > 0
	return res, nil
}

func Example() {
	set, err := eval.LoadFS(fstest.MapFS{
		"tools.jsonl": {Data: []byte(`{"name": "kitchen__boil", "server": "kitchen", "description": "Heat water"}
{"name": "kitchen__chop", "server": "kitchen", "description": "Cut vegetables"}`)},
		"queries.yaml": {Data: []byte(`
- {id: tea, query: boil some water, relevant: [kitchen__boil]}
- {id: soup, query: cut an onion, relevant: [kitchen__chop]}`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := eval.Run(context.Background(), byName(set.Tools), set, eval.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("recall@5:", report.All.Scores["recall@5"])

	gate, err := eval.ParseGate("recall@5=.9")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, verdict := range report.Check([]eval.Gate{gate}, nil) {
		fmt.Println(verdict)
	}
	if err := eval.WriteRun(os.Stdout, report.Answers()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// recall@5: 0.5
	// recall@5 is 0.5000, at least 0.9 wanted
	// {"id":"tea","ranked":[{"name":"kitchen__boil","score":1}],"confident":true}
	// {"id":"soup","ranked":[],"confident":false}
}
