// Package serve offers a service to clients over MCP, on standard streams and over HTTP, and keeps it up to date while
// it runs.
//
// Each client sees the service through a view: that of its profile, of its token, or of everything. For each view there
// is one surface: the view with its two chains, its MCP server and its HTTP server, built when it is first asked for
// and kept in one place. Beside the surfaces an updater reads what upstream servers offer, what other processes store,
// and what the configuration file says.
//
// [Run] starts everything in this order: admission, which refuses an unsafe configuration before anything is opened;
// the service; the gateway, the views and the surfaces; the updater; and then the transports. It ends in the reverse
// order, within the five seconds after which clients kill a server.
//
// The files: server.go has Run, admission.go decides who may use HTTP, surface.go and http.go build what clients of a
// view talk to, update.go follows changes, and overlay.go stores what people change in the panel.
package serve
