package selection_test

import (
	"context"
	"encoding/json"
	"fmt"

	"tooldex/selection"
	"tooldex/tool"
)

// shop is a catalogue of two servers.
type shop struct{}

func (shop) Set() *tool.Set {
	return tool.NewSet([]*tool.Tool{{Server: "orders", Name: "refund"}, {Server: "mail", Name: "send"}}, "")
}

func Example() {
	p := selection.Policy{Reach: selection.Reach{Servers: []string{"orders"}}}
	set := p.Catalog(shop{}).Set()
	for _, t := range set.All() {
		fmt.Println(set.Exposed(t.ID()))
	}
	// Output: orders__refund
}

// needle finds tools whose description holds the whole request.
type needle struct{ shop }

func (needle) Search(_ context.Context, q tool.Query) (*tool.Result, error) {
	return &tool.Result{Query: q.Text, Confident: true, Tools: []tool.Hit{{ID: "mail/send", Score: .9}}}, nil
}

func ExampleSelector() {
	s := selection.NewSelector(selection.Options{Searcher: needle{}, Catalog: shop{}})
	res, err := s.Select(context.Background(), selection.Query{
		Message:  "write to the customer",
		Explicit: []string{"refund"}, Format: selection.FormatOpenAI,
	})
	if err != nil {
		panic(err)
	}
	for i, one := range res.Selected {
		fmt.Println(one.Source, one.ID, json.Valid(res.Tools[i]))
	}
	// Output:
	// explicit orders/refund true
	// search mail/send true
}
