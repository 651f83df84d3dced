// Package tool defines the vocabulary of the service: tools, queries, results and errors.
//
// It is the bottom of the import graph: every other package imports it, and it imports none of them. A [Tool] is what
// one MCP server offers under one name; a [Set] is an immutable snapshot of all tools known at one moment, with the
// names that clients see; a [Query] is put to a [Searcher], which answers with a [Result]; a [Call] is put to a
// [Caller].
//
// Tools in a Set are shared and read-only. Nothing in this package starts a goroutine, touches a file or keeps global
// state, and all of its functions are safe for concurrent use.
package tool
