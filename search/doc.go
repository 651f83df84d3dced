// Package search ranks tools for a query by fusing semantic and lexical candidates.
//
// An [Engine] scores every tool twice, by words (BM25F) and by meaning (cosine), on one immutable snapshot of the
// index, brings both to one scale and adds them. A request that spells a tool's name puts that tool first. A request
// that asks for several things is also scored part by part, so that each part's tool is found. A tool that several
// servers offer takes one place. If no tool fits, the answer says so, and lists what the caller's own filters left
// out.
//
// The same snapshot and query give the same answer, to the byte, as long as Usage, Servers and Learned say the same. An
// Engine is safe for concurrent use and keeps nothing of a query.
//
// engine.go answers queries and parts.go splits them. rank.go scores and orders, with rough.go for large catalogues,
// named.go for names, learned.go for evidence of use, deprecated.go and duplicates.go for what must rank behind.
// evidence.go and confidence.go estimate whether anything fits, with the weights of weights.go and talk.go; advice.go
// says what to try otherwise. several.go ranks several needs, hits.go describes the result, explain.go explains it, and
// judge.go exposes the evidence for fitting.
package search
