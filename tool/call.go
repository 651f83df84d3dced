package tool

import (
	"context"
	"encoding/json"
)

// Call asks for one tool to be run.
type Call struct {
	ID        ID
	Arguments json.RawMessage // an object; nil means {}
	Meta      json.RawMessage // the client's _meta, an object, forwarded without its progress token; may be nil
	// Input is an object with the members inputResponses and requestState of a call that is repeated with answers to
	// what its server asked; nil if it is not.
	Input json.RawMessage
	// Client is who calls. Nil means somebody who can be asked nothing.
	Client *Client
	// Who says for whom the call is made, for records.
	Who Asker
	// Confirmed says that a person in charge has said yes to just this call already. A model's word is not one's.
	Confirmed bool
	// OnConfirm is called, before a call that needs confirmation is passed on, with how it was confirmed. It may be
	// nil.
	OnConfirm func(how string)
	// Progress receives the upstream's progress notifications, in order, on one goroutine, while the call runs.
	// Nil means the client did not ask.
	Progress func(Progress)
}

// Progress is one step of a running call.
type Progress struct {
	Progress float64
	Total    float64 // zero if unknown
	Message  string
}

// CallResult is what the tool answered: an MCP CallToolResult as the upstream sent it, byte for byte.
type CallResult struct {
	Raw     json.RawMessage
	IsError bool // the tool itself reported an error; Raw holds its text
}

// Caller runs tools. Implementations are safe for concurrent use. When ctx ends, the call is cancelled upstream. Errors
// are *Error: NotFound for a tool or server that is not there, Unavailable when its server does not run or died in
// mid-call, Timeout when it took too long. A tool that ran and failed is not an error but CallResult.IsError.
type Caller interface {
	Call(ctx context.Context, c Call) (*CallResult, error)
}
