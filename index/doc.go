// Package index finds the nearest tools to a vector and the best matches for words, in memory.
//
// A [Snapshot] is built once from analysed documents and never changes: any number of goroutines may search it without
// locks. An [Index] holds the current Snapshot and swaps in the next; a reader keeps the one it loaded, so a search
// sees one state of the catalogue from beginning to end.
//
// The package sees terms and vectors, never text: what a word is and what a vector means is decided by its callers.
// Scores are exact: every tool that passes the filter is scored. Only RoughCosines estimates, for callers that then
// compare the best exactly.
package index
