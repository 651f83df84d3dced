// Package gateway keeps connections to upstream MCP servers and forwards calls to them.
//
// A [Gateway] gets server configurations by [Gateway.Set] and calls by [Gateway.Call]. A server is a child process that
// speaks over its standard streams, or is reached over streamable HTTP or SSE. The first use starts it, once, however
// many callers wait for it. After it ended, the next call starts it again. After a failed start, calls fail at once
// with the reason, for a pause that grows with each failure. An idle server is stopped after a while, unless its
// configuration says to keep it running: then [Gateway.Wake] starts it. One server never waits for another.
//
// # How the files work together
//
// A Gateway holds one [Upstream] per configured server (gateway.go, upstream.go). An Upstream starts a session when it
// is used (lifecycle.go), and replaces the session after it ended. A session is one connection (session.go), over pipes
// (stdio.go, process.go) or HTTP (http.go, events.go). Each request of a client is an exchange on a session
// (exchange.go, call.go, list.go, forward.go). Between the SDK and the wire, a recorder keeps the bytes of results
// (recorder.go).
//
// # Concurrency and errors
//
// A Gateway and its Upstreams are safe for concurrent use. [Gateway.Close] waits for all goroutines of all servers.
// Errors are *tool.Error, with the reason in the chain.
//
// # Beside tools
//
// [Gateway.Features] lists the resources, templates and prompts of the servers, as stored when they were last asked.
// [Gateway.Forward] reads, fills in, completes and subscribes. A server's questions during a call (sampling,
// elicitation, roots), and its log messages, go to the [tool.Client] of the call. Over a pipe a server does not say
// which call it means: while calls of several clients run on one server, no client gets its questions or messages.
//
// A server gets the capabilities of its client, in the generation of the protocol that its client speaks. Clients that
// come later share the server as it is, unless no client has used it yet.
//
// # Authorization
//
// [Gateway.Login] has a person log in to a server over HTTP by OAuth 2.1 with PKCE. The tokens are stored in a file of
// mode 0600 and renewed when they expire or are refused. They go to no other server, and are neither logged nor shown.
//
// # Credentials of users
//
// A server over HTTP whose headers hold ${user:NAME} has an Upstream for each user (users.go), made with what
// Options.Users has of that user, and one that lists its tools with what it has of the operator. [Gateway.EndUser] ends
// those of a user. The same holds for a server whose tokens are those of users: by a login of each (user_login.go), or
// made of the access tokens with which callers came (token_exchange.go).
//
// # What passes through unchanged
//
// Schemas and results hold the bytes that the server wrote, not what a Go value makes of them: integers above 2^53, the
// order of members and the spelling of numbers survive. See [Gateway.Call] for the few members of _meta that do not.
//
// # What a bad server can do
//
// Lines on its stdout that are no messages are dropped and logged. An answer longer than 16 MiB, or one that is no
// valid JSON-RPC, fails the call it belongs to and no other. So does one that finds no room beside the messages of all
// servers that are in memory (held.go). Notifications are taken out of the stream before they can
// pile up. A listing whose cursors repeat ends. A server that hangs is given up after a timeout, and one that dies
// fails its running calls at once.
//
// # Configurations
//
// ${VAR} and ${VAR:-default} in the command, arguments, environment, directory, URL and headers are filled in when the
// server is started, never before; a variable that is not set is an error that names it. Values that came from
// variables, all header values, and configured variables named like a secret are replaced in everything that is logged
// or shown. Headers are sent to the configured host alone, not to where it redirects.
//
// A child process gets the variables its configuration names and, of ours, only these: PATH, HOME, USER, LOGNAME,
// SHELL, TERM, TMPDIR, TZ, LANG, LC_ALL, LC_CTYPE, XDG_CONFIG_HOME, XDG_CACHE_HOME, XDG_DATA_HOME, XDG_RUNTIME_DIR,
// SSL_CERT_FILE, SSL_CERT_DIR and NODE_EXTRA_CA_CERTS (on Windows, the ones a program needs to start). It is the leader
// of a process group of its own, which ends with the gateway; on Linux the kernel kills it even if this process is
// killed.
package gateway
