// Package index finds the nearest tools to a vector and the best matches for words, in memory.
//
// A [Snapshot] is built once from analysed documents and never changes: any number of goroutines may search it without
// locks. An [Index] holds the current Snapshot and swaps in the next; a reader keeps the one it loaded, so a search
// sees one state of the catalogue from beginning to end.
//
// The package sees terms and vectors, never text: what a word is and what a vector means is decided by its callers.
// Scores are exact: every tool that passes the filter is scored. Only RoughCosines estimates, for callers that then
// compare the best exactly.
//
// builder.go collects the postings and vectors of documents and makes a Snapshot of them (snapshot.go), in memory or in
// files (column.go). dictionary.go numbers terms, duplicates.go groups tools that are one, coarse.go has the one-bit
// vectors of large catalogues, chromem.go finds neighbours, and image.go writes a Snapshot to a file and maps it again.
package index
