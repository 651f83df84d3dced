package validate

import (
	"context"
	"encoding/json"

	"tooldex/tool"
)

// NewCaller returns a Caller that passes on to next the calls whose arguments fit their tool's input schema. The error
// of any other is of code Invalid, with a *Mismatch as its cause. The arguments themselves are never changed.
func NewCaller(next tool.Caller, catalog tool.Catalog, schemas *Schemas) tool.Caller {
	return &caller{next, catalog, schemas}
}

// caller checks each call against the set that is current then.
type caller struct {
	next    tool.Caller
	catalog tool.Catalog
	schemas *Schemas
}

// Call implements tool.Caller.
func (c *caller) Call(ctx context.Context, call tool.Call) (*tool.CallResult, error) {
	if err := c.checkCall(call); err != nil {
		return nil, err
	}
	return c.next.Call(ctx, call)
}

// checkCall returns nil for a call that fits, and for a tool that the set does not hold. Missing arguments count as {}.
func (c *caller) checkCall(call tool.Call) error {
	set := c.catalog.Set()
	if set == nil {
		return nil
	}
	t, ok := set.Get(call.ID)
	if !ok {
		return nil
	}
	args := call.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return c.schemas.Of(string(t.ID()), t.InputSchema).CheckArguments(set.Exposed(t.ID()), args)
}
