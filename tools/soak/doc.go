// Command soak runs the built command under load and faults for a while, and fails if that shows: in an error that no
// fault explains, in memory, files or goroutines that go on growing, or in an end that is not clean.
//
// The command serves over HTTP and, over the same data, on standard streams. Its upstreams are real servers, which this
// program plays itself: one is killed again and again, one changes its tools in storms, one is reached over HTTP.
// Clients search, select, call and import; some stop reading, some send slowly, some never end their sessions, and some
// send what no honest client would.
package main
