package main

import (
	"time"

	"tooldex/audit"
	"tooldex/confirm"
	"tooldex/mcpsrv"
)

// setting is one thing that can be configured: by a flag, in the environment, or under a key of the configuration file.
type setting struct {
	key     string // in the file, steps separated by dots
	env     string
	flag    string // of the whole command or of serve; "" if it has none
	kind    string // as in JSON Schema: string, boolean, integer, number, array (of strings)
	initial any    // the default; nil if there is none that can be told
	about   string
	choices []string
	// least and most bound a number, both or neither.
	least, most int

	path   bool // a path in the file is that seen from the file
	secret bool // it never stands in a file, and is never shown
	// byFlag says that nothing but the flag is read for it: what the environment and the file say is given to the flag.
	byFlag bool
}

// settings lists all that can be configured, in the order in which people are shown it.
func settings() []setting {
	var modes []string
	for _, m := range mcpsrv.Modes() {
		modes = append(modes, string(m))
	}
	return []setting{
		{
			key: "dataDir", env: "TOOLDEX_DATA_DIR", flag: "data-dir", kind: "string", path: true,
			about: "where tools are kept",
		},
		{
			key: "output", env: "TOOLDEX_OUTPUT", flag: "output", kind: "string", initial: "table",
			choices: []string{"table", "json", "yaml"}, byFlag: true, about: "how answers are printed",
		},
		{
			key: "logLevel", env: "TOOLDEX_LOG_LEVEL", flag: "log-level", kind: "string", initial: "warn",
			choices: []string{"debug", "info", "warn", "error"}, byFlag: true,
			about: "what is logged to standard error",
		},
		{
			key: "embedder", env: "TOOLDEX_EMBEDDER", flag: "embedder", kind: "string", initial: "builtin",
			about: "the embedding model",
		},
		{key: "ollamaHost", env: "OLLAMA_HOST", kind: "string", about: "where the Ollama server is"},
		{
			key: "borrow", env: "TOOLDEX_BORROW", flag: "borrow", kind: "string", initial: "on",
			choices: []string{"on", "off"}, about: "whether tools are found by the words of others of their kind, too",
		},

		{
			key: "select.lazy", env: "TOOLDEX_LAZY", kind: "boolean", initial: true,
			about: "whether selections hold what a message needs, rather than all tools",
		},
		{
			key: "select.maxTools", env: "TOOLDEX_MAX_TOOLS", kind: "integer",
			about: "how many tools a selection has at most",
		},
		{
			key: "select.cacheSize", env: "TOOLDEX_TOOL_CACHE_SIZE", kind: "integer",
			about: "how many selections are kept, for messages that mean the same",
		},

		{
			key: "serve.listen", env: "TOOLDEX_LISTEN", kind: "string", initial: defaultListen,
			about: "where serve listens if it is not told and not started by a client",
		},
		{
			key: "serve.mode", env: "TOOLDEX_MODE", flag: "mode", kind: "string", initial: string(mcpsrv.Auto),
			choices: modes, about: "what tools/list holds",
		},
		{
			key: "serve.threshold", env: "TOOLDEX_THRESHOLD", flag: "threshold", kind: "integer",
			initial: mcpsrv.DefaultThreshold, byFlag: true,
			about: "the largest catalogue, in tokens, that the mode auto lists in full",
		},
		{
			key: "serve.maxSessions", env: "TOOLDEX_MAX_SESSIONS", flag: "max-sessions", kind: "integer",
			initial: mcpsrv.DefaultSessions, byFlag: true,
			about: "how many MCP sessions over HTTP there are at most; the one that was used longest ago gives way",
		},
		{
			key: "serve.follows", env: "TOOLDEX_FOLLOWS", flag: "follows", kind: "array",
			about: "clients that list again when the list changes; flags add to these",
		},
		{
			key: "serve.always", env: "ALWAYS_AVAILABLE_TOOLS", flag: "always", kind: "array",
			about: "tools that are always listed; flags add to these",
		},
		{
			key: "serve.summary", env: "TOOLDEX_SUMMARY", flag: "summary", kind: "string", byFlag: true,
			about: "what search_tools says of the catalogue",
		},
		{
			key: "serve.profile", env: "TOOLDEX_PROFILE", flag: "profile", kind: "string",
			about: "the profile that is served on standard input and output",
		},
		{
			key: "serve.profilesFile", env: "TOOLDEX_PROFILES", flag: "profiles", kind: "string", path: true,
			about: "a file of further profiles",
		},
		{
			key: "serve.learnText", env: "TOOLDEX_LEARN_TEXT", flag: "learn-text", kind: "boolean", initial: false,
			about: "whether the texts of requests that tools were called for are kept",
		},
		{
			key: "serve.tokenFile", env: "TOOLDEX_TOKEN_FILE", flag: "token-file", kind: "string", path: true,
			about: "a file with the token that HTTP requests must bear",
		},
		{
			key: "serve.tokensFile", env: "TOOLDEX_TOKENS", flag: "tokens", kind: "string", path: true,
			about: "a file of tokens that are bound to a profile, or read only",
		},
		{
			key: "serve.confirm", env: "TOOLDEX_CONFIRM", flag: "confirm", kind: "string", initial: string(confirm.Off),
			choices: confirmModes(), about: "which tools a person has to confirm each call of",
		},
		{
			key: "serve.confirmTools", env: "TOOLDEX_CONFIRM_TOOLS", kind: "array",
			about: "further tools that need confirmation, by patterns of names or of server/name, with * for any characters",
		},
		{
			key: "serve.confirmExcept", env: "TOOLDEX_CONFIRM_EXCEPT", kind: "array",
			about: "tools that need no confirmation though serve.confirm says so, by patterns",
		},
		{
			key: "serve.confirmTimeout", env: "TOOLDEX_CONFIRM_TIMEOUT", kind: "integer",
			initial: int(confirm.DefaultTime / time.Second), least: int(confirm.LeastTime / time.Second),
			most: int(confirm.MostTime / time.Second), about: "seconds that a person has to confirm a call, 5 to 300",
		},
		{
			key: "serve.rate", env: "TOOLDEX_RATE", flag: "rate", kind: "number", byFlag: true,
			about: "HTTP requests a second from one address, less than 0 for no limit",
		},
		{
			key: "serve.hosts", env: "TOOLDEX_HOSTS", kind: "array",
			about: "further names under which requests may reach the server",
		},
		{
			key: "serve.origins", env: "TOOLDEX_ORIGINS", kind: "array",
			about: "further origins of pages that may use the server",
		},
		{
			key: "serve.token", env: "TOOLDEX_TOKEN", kind: "string", secret: true,
			about: "the token that HTTP requests must bear",
		},
		{key: "audit.on", env: "TOOLDEX_AUDIT", kind: "boolean", initial: true, about: "whether calls are recorded"},
		{
			key: "audit.dir", env: "TOOLDEX_AUDIT_DIR", kind: "string", path: true,
			about: "where they are recorded; the folder audit of the data directory if left out",
		},
		{
			key: "audit.required", env: "TOOLDEX_AUDIT_REQUIRED", kind: "boolean", initial: false,
			about: "whether calls are refused that cannot be recorded",
		},
		{
			key: "audit.arguments", env: "TOOLDEX_AUDIT_ARGUMENTS", kind: "boolean", initial: false,
			about: "whether the arguments of calls are recorded, and not only their keyed hash",
		},
		{
			key: "audit.sync", env: "TOOLDEX_AUDIT_SYNC", kind: "string", initial: string(audit.Soon),
			choices: []string{string(audit.Soon), string(audit.Each), string(audit.Never)},
			about:   "when records are brought to the disk: within a second, before each answer, or by the system",
		},
		{
			key: "audit.size", env: "TOOLDEX_AUDIT_SIZE", kind: "integer", initial: 10,
			about: "megabytes after which the next file is begun",
		},
		{
			key: "audit.days", env: "TOOLDEX_AUDIT_DAYS", kind: "integer", initial: 30,
			about: "days after which the next file is begun",
		},
		{key: "audit.files", env: "TOOLDEX_AUDIT_FILES", kind: "integer", initial: 5, about: "how many files are kept"},

		{
			key: "oauth.issuers", env: "TOOLDEX_OAUTH_ISSUERS", kind: "array",
			about: "authorization servers whose access tokens HTTP requests may bear",
		},
		{
			key: "oauth.resource", env: "TOOLDEX_OAUTH_RESOURCE", kind: "string",
			about: "the address that access tokens must be made for, without /mcp; that of a server on loopback if it is left out",
		},
		{
			key: "oauth.scopes", env: "TOOLDEX_OAUTH_SCOPES", kind: "array",
			about: "scopes that each access token must have",
		},
		{
			key: "oauth.grants", env: "TOOLDEX_OAUTH_GRANTS", kind: "array",
			about: "what access tokens are good for, the first that fits: scope:NAME or claim:NAME:VALUE, and then all, read-only or profile:NAME",
		},
		{
			key: "oauth.client", env: "TOOLDEX_OAUTH_CLIENT", kind: "string",
			about: "as whom authorization servers are asked about tokens that are no JWT",
		},
		{
			key: "oauth.secret", env: "TOOLDEX_OAUTH_SECRET", kind: "string", secret: true,
			about: "the secret of oauth.client",
		},
		{
			key: "trust.policy", env: "TOOLDEX_TRUST_POLICY", kind: "string", initial: "warn", choices: trustPolicies(),
			about: "what is done about suspicious tools of servers that are not trusted",
		},
		{
			key: "trust.servers", env: "TOOLDEX_TRUST_SERVERS", kind: "array",
			about: "servers whose tools are taken as they are",
		},
		{
			key: "allowPrivate", env: "TOOLDEX_ALLOW_PRIVATE", kind: "array",
			about: "private addresses, networks and names to which servers may send tooldex; * for all",
		},
		{
			key: "login.clientSecret", env: "TOOLDEX_CLIENT_SECRET", kind: "string", secret: true,
			about: "the secret of a client that was registered by hand",
		},
	}
}

// confirmModes lists what serve.confirm may be.
func confirmModes() []string {
	var out []string
	for _, m := range confirm.Modes() {
		out = append(out, string(m))
	}
	return out
}

// configVariable names the environment variable that stands for --config.
const configVariable = "TOOLDEX_CONFIG"
