// Package trace reports to a collector of OpenTelemetry what is done, and how long each part of it takes.
//
// [FromEnvironment] returns a [Tracer] if the standard environment variables name an endpoint, and nil if not. A nil
// *Tracer does nothing and costs nothing. A Tracer wraps an HTTP handler, a Searcher and a Caller: a request, and each
// search and call within it, becomes a span, below the span that the client's traceparent header names.
//
// Spans are sent in batches, as OTLP over HTTP with JSON, which every collector accepts at the same address as
// protobuf. Nothing waits for the collector: when it does not keep up, spans are dropped. Names of tools and servers
// are sent; requests, arguments and answers never are.
//
// environment.go reads the variables, span.go decides which spans are recorded, wrap.go makes them, and tracer.go sends
// them on one goroutine, which [Tracer.Close] ends.
package trace
