// Package confirm asks a person before calls of tools that may destroy something are made.
//
// [Rules] say which tools need that: by what their servers say about them, which is only a hint, and by their names. A
// [Guard] wraps a Caller, and asks through the calling client (MCP's elicitation, in its form mode). Calls of a client
// that cannot be asked are refused, unless the call says that a person has confirmed it (tool.Call.Confirmed). The
// command line and the HTTP API can say so; a model cannot.
//
//	rules := confirm.Rules{Mode: confirm.Annotated}
//	guard := confirm.New(confirm.Options{Rules: func() confirm.Rules { return rules }, Catalog: catalogue})
//	caller := guard.Caller(gateway)
//
// # What may be relied on
//
// Each call is asked about once, and the answer is good for that call alone: the arguments that were shown are those
// that are run. Only the answer yes runs anything. The question consists of the tool's name and the arguments alone,
// and nothing in them can end its line, hide in it, or be taken for markup. A server's description does not appear in
// it.
//
// # Files
//
// rules.go decides which calls need a confirmation, question.go writes the question so that nothing in it can mislead,
// and guard.go asks it.
package confirm
