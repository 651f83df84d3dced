// Package confirm has a person confirm calls of tools that may destroy something, before they are made.
//
// [Rules] say which tools those are: by what their servers say of them, which is a hint and no more, and by their
// names. A [Guard] wraps a Caller, and asks through the client that calls (MCP's elicitation, in its form mode); a
// client that cannot be asked is refused, unless whoever makes the call says that a person has confirmed it
// (tool.Call.Confirmed), as the command line and the HTTP API can, and a model cannot.
//
//	rules := confirm.Rules{Mode: confirm.Annotated}
//	guard := confirm.New(confirm.Options{Rules: func() confirm.Rules { return rules }, Catalog: catalogue})
//	caller := guard.Caller(gateway)
//
// # What may be relied on
//
// Each call is asked about once, and the answer is good for that call alone: what is run are the arguments that were
// shown. Nothing is run on any other answer than yes, nor without one. The question is made of the tool's name and the
// arguments only, and of these nothing can end its line, hide in it, or be taken for markup: a server's description has
// no say in it.
package confirm
