// Package openapi makes tools of the operations of an HTTP API that an OpenAPI description lists, and calls them.
//
// An [API] speaks MCP over a pair of pipes, in this process. So its tools are listed, bounded, recorded and called as
// those of any other server. A description is text of others: it may name any address, so the caller gives a transport
// that decides what is dialed, and credentials go only where [Options] says.
package openapi
