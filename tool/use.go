package tool

// Asker says for whom a search or a call is made.
type Asker struct {
	Session string // one conversation, within its client; "" if there is none
	Client  string // the program that asks, as it calls itself; "" if it does not say
	Version string // of the program
	// Via is the way in: "stdio" or "http" for MCP, "api" for JSON over HTTP, "cli" for the command line; "" if
	// unknown.
	Via     string
	Profile string // as in Query
}

// Feedback says that a tool served a request, or that it was wrong for it.
type Feedback struct {
	Request string
	Tool    ID
	Wrong   bool
}

// Reading is a request as a search reads it, and what the search finds by itself, without what was learned from use. It
// belongs to the caller.
type Reading struct {
	Terms   []string  // the words of the request in index form, each once, sorted
	Unknown []string  // words that no tool here knows
	Vector  []float32 // of unit length; nil if the request was read by words only
	Model   string    // the fingerprint of what made Vector
	Found   []Hit     // the best tools, best first; only ID and Score are set, and Score is not yet a probability
}
