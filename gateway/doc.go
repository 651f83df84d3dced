// Package gateway keeps connections to upstream MCP servers and forwards calls to them.
//
// A [Gateway] is given server configurations by [Gateway.Set] and calls by [Gateway.Call]. A server runs as a child
// process that speaks over its standard streams, or is reached over streamable HTTP or SSE. It is started when it is
// first needed, once however many callers wait for it, and started again by the next call after it ended. After a
// failed start there is a growing pause in which calls fail at once with the reason. One that nobody uses is stopped
// after a while; one that is configured so is started by [Gateway.Wake] and kept running. One server never waits for
// another.
//
// # Beside tools
//
// [Gateway.Features] tells what resources, templates and prompts servers offer, from what is kept of the last time they
// were asked; [Gateway.Forward] reads, fills in, completes and subscribes. What a server asks of its client in mid-call
// (sampling, elicitation, roots), and what it logs, goes to the [tool.Client] of the call. Over a pipe a server does
// not say which call it means: while calls of several clients run on one server, nobody is asked, and nobody is told.
//
// A server is told what its client can be asked, and is spoken to by the generation of the protocol that its client
// speaks. Clients that come later share the server as it is, unless nobody has used it yet.
//
// # Authorization
//
// [Gateway.Login] has a person log in to a server over HTTP by OAuth 2.1 with PKCE. The tokens lie in a file of mode
// 0600, are renewed when they expire or are refused, go to no other server, and are neither logged nor shown.
//
// # What passes through unchanged
//
// Schemas and results hold the bytes that the server wrote, not what a Go value makes of them: integers above 2^53, the
// order of members and the spelling of numbers survive. See [Gateway.Call] for the few members of _meta that do not.
//
// # What a bad server can do
//
// Lines on its stdout that are no messages are dropped and logged. An answer longer than Options.MaxResult, or one that
// is no valid JSON-RPC, fails the call it belongs to and no other. Notifications are taken out of the stream before
// they can pile up. A listing that goes round in circles ends. A server that hangs is given up after a timeout, and one
// that dies fails its running calls at once.
//
// # Configurations
//
// ${VAR} and ${VAR:-default} in the command, arguments, environment, directory, URL and headers are filled in when the
// server is started, never before; a variable that is not set is an error that names it. Values that came from
// variables, all header values, and configured variables named like a secret are taken out of everything that is logged
// or shown. Headers are sent to the configured host alone, not to where it redirects.
//
// A child process gets the variables its configuration names and, of ours, only these: PATH, HOME, USER, LOGNAME,
// SHELL, TERM, TMPDIR, TZ, LANG, LC_ALL, LC_CTYPE, XDG_CONFIG_HOME, XDG_CACHE_HOME, XDG_DATA_HOME, XDG_RUNTIME_DIR,
// SSL_CERT_FILE, SSL_CERT_DIR and NODE_EXTRA_CA_CERTS (on Windows, the ones a program needs to start). It is the leader
// of a process group of its own, which ends with the gateway; on Linux the kernel sees to that even if this process is
// killed.
package gateway
