// Package mcpsrv offers search and calling of tools to agents over MCP.
//
// A [Server] stands in front of any number of tools and shows a client only a few of its own: search_tools,
// get_tool_description, list_available_tools, list_tool_categories and invoke_tool. Their whole listing costs at most
// 1,000 tokens however many tools lie behind. Every tool behind can be called through invoke_tool, or directly by the
// name under which search_tools found it, although it is not listed. A [Mode] lists more: what a session searched for,
// every tool as a stub, or every tool.
//
// One Server serves any number of clients at once, over stdio ([Server.RunStdio]), any SDK transport ([Server.Run]) and
// streamable HTTP ([Server.Handler]), in both generations of the protocol: sessions (up to 2025-11-25) and stateless
// requests (2026-07-28).
//
// # What a client gets
//
// Answers of the server's own tools are compact text. They carry no structuredContent, since clients put that before
// the model beside the text and it would be paid for twice; what a program needs of a search (confidence, scores,
// tokens) is in the result's _meta under "tooldex/search", which models are not shown.
//
// The answer of an upstream tool is passed on as the bytes the upstream sent, but for white space between JSON tokens
// and for what belongs to the connection rather than to the tool: resultType and the upstream's serverInfo.
//
// Arguments are checked against the tool's input schema before the upstream sees them. Arguments that fit are forwarded
// untouched; those that do not are repaired where the repair fits (JSON in a string, an object one level too deep), and
// otherwise refused with the field, the reason and the schema. A schema that cannot be used for checking is not held
// against the client: its calls are forwarded as they are, and the log says so once.
//
// # Sessions
//
// In [Dynamic] and [Lazy] a session's listing is its own, and the server remembers it until the session ends. Nothing
// is remembered of stateless requests: what they list depends on the catalogue and the options alone, to the byte.
//
// # Caveats
//
// A client hears of a change of its own list on the way of the answer to its request. One that comes by itself, as when
// enabled tools end, goes over HTTP to the stream that the client keeps open for that, and is lost if there is none.
//
// The SDK keeps one subscriptions/listen of each kind for a connection: over stdio a later one takes an earlier one's
// place.
//
// Whole numbers beyond 2^53 survive in arguments and results, but not in a request's _meta, which the SDK decodes.
package mcpsrv
