package search_test

import (
	"context"
	"fmt"

	"tooldex/catalog"
	"tooldex/index"
	"tooldex/search"
	"tooldex/tool"
)

// Five tools become searchable by the built-in model and are asked for in other words than theirs.
func Example() {
	ctx := context.Background()
	set := tool.NewSet([]*tool.Tool{
		{Server: "github", Name: "create_issue", Description: "Create a new issue in a repository."},
		{Server: "mail", Name: "send_email", Description: "Send an email to one or more people."},
		{Server: "weather", Name: "get_forecast", Description: "Weather forecast for a place."},
		{Server: "files", Name: "delete_file", Description: "Delete a file."},
		{Server: "shop", Name: "refund_payment", Description: "Give a customer the money of an order back."},
	}, "")
	model, err := catalog.BuiltinModel()
	if err != nil {
		fmt.Println(err)
		return
	}
	snap, err := catalog.NewSnapshot(ctx, set, model, index.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var current index.Index
	current.Swap(snap)
	engine := search.New(search.Options{
		Lookup: &current, Embedder: model.Embedder, Base: model.Base,
		Map: model.Encoder,
	})

	for _, text := range []string{
		"report a bug", "will it rain tomorrow", "get rid of old.log",
		"draw me a horoscope",
	} {
		r, err := engine.Search(ctx, tool.Query{Text: text, Limit: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		if !r.Confident {
			fmt.Printf("%s: nothing here does this\n", text)
			continue
		}
		fmt.Printf("%s: %s\n", text, r.Tools[0].ID)
	}
	// Output:
	// report a bug: github/create_issue
	// will it rain tomorrow: weather/get_forecast
	// get rid of old.log: files/delete_file
	// draw me a horoscope: nothing here does this
}
