package tooldex_test

import (
	"context"
	"fmt"

	"tooldex"
	"tooldex/tool"
)

// The tools of one server are searched in other words than theirs.
func Example() {
	ctx := context.Background()
	tools, err := tooldex.Open(ctx, tooldex.Options{Files: []string{"cmd/tooldex/demo/github.yaml"}})
	if err != nil {
		panic(err)
	}
	defer func() { _ = tools.Close() }()
	answer, err := tools.Search(ctx, tool.Query{Text: "open a merge proposal", Limit: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Tools[0].Name, answer.Confident)
	// Output: create_pull_request true
}

// functions is a source of tools: those that a program offers to its model itself.
type functions []*tool.Tool

func (f functions) Name() string                                { return "own" }
func (f functions) Tools(context.Context) ([]*tool.Tool, error) { return f, nil }

// A program's own functions become known, and one of them goes again.
func ExampleFinder() {
	ctx := context.Background()
	tools, err := tooldex.Open(ctx, tooldex.Options{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = tools.Close() }()
	own := functions{
		{Name: "refund_payment", Description: "Give a customer the money of an order back."},
		{Name: "get_forecast", Description: "Weather forecast for a place."},
	}
	for _, now := range []functions{own, own[:1]} {
		if _, err := tools.Catalog.Sync(ctx, now); err != nil {
			panic(err)
		}
		answer, err := tools.Search(ctx, tool.Query{Text: "will it rain tomorrow"})
		if err != nil {
			panic(err)
		}
		fmt.Println(answer.Tools[0].ID, answer.Confident)
	}
	// Output:
	// own/get_forecast true
	// own/refund_payment false
}
