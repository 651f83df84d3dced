package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"tooldex/audit"
	"tooldex/tool"
)

type echo struct{}

func (echo) Call(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	return &tool.CallResult{Raw: c.Arguments}, nil
}

func Example() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	log := audit.New(audit.Options{Dir: dir})
	caller := log.Caller(echo{})
	_, err = caller.Call(context.Background(), tool.Call{
		ID: "files/remove", Arguments: json.RawMessage(`{"path":"/tmp/x"}`),
		Who: tool.Asker{Client: "editor", Via: "stdio"},
	})
	fmt.Println(err, log.Close())

	report, err := audit.Verify(context.Background(), dir)
	fmt.Println(report.OK(), report.Records, err)
	err = audit.NewReader(dir).Read(func(r audit.Record) error {
		fmt.Println(r.Seq, r.Tool, r.Who.Client, r.Outcome)
		return nil
	})
	fmt.Println(err)
	// Output:
	// <nil> <nil>
	// true 1 <nil>
	// 1 files/remove editor ok
	// <nil>
}
