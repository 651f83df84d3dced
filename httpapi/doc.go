// Package httpapi offers the same operations, and administration, as JSON over HTTP.
//
// The operations are search, the catalogue and calling of tools. A [Server] answers the routes that its own
// /openapi.json describes; the description is made from the same table and the same Go types that serve the requests.
// An MCP handler and a readiness check are mounted beside them if given.
//
// # How a request is answered
//
// Every request passes the checks of middleware.go in order: request ID, log, recovery from panics, security headers,
// rate, Host, Origin, token, forgery, size and time. Then it waits for its turn (limits.go) and reaches its handler in
// the table of routes.go. A token that is bound to a narrower view is answered by the Server of that view
// ([Options].ServerFor).
//
// # Answers
//
// JSON is UTF-8 without HTML escapes. Schemas and other JSON from an upstream keep the order of their keys, the text of
// their numbers and their characters; white space between tokens is dropped. The answer of a called tool is the bytes
// that the upstream sent.
//
// Every error, also for an unknown route, is an RFC 9457 problem with a code, usually a hint, and the ID of the
// request, which is also in the X-Request-Id header and in the log. Only the log has the causes of internal errors.
//
// # Who may ask
//
// The Server checks the Host of every request against DNS rebinding: a loopback name, an IP address or one of
// [Options].Hosts. It refuses pages of other origins. If [Options].Access requires tokens, it refuses requests without
// a good one; only /healthz, /readyz, the panel's files and the OAuth metadata need none. The caller decides on which
// address to listen, and whether that needs a token.
//
// # Files
//
// server.go has the options and routes.go the table of routes, from which openapi.go makes the description.
// middleware.go and guard.go check requests, token.go identifies who sent them, limits.go, conns.go and answers.go
// bound what is served at once, and decode.go reads bodies. Each group of operations has a file: search.go, tools.go,
// select.go, preferences.go, overlay.go, quarantine.go, operate.go, audit.go, learn.go and metrics.go. problem.go and
// outcomes.go turn errors into answers.
package httpapi
