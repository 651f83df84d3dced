// Package httpapi offers the same operations, and administration, as JSON over HTTP.
//
// The operations are search, the catalogue and calling of tools. A [Server] answers the routes that its own
// /openapi.json describes; the description is made from the same table and the same Go types that serve the requests.
// An MCP handler and a readiness check are mounted beside them if given.
//
// # Answers
//
// JSON is UTF-8 without HTML escapes. Schemas and other JSON that came from an upstream keep the order of their keys,
// the text of their numbers and their characters; white space between tokens is dropped. The answer of a called tool is
// the bytes that the upstream sent.
//
// Every error, also of a route that is not there, is an RFC 9457 problem ([Problem]) with a code, a hint where there is
// one, and the request's id, which the X-Request-Id header and the log carry too. Causes of internal errors are only in
// the log.
//
// # Who may ask
//
// The Server checks the Host of every request against DNS rebinding: a loopback name, an IP address or one of
// [Options].Hosts. It refuses pages of other origins, and, where a Token is set, requests without it; only /healthz and
// /readyz go without. On which address to listen, and whether that needs a token, is the caller's business.
package httpapi
