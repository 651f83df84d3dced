// Package mcpsrv offers search and calling of tools to agents over MCP.
//
// A [Server] stands in front of any number of tools and shows a client only a few of its own: search_tools,
// get_tool_description, list_available_tools, list_tool_categories and invoke_tool. Together they cost at most 1,000
// tokens, however many tools lie behind. A client calls a tool behind through invoke_tool, or directly by the name that
// search_tools returned, although it is not listed. A [Mode] lists more: what a session searched for, every tool as a
// stub, or every tool.
//
// One Server serves any number of clients at once, over stdio ([Server.RunStdio]), any SDK transport ([Server.Run]) and
// streamable HTTP ([Server.Handler]), in both generations of the protocol: sessions (up to 2025-11-25) and stateless
// requests (2026-07-28).
//
// # How a request is answered
//
// The SDK decodes the message and calls interceptRequest (server.go), which admits or refuses it (in_flight.go).
// tools/list is answered from a cached listing (listing.go). tools/call goes to callTool (call.go): one of our own
// tools (meta.go names them all, one file implements each), or the tool behind, whose call goes to Options.Caller.
// Resources, prompts and completions go to Options.Upstreams (upstream_*.go). All other methods stay with the SDK.
//
// # What a client gets
//
// Our own tools answer in compact text. They send structuredContent only to a client that asks for it, or where it is
// no longer than the text, because clients put it before the model beside the text, and it would be paid for twice.
// What a program needs of a search (confidence, scores, tokens) is in the result's _meta under "tooldex/search", which
// models are not shown.
//
// The answer of an upstream tool is passed on as the bytes the upstream sent, except for white space between JSON
// tokens and for what belongs to the connection rather than to the tool: resultType and the upstream's serverInfo.
//
// The Caller checks arguments against the tool's input schema before the upstream sees them (package validate).
// Arguments that fit are forwarded untouched. Those that do not are repaired where a repair fits (JSON in a string, an
// object one level too deep), and otherwise refused with the field, the reason and the schema.
//
// # Sessions
//
// In [Dynamic] and [Lazy] each session has a listing of its own, and the server remembers it until the session ends
// (session_registry.go). Nothing is remembered of stateless requests: what they list depends only on the catalogue and
// the options, to the byte.
//
// # Errors and concurrency
//
// A [Server] is safe for concurrent use. An error that a model can act on is a tool error, a result with isError; its
// text comes from one function (errorText in result.go). Errors for the client program are protocol errors. An internal
// error is logged, and shown as an ID only. [Server.Shutdown] waits for answers, [Server.Close] does not.
//
// # Caveats
//
// A change of a client's own list is announced on the stream of the answer to its request. A change without a request,
// as when enabled tools expire, goes over HTTP to the stream that the client keeps open for that, and is lost if there
// is none.
//
// The SDK keeps one subscriptions/listen of each kind for a connection: over stdio a later one replaces an earlier one.
//
// Whole numbers beyond 2^53 survive in arguments and results, but not in a request's _meta, which the SDK decodes.
package mcpsrv
