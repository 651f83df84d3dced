package learn_test

import (
	"context"
	"fmt"
	"strings"

	"tooldex/learn"
	"tooldex/tool"
)

// plain reads requests by their words, and finds nothing by itself.
type plain struct{}

func (plain) Read(_ context.Context, text string, _ int) (*tool.Reading, error) {
	return &tool.Reading{Terms: strings.Fields(text)}, nil
}

// A client searches in its own words and calls what it needs. From then on the tool comes first for words like these.
func Example() {
	set := tool.NewSet([]*tool.Tool{
		{Server: "code", Name: "create_merge_request"},
		{Server: "code", Name: "list_commits"},
	}, "")
	l := learn.New(learn.Options{Disk: &ledger{entries: map[string][]byte{}}, Reader: plain{}})
	ctx := context.Background()
	for day, request := range []string{
		"ship my branch", "ship the branch please", "please ship it", "ship this fix",
		"branch ready ship", "ship ship",
	} {
		who := tool.Asker{Client: "editor", Session: fmt.Sprint("day ", day)}
		if err := l.Record(ctx, who, request, "code/create_merge_request", learn.Called); err != nil {
			fmt.Println(err)
		}
	}
	if err := l.Flush(ctx); err != nil {
		fmt.Println(err)
	}
	if err := l.Load(ctx); err != nil {
		fmt.Println(err)
	}
	scores := []float32{1, 1}
	l.Lift(set, "", []string{"ship", "branch"}, nil, nil, scores)
	fmt.Println("lifted:", scores[0] > 1, scores[1] > 1)
	for _, t := range l.Report().Tools {
		fmt.Println(t.Tool, t.State, len(t.Requests), "requests")
	}
	// Output:
	// lifted: true false
	// code/create_merge_request learned 6 requests
}

// ledger is a disk in memory.
type ledger struct {
	entries map[string][]byte
	version uint64
}

func (d *ledger) Learned(context.Context, uint64) (map[string][]byte, uint64, error) {
	return d.entries, d.version, nil
}

func (d *ledger) ChangeLearned(_ context.Context, _ []string, change func(map[string][]byte) map[string][]byte) (before,
	after uint64, err error,
) {
	for k, v := range change(d.entries) {
		d.entries[k] = v
	}
	d.version++
	return d.version - 1, d.version, nil
}
