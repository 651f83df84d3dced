package validate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"tooldex/tool"
	"tooldex/validate"
)

type library struct{}

// Set implements tool.Catalog.
func (library) Set() *tool.Set {
	return tool.NewSet([]*tool.Tool{{
		Server: "library", Name: "lend_book",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"days":{"type":"integer"}}}`),
	}}, "")
}

// Call implements tool.Caller.
func (library) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	return &tool.CallResult{Raw: json.RawMessage(`{"content":[]}`)}, nil
}

func Example() {
	caller := validate.NewCaller(library{}, library{}, validate.NewSchemas(nil))
	_, err := caller.Call(context.Background(), tool.Call{
		ID: "library/lend_book", Arguments: json.RawMessage(`{"days":"two weeks"}`),
	})
	var mismatch *validate.Mismatch
	if errors.As(err, &mismatch) {
		fmt.Println(mismatch.Field)
		fmt.Println(mismatch.Message("lend_book"))
	}
	// Output:
	// days
	// arguments of lend_book do not fit: days: two weeks has type "string", want "integer"
}
