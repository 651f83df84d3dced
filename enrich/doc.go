// Package enrich keeps the search phrases that models and people write for tools that are hard to find.
//
// [Enricher.Run] has a [Writer] write them: a program such as an installed agent, or a chat model of Ollama.
// [Enricher.Unfamiliar] lists the tools that need them. [ParseProposals] reads a file of proposals; [Enricher.Propose]
// checks them and keeps what passes until a person approves it, [Enricher.Enrich] puts it in force at once. Both are
// stored as overlays of the catalogue, so that every process sees them. [Enricher.Try] measures in memory what a
// proposal would bring.
//
// What is kept is plain text that gives a model no orders, names no other tool and repeats no other tool's phrase:
// a proposal comes from a model, and is not trusted.
//
// enrich.go stores proposals, and check.go decides which of their texts pass. run.go plans batches and lets a Writer
// fill them: program.go runs an agent, ollama.go a chat model, and prompt.go has what they are given. trial.go measures
// what proposals would bring, and enrichment.go lists what is stored.
package enrich
