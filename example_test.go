package tooldex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"tooldex"
	"tooldex/selection"
	"tooldex/tool"
	"tooldex/validate"
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

// ownFunctions calls the functions of a program by the IDs of its tools.
type ownFunctions map[tool.ID]func(args json.RawMessage) (string, error)

// Call implements tool.Caller.
func (f ownFunctions) Call(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	run, ok := f[c.ID]
	if !ok {
		return nil, &tool.Error{Code: tool.NotFound, Op: "call", Msg: "there is no function for " + string(c.ID)}
	}
	text, err := run(c.Arguments)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}})
	return &tool.CallResult{Raw: raw}, err
}

// askModel stands for a request to a model with the selected tools. It returns the name of a tool and its arguments, as
// a model does, or an answer in words.
func askModel(message string, tools []json.RawMessage) (name string, args json.RawMessage, answer string) {
	if len(tools) == 0 {
		return "", nil, "None of my tools does this."
	}
	var first struct{ Name string }
	if err := json.Unmarshal(tools[0], &first); err != nil {
		return "", nil, err.Error()
	}
	return first.Name, json.RawMessage(`{"order":"` + message[strings.LastIndex(message, " ")+1:] + `"}`), ""
}

// The whole loop of an agent with tools of its own: tools are selected for a message, the model chooses one of them,
// and the call is checked and made.
func Example_agent() {
	ctx := context.Background()
	order := json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"}},"required":["order"]}`)
	tools, err := tooldex.Open(ctx, tooldex.Options{Tools: []*tool.Tool{
		{Name: "refund_payment", Description: "Give a customer the money of an order back.", InputSchema: order},
		{Name: "track_parcel", Description: "Tell where the parcel of an order is now.", InputSchema: order},
	}})
	if err != nil {
		panic(err)
	}
	defer func() { _ = tools.Close() }()
	functions := ownFunctions{
		"own/refund_payment": func(json.RawMessage) (string, error) { return "refunded", nil },
		"own/track_parcel":   func(args json.RawMessage) (string, error) { return "on its way: " + string(args), nil },
	}
	calls := validate.NewCaller(functions, tools.Catalog, &validate.Schemas{})
	selector := selection.NewSelector(selection.Options{Searcher: tools, Catalog: tools.Catalog})

	for _, message := range []string{"where is the parcel of order 4711", "thanks, that is great"} {
		selected, err := selector.Select(ctx, selection.Query{Message: message, Format: selection.FormatAnthropic, MaxTools: 1})
		if err != nil {
			panic(err)
		}
		name, args, answer := askModel(message, selected.Tools)
		for _, one := range selected.Selected {
			if one.Name != name {
				continue
			}
			res, err := calls.Call(ctx, tool.Call{ID: one.ID, Arguments: args})
			if err != nil {
				panic(err)
			}
			answer = string(res.Raw)
		}
		fmt.Println(answer)
	}
	// Output:
	// {"content":[{"text":"on its way: {\"order\":\"4711\"}","type":"text"}]}
	// None of my tools does this.
}
