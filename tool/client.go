package tool

import (
	"context"
	"encoding/json"
)

// Client is the program on whose behalf a call runs, for what the called server asks of it or sends it meanwhile. The
// zero Client can be asked nothing. It is read only, and its functions may be called from any goroutine.
type Client struct {
	// Session identifies the client: two calls with one Session, which is not "", come from one client.
	Session string
	// Capabilities is what the client says of itself, as MCP's ClientCapabilities; nil means nothing.
	Capabilities json.RawMessage
	// LogLevel is the level from which on the client receives what servers log; "" means not at all.
	LogLevel string
	// Rounds says that the client takes a result which asks for input (resultType "input_required"), and repeats the
	// call with the answers in Call.Input.
	Rounds bool
	// Ask puts a request of the server, such as elicitation/create, to the client and waits for its result. Nil means
	// that it cannot be asked. A refusal is a *Error or, if the client itself refuses, has its JSON-RPC error in the
	// chain.
	Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// Tell passes a notification of the server on, such as notifications/message. Nil means that the client receives
	// none.
	Tell func(method string, params json.RawMessage)
}
