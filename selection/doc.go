// Package selection decides which tools a session may see and call.
//
// A [Policy] stands between a transport and what it serves: [Policy.Catalog] hides tools from listings, [Policy.Searcher]
// from searches, [Policy.Caller] from calls and [Policy.Upstreams] what servers offer beside tools. What is hidden is
// treated as if it did not exist: a search does not count it, so that a limit of five gives five tools that may be seen,
// and a call is answered as one of a tool that nobody knows.
//
// All of them are safe for concurrent use and hold nothing but the policy and what they wrap.
package selection
