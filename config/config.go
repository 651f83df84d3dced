package config

import (
	"time"

	"tooldex/upstream"
)

// Config is the whole configuration at one moment. A Config that a Loader returned is never changed. The key of a
// setting in the file is the path of its field with lower-case first letters: serve.maxSessions is Serve.MaxSessions.
type Config struct {
	DataDir    string // "" if the platform has no place for it and nothing names one
	Store      string // the address of a database; "" for the file in DataDir
	Tenant     string // whose tools and servers commands are about; "" for the home tenant
	Output     string // table, json or yaml
	LogLevel   string // debug, info, warn or error
	LogFormat  string // text or json
	Embedder   string // builtin, model2vec:FOLDER, ollama:MODEL or openai:MODEL
	OllamaHost string // "" for Ollama's default
	Registry   string // the address of the registry that servers are looked for in
	// OpenAIBaseURL and OpenAIKey belong to the embedder openai:MODEL. They come from the environment alone.
	OpenAIBaseURL, OpenAIKey string
	Borrow                   bool // whether archetypes lend their words to tools

	Enrich Enrich
	Select Select
	Serve  Serve
	Audit  Audit
	OAuth  OAuth

	Credentials Credentials

	Trust Trust
	Login Login
	// StartTimeout and CallTimeout bound a start and a call of a server that has no bounds of its own, in seconds.
	StartTimeout, CallTimeout int
	MessageMemory             int // MiB that messages of servers may take at once
	// Keyring says that secrets of servers are kept in the keyring of the system, where there is one.
	Keyring bool
	// AllowPrivate lists private addresses, networks and names that servers may send tooldex to; * for all.
	AllowPrivate []string

	Skills []string // folders of skills

	Servers  []upstream.Server  // those of the file, sorted by name
	Profiles map[string]Profile // of clients, then of the file, then of Serve.ProfilesFile; of one name, the last
}

// Enrich configures who writes search phrases for tools, and whether it happens by itself.
type Enrich struct {
	With string // claude, codex, gemini, ollama:MODEL or command:LINE; "" for the first agent that is installed
	New  string // off, pending or on: for tools that appear while serve runs
}

// Select configures selections.
type Select struct {
	Lazy      bool // choose what a message needs, rather than all tools
	MaxTools  int  // 0 for the default of package selection
	CacheSize int  // selections kept; 0 for the default, negative for none
}

// Serve configures "tooldex serve".
type Serve struct {
	Listen    string // where serve listens if a terminal started it without flags
	Mode      string // what tools/list holds
	Threshold int    // tokens; the largest catalogue that mode auto lists in full
	MaxResult int    // tokens of a tool's result that a model gets at once; 0 for all
	// AnswerWithin is the number of seconds after which a call over MCP is answered with an error; 0 for no bound.
	AnswerWithin int
	MaxSessions  int      // open MCP sessions over HTTP, of each tenant
	MaxTenants   int      // tenants that are open at once, beside the home tenant
	Follows      []string // clients that list again when the list changes
	Always       []string // tools that are always listed
	Summary      string   // what search_tools says of the catalogue; "" for its servers and categories

	Scripts string // whether models may run scripts: off or on
	Card    string // the name of the server card; "" for none

	Profile      string // the profile on standard input and output; "" for all tools
	ProfilesFile string // a file of further profiles; "" for none
	LearnText    bool   // keep the texts of requests that tools were called for

	Token      string // the token for everything; "" for none
	TokenFile  string // a file that holds it
	TokensFile string // a file of further tokens
	// RequireToken makes requests need a token on loopback, too; one is made if there is none.
	RequireToken bool
	Edits        string // who changes servers over HTTP: token, open or off

	Confirm        string   // which calls a person confirms: off, annotated, destructive or writes
	ConfirmTools   []string // patterns of further tools that need confirmation
	ConfirmExcept  []string // patterns of tools that need none
	ConfirmTimeout int      // seconds

	Rate    float64 // HTTP requests a second from one address; 0 for the default, negative for no limit
	Hosts   []string
	Origins []string
}

// ConfirmWithin returns how long a person has to confirm a call.
func (s Serve) ConfirmWithin() time.Duration { return time.Duration(s.ConfirmTimeout) * time.Second }

// Audit configures the record of calls.
type Audit struct {
	On        bool
	Dir       string // "" for the folder audit of the data directory
	Anchor    string // a file elsewhere that gets the number and hash of each record; "" for none
	Syslog    string // a syslog server that gets the number and hash of the last record; "" for none
	Required  bool   // refuse calls that cannot be recorded
	Arguments bool   // record arguments, and not only their keyed hash
	Sync      string // soon, each or never
	Size      int    // megabytes of one file
	Days      int    // age at which the next file begins
	Files     int    // how many are kept
}

// Credentials configures where users' credentials for servers are kept. Without a key none are.
type Credentials struct {
	Key     string // 32 bytes in base64, under which they are encrypted
	KeyFile string // a file that holds it
}

// OAuth configures which authorization servers' access tokens are accepted. Without Issuers none are.
type OAuth struct {
	Issuers  []string // URLs of authorization servers
	Resource string   // the address that tokens must be made for; "" for that of a server on loopback
	Scopes   []string
	Grants   []string
	Client   string // the client that asks authorization servers about tokens that are no JWT
	Secret   string // of Client
}

// Trust configures what happens to suspicious tools.
type Trust struct {
	Policy  string   // off, warn, quarantine or strict
	Servers []string // servers whose tools are accepted unchecked
	Secrets string   // warn, block or off: tokens and keys in arguments and results
}

// Login configures logins to upstream servers.
type Login struct {
	ClientSecret string // of a client that was registered by hand
}

// UsageError is a flag or an environment variable with a value that can never work. The command ends with exit code 2.
type UsageError struct {
	Msg  string
	Hint string // the remedy
}

// Error implements error. The hint is not part of it.
func (e UsageError) Error() string { return e.Msg }
