// Package serve offers a service to clients over MCP, on standard streams and over HTTP, and keeps it up to date while
// it runs.
//
// Each client sees the service through a view: that of its profile, of its token, or of everything. For each view there
// is one surface: the view with its two chains, its MCP server and its HTTP server, built when it is first asked for and
// kept in one place. Beside the surfaces an updater reads what upstream servers offer, what other processes store, and
// what the configuration file says.
package serve
