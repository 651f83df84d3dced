package selection_test

import (
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
	p := selection.Policy{Servers: []string{"orders"}}
	set := p.Catalog(shop{}).Set()
	for _, t := range set.All() {
		fmt.Println(set.Exposed(t.ID()))
	}
	// Output: orders__refund
}
