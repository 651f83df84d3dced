package metrics_test

import (
	"context"
	"fmt"

	"tooldex/metrics"
	"tooldex/tool"
)

// greeter is a tool that always answers.
type greeter struct{}

func (greeter) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	return &tool.CallResult{Raw: []byte(`{"content":[]}`)}, nil
}

func Example() {
	m := metrics.New(metrics.Options{})
	m.Start()
	defer func() { _ = m.Close() }()

	tools := m.Caller(greeter{}, "")
	_, _ = tools.Call(context.Background(), tool.Call{ID: "hall/greet"})
	m.Selected([]tool.ID{"hall/greet"}, 40, 960, false)

	r, err := m.Report(context.Background(), "1h")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.TotalRequests, "request,", r.TokenSavings, "tokens saved,", r.Calls, "call of", r.Servers[0].Server)
	// Output: 1 request, 960 tokens saved, 1 call of hall
}
