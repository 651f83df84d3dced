// Package upstream defines how the MCP servers behind the service are described: what starts or reaches one, what state
// it is in, what it logged, and what can be asked of it beside its tools.
//
// Its types are plain values, shared by the packages that store, run and show servers. They start and store nothing.
package upstream
