package tool

// Asker says for whom a search or a call is made.
type Asker struct {
	Session string // one conversation, within its client; "" if there is none
	Client  string // the program that asks, as it calls itself; "" if it does not say
	Version string // of the program
	Via     Via    // how it reaches this program; "" if nobody said
	Profile string // as in Query
}

// Via says by which of the ways in a request came.
type Via string

// The ways in.
const (
	ViaStdio Via = "stdio" // MCP on standard input and output
	ViaHTTP  Via = "http"  // MCP over HTTP
	ViaAPI   Via = "api"   // JSON over HTTP
	ViaCLI   Via = "cli"   // the command line
)

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
	Found   []Found   // the best tools, best first
}

// Found is a tool with its score before it is made a probability.
type Found struct {
	ID    ID
	Score float32
}
