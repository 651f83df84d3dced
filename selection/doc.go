// Package selection decides which tools a session may see and call.
//
// A [Policy] restricts what a transport serves: [Policy.Catalog] hides tools from listings,
// [Policy.Searcher] from searches, [Policy.Caller] from calls and [Policy.Upstreams] what servers offer beside tools.
// What is hidden is treated as if it did not exist: a search does not count it, so that a limit of five gives five
// tools that may be seen, and a call is answered as one of a tool that does not exist. A
// [PreferenceKeeper] holds the preferences of all profiles, as a [Disk] keeps them: what a profile hides is among them.
//
// A [Selector] goes further: it chooses the few tools that an agent is given for a message, and writes them in the
// [Format] of a model's provider.
//
//	s := selection.NewSelector(selection.Options{Searcher: engine, Catalog: catalogue})
//	res, err := s.Select(ctx, Query{Message: "open a merge proposal", Format: FormatAnthropic})
//
// All of them are safe for concurrent use. None starts a goroutine.
//
// policy.go restricts catalogues, searchers and callers; preferences.go and preference_keeper.go hold what profiles
// prefer. selector.go selects: needs.go finds the tools that a message calls for, through message_cache.go,
// conversation.go remembers what a conversation had, and builder.go applies the bounds. format.go writes tools for each
// provider, with format_schema.go, format_gemini.go and format_verify.go.
package selection
