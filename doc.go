// Package tooldex finds the right tool for an agent, within a Go program.
//
// It puts together what the command puts together: package catalog keeps the tools, package search ranks them, by the
// model that is compiled in. [Open] is all that is needed to search:
//
//	tools, err := tooldex.Open(ctx, tooldex.Options{Files: []string{"github.json"}})
//	if err != nil {
//		return err
//	}
//	defer tools.Close()
//	answer, err := tools.Search(ctx, tool.Query{Text: "open a merge proposal"})
//
// docs/guides/go-library.md describes how another module requires this one, and how a program serves tools.
//
// # What may be relied on
//
// A [Finder] is safe for concurrent use, and starts no goroutine that outlives a call. Searches never wait for changes.
// Errors have a *tool.Error in their chain, whose code says what the caller can do about it.
package tooldex
