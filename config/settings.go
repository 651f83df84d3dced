package config

import (
	"reflect"
	"strings"
)

// The environment variables that are not settings: they have no key in the file.
const (
	// Variable stands for --config.
	Variable = "TOOLDEX_CONFIG"

	openAIURLVariable = "OPENAI_BASE_URL"
	openAIKeyVariable = "OPENAI_API_KEY"
)

// DefaultListen is where serve listens if nothing says otherwise.
const DefaultListen = "127.0.0.1:8733"

// Setting describes one thing that can be configured, by a flag, in the environment, or in the file. The order of the
// layers is fixed: default, file, environment, flag.
type Setting struct {
	Key     string   // in the file, steps separated by dots
	Env     string   // its environment variable
	Flag    string   // of the whole command, or of serve for keys that begin with "serve."; "" if it has none
	Default any      // nil for the zero value of its field
	About   string   // one phrase for people
	Choices []string // the only values of a text; nil for any
	// Min and Max bound a number, both inclusive. A Max of 0 means no bounds.
	Min, Max int
	// Secret settings are never in a file and never shown.
	Secret bool

	path bool // in a file, relative to the file's folder; of a list, each of its items
	adds bool // values of flags are added to the others rather than replacing them
	// address settings are shown without the passwords in them.
	address bool
	live    bool // a change of the file takes effect without a restart
}

// Kind returns the type of a setting as in JSON Schema: string, boolean, integer, number or array (of strings).
func (s Setting) Kind() string {
	switch fieldOf(&Config{}, s.Key).Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	default:
		return "string"
	}
}

// fieldOf returns the field of a configuration that a key names. The name of a step is that of its field, without
// regard to case. It panics for a key without a field, which TestSettingsHaveFields rules out.
func fieldOf(c *Config, key string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for step := range strings.SplitSeq(key, ".") {
		v = v.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, step) })
	}
	return v
}

// Settings lists everything that can be configured, in the order in which people are shown it. The caller owns the
// slice.
func Settings() []Setting {
	var out []Setting
	for _, group := range [][]Setting{
		commonSettings(), enrichSettings(), selectSettings(), serveSettings(), httpSettings(), confirmSettings(),
		auditSettings(), accessSettings(),
	} {
		out = append(out, group...)
	}
	return out
}

// commonSettings are those that every command reads.
func commonSettings() []Setting {
	return []Setting{
		{Key: "dataDir", Env: "TOOLDEX_DATA_DIR", Flag: "data-dir", path: true, About: "where tools are kept"},
		{
			Key: "store", Env: "TOOLDEX_STORE", address: true,
			About: "a PostgreSQL database to keep tools in, as postgres://USER@HOST/DATABASE; without it, a file in dataDir",
		},
		{
			Key: "tenant", Env: "TOOLDEX_TENANT", Flag: "tenant",
			About: "the tenant of the database whose tools and servers commands are about; without it, that of store",
		},
		{
			Key: "output", Env: "TOOLDEX_OUTPUT", Flag: "output", Default: "table",
			Choices: []string{"table", "json", "yaml"}, About: "how answers are printed",
		},
		{
			Key: "logLevel", Env: "TOOLDEX_LOG_LEVEL", Flag: "log-level", Default: "warn", live: true,
			Choices: []string{"debug", "info", "warn", "error"}, About: "what is logged to standard error",
		},
		{
			Key: "logFormat", Env: "TOOLDEX_LOG_FORMAT", Flag: "log-format", Default: "text",
			Choices: []string{"text", "json"}, About: "how the log is written: json has one object for each line",
		},
		{Key: "embedder", Env: "TOOLDEX_EMBEDDER", Flag: "embedder", Default: "builtin", About: "the embedding model"},
		{Key: "ollamaHost", Env: "OLLAMA_HOST", About: "the address of the Ollama server"},
		{
			Key: "registry", Env: "TOOLDEX_REGISTRY", Default: "https://registry.modelcontextprotocol.io",
			About: "the MCP registry in which servers search looks",
		},
		{
			Key: "startTimeout", Env: "TOOLDEX_START_TIMEOUT", Default: 60, Min: 1, Max: 3600,
			About: "seconds that a server may take to start, not counting an installation by npx or uvx",
		},
		{
			Key: "callTimeout", Env: "TOOLDEX_CALL_TIMEOUT", Default: 120, Min: 1, Max: 86_400,
			About: "seconds that a server may take to answer a call",
		},
		{
			Key: "messageMemory", Env: "TOOLDEX_MESSAGE_MEMORY", Default: 64, Min: 4, Max: 65_536,
			About: "MiB of results and other messages of all servers that are in memory at once; one server, and one message, gets a quarter of it",
		},
		{
			Key: "skills", Env: "TOOLDEX_SKILLS", path: true,
			About: "folders of skills, as ~/.claude/skills: each folder in them with a SKILL.md is found beside the tools",
		},
		{
			Key: "borrow", Env: "TOOLDEX_BORROW", Flag: "borrow", Default: true,
			About: "whether searches also match the words of similar tools that tooldex knows",
		},
	}
}

// enrichSettings are those of search phrases that a model writes.
func enrichSettings() []Setting {
	return []Setting{
		{
			Key: "enrich.with", Env: "TOOLDEX_ENRICH_WITH", live: true,
			About: "who writes search phrases: claude, codex, gemini, ollama:MODEL or command:LINE; " +
				"by default the first of these agents that is installed",
		},
		{
			Key: "enrich.new", Env: "TOOLDEX_ENRICH_NEW", Default: "off", Choices: []string{"off", "pending", "on"}, live: true,
			About: "whether serve has search phrases written for unfamiliar tools that appear: " +
				"pending keeps them for approval, on uses them at once",
		},
	}
}

// selectSettings are those of selections for a message.
func selectSettings() []Setting {
	return []Setting{
		{
			Key: "select.lazy", Env: "TOOLDEX_LAZY", Default: true,
			About: "whether a selection holds only what a message needs, rather than all tools",
		},
		{
			Key: "select.maxTools", Env: "TOOLDEX_MAX_TOOLS", Min: 0, Max: 1_000_000,
			About: "the most tools in a selection; 0 for the default, 15",
		},
		{
			Key: "select.cacheSize", Env: "TOOLDEX_TOOL_CACHE_SIZE", Min: 0, Max: 1_000_000,
			About: "how many selections are cached, for messages that mean the same; 0 for none",
		},
	}
}

// serveSettings are those of tools/list, and of what serving learns and limits. Bounds are inclusive. Durations are
// whole seconds, sizes of texts are tokens.
func serveSettings() []Setting {
	return []Setting{
		{
			Key: "serve.listen", Env: "TOOLDEX_LISTEN", Default: DefaultListen,
			About: "the address of serve when it is started from a terminal without --listen or --stdio",
		},
		{
			Key: "serve.mode", Env: "TOOLDEX_MODE", Flag: "mode", Default: "auto", Choices: Modes(), live: true,
			About: "what tools/list holds",
		},
		{
			Key: "serve.threshold", Env: "TOOLDEX_THRESHOLD", Flag: "threshold", Default: 8000, live: true,
			About: "the largest catalogue, in tokens, that the mode auto lists in full",
		},
		{
			Key: "serve.maxResult", Env: "TOOLDEX_MAX_RESULT", Default: 25_000, Min: 0, Max: 10_000_000, live: true,
			About: "the most tokens of a tool's result that a model gets at once over MCP; 0 for no bound",
		},
		{
			Key: "serve.answerWithin", Env: "TOOLDEX_ANSWER_WITHIN", Default: 50, Min: 0, Max: 86_400,
			About: "seconds after which a call over MCP is answered with an error, unless its client asked for progress; " +
				"0 for no bound",
		},
		{
			Key: "serve.maxSessions", Env: "TOOLDEX_MAX_SESSIONS", Flag: "max-sessions", Default: 2000,
			About: "the most MCP sessions over HTTP; beyond it the least recently used is closed",
		},
		{
			Key: "serve.maxTenants", Env: "TOOLDEX_MAX_TENANTS", Default: 16, Min: 1, Max: 1000,
			About: "the most tenants of profiles that are open at once; beyond it the least recently used is closed",
		},
		{
			Key: "serve.follows", Env: "TOOLDEX_FOLLOWS", Flag: "follows", adds: true, live: true,
			About: "clients that list again when the list changes; flags add to these",
		},
		{
			Key: "serve.always", Env: "ALWAYS_AVAILABLE_TOOLS", Flag: "always", adds: true, live: true,
			About: "tools that are always listed; flags add to these",
		},
		{
			Key: "serve.summary", Env: "TOOLDEX_SUMMARY", Flag: "summary", live: true,
			About: "how search_tools describes the catalogue",
		},
		{
			Key: "serve.scripts", Env: "TOOLDEX_SCRIPTS", Default: "off", Choices: []string{"off", "on"},
			About: "whether models may run scripts that call tools, by run_script",
		},
		{
			Key: "serve.card", Env: "TOOLDEX_CARD",
			About: "the name of the MCP server card that describes this service to everybody, as com.example/tools; none if empty",
		},
		{
			Key: "serve.profile", Env: "TOOLDEX_PROFILE", Flag: "profile",
			About: "the profile to serve on standard input and output",
		},
		{
			Key: "serve.profilesFile", Env: "TOOLDEX_PROFILES", Flag: "profiles", path: true,
			About: "a file of further profiles",
		},
		{
			Key: "serve.learnText", Env: "TOOLDEX_LEARN_TEXT", Flag: "learn-text", Default: false,
			About: "whether the texts of requests that led to calls are kept",
		},
	}
}

// httpSettings say who may send requests over HTTP, and how often.
func httpSettings() []Setting {
	return []Setting{
		{
			Key: "serve.tokenFile", Env: "TOOLDEX_TOKEN_FILE", Flag: "token-file", path: true,
			About: "a file with the token that HTTP requests must send",
		},
		{
			Key: "serve.tokensFile", Env: "TOOLDEX_TOKENS", Flag: "tokens", path: true,
			About: "a file of tokens for one profile, or for reading only",
		},
		{
			Key: "serve.requireToken", Env: "TOOLDEX_REQUIRE_TOKEN", Default: false,
			About: "whether requests need a token on loopback, too; the data directory gets one, in the file token, if " +
				"there is none",
		},
		{
			Key: "serve.edits", Env: "TOOLDEX_EDITS", Default: "token", Choices: []string{"token", "open", "off"},
			About: "who may add, change, try and remove servers over HTTP: who sends a token, whoever may send requests, " +
				"or nobody",
		},
		{
			Key: "serve.rate", Env: "TOOLDEX_RATE", Flag: "rate",
			About: "the most HTTP requests a second from one address; negative for no limit",
		},
		{Key: "serve.hosts", Env: "TOOLDEX_HOSTS", About: "further host names that requests may use"},
		{Key: "serve.origins", Env: "TOOLDEX_ORIGINS", About: "further origins of web pages that may use the server"},
		{Key: "serve.token", Env: "TOOLDEX_TOKEN", Secret: true, About: "the token that HTTP requests must send"},
	}
}

// confirmSettings say which calls a person has to confirm.
func confirmSettings() []Setting {
	return []Setting{
		{
			Key: "serve.confirm", Env: "TOOLDEX_CONFIRM", Flag: "confirm", Default: "off", live: true,
			Choices: ConfirmModes(), About: "which calls a person has to confirm",
		},
		{
			Key: "serve.confirmTools", Env: "TOOLDEX_CONFIRM_TOOLS", live: true,
			About: "further tools that need confirmation: patterns of names or of server/name, * matches anything",
		},
		{
			Key: "serve.confirmExcept", Env: "TOOLDEX_CONFIRM_EXCEPT", live: true,
			About: "tools that need no confirmation, whatever serve.confirm says: patterns",
		},
		{
			Key: "serve.confirmTimeout", Env: "TOOLDEX_CONFIRM_TIMEOUT", Default: 120, Min: 5, Max: 300, live: true,
			About: "seconds that a person has to confirm a call, 5 to 300",
		},
	}
}

// auditSettings are those of the audit log. They hold for the whole run: a reload does not apply them.
func auditSettings() []Setting {
	return []Setting{
		{Key: "audit.on", Env: "TOOLDEX_AUDIT", Default: true, About: "whether calls are recorded"},
		{
			Key: "audit.dir", Env: "TOOLDEX_AUDIT_DIR", path: true,
			About: "where calls are recorded; the folder audit of the data directory if left out",
		},
		{
			Key: "audit.anchor", Env: "TOOLDEX_AUDIT_ANCHOR", path: true,
			About: "a file outside of audit.dir that gets the number and hash of each record, so that verify notices " +
				"a removed end",
		},
		{
			Key: "audit.syslog", Env: "TOOLDEX_AUDIT_SYSLOG",
			About: "a syslog server that gets the number and hash of the last record, at most once a second: local, " +
				"udp://HOST:514, tcp://HOST:514 or unix:///PATH",
		},
		{
			Key: "audit.required", Env: "TOOLDEX_AUDIT_REQUIRED", Default: false,
			About: "whether calls that cannot be recorded are refused",
		},
		{
			Key: "audit.arguments", Env: "TOOLDEX_AUDIT_ARGUMENTS", Default: false,
			About: "whether arguments are recorded, and not only their keyed hash",
		},
		{
			Key: "audit.sync", Env: "TOOLDEX_AUDIT_SYNC", Default: "soon", Choices: []string{"soon", "each", "never"},
			About: "when records reach the disk: within a second, before each answer, or when the system decides",
		},
		{
			Key: "audit.size", Env: "TOOLDEX_AUDIT_SIZE", Default: 10, Min: 1, Max: 1_000_000,
			About: "megabytes after which the next file begins",
		},
		{
			Key: "audit.days", Env: "TOOLDEX_AUDIT_DAYS", Default: 30, Min: 1, Max: 36_500,
			About: "days after which the next file begins",
		},
		{
			Key: "audit.files", Env: "TOOLDEX_AUDIT_FILES", Default: 5, Min: 1, Max: 1_000_000,
			About: "how many files are kept",
		},
	}
}

// accessSettings say whose access tokens are accepted, which servers are trusted, and which private addresses servers
// may send tooldex to. They are apart from serveSettings because other commands read them, too.
func accessSettings() []Setting {
	return []Setting{
		{
			Key: "oauth.issuers", Env: "TOOLDEX_OAUTH_ISSUERS",
			About: "authorization servers whose access tokens are accepted",
		},
		{
			Key: "oauth.resource", Env: "TOOLDEX_OAUTH_RESOURCE",
			About: "the address that access tokens must be made for, without /mcp; required unless " +
				"serve listens on loopback",
		},
		{Key: "oauth.scopes", Env: "TOOLDEX_OAUTH_SCOPES", About: "scopes that each access token must have"},
		{
			Key: "oauth.grants", Env: "TOOLDEX_OAUTH_GRANTS",
			About: "what access tokens permit, the first match counts: " +
				"scope:NAME or claim:NAME:VALUE, then all, read-only or profile:NAME",
		},
		{
			Key: "oauth.client", Env: "TOOLDEX_OAUTH_CLIENT",
			About: "the client id for asking authorization servers about tokens that are no JWT",
		},
		{Key: "oauth.secret", Env: "TOOLDEX_OAUTH_SECRET", Secret: true, About: "the secret of oauth.client"},
		{
			Key: "credentials.key", Env: "TOOLDEX_CREDENTIALS_KEY", Secret: true,
			About: "the key under which credentials of users are encrypted: 32 bytes in base64",
		},
		{
			Key: "credentials.keyFile", Env: "TOOLDEX_CREDENTIALS_KEY_FILE", path: true,
			About: "a file with that key",
		},
		{
			Key: "trust.policy", Env: "TOOLDEX_TRUST_POLICY", Default: "warn", Choices: TrustPolicies(), live: true,
			About: "what happens to suspicious tools of servers that are not trusted",
		},
		{
			Key: "trust.servers", Env: "TOOLDEX_TRUST_SERVERS", live: true,
			About: "servers whose tools are accepted unchecked",
		},
		{
			Key: "trust.secrets", Env: "TOOLDEX_TRUST_SECRETS", Default: "warn", Choices: SecretSettings(), live: true,
			About: "what happens to tokens and keys in arguments and results",
		},
		{
			Key: "allowPrivate", Env: "TOOLDEX_ALLOW_PRIVATE",
			About: "private addresses, networks and names that servers may send tooldex to; * for all",
		},
		{
			Key: "keyring", Env: "TOOLDEX_KEYRING", Default: true,
			About: "whether secrets of servers are kept in the keyring of the system, where there is one; in files of the " +
				"data directory otherwise",
		},
		{
			Key: "login.clientSecret", Env: "TOOLDEX_CLIENT_SECRET", Secret: true,
			About: "the secret of a client that was registered by hand",
		},
	}
}

// Modes lists what serve.mode and the mode of a profile may be. They are those of package mcpsrv, which tests check.
func Modes() []string { return []string{"search", "dynamic", "lazy", "full", "auto"} }

// ConfirmModes lists what serve.confirm may be. They are those of package confirm, which tests check.
func ConfirmModes() []string { return []string{"off", "annotated", "destructive", "writes"} }

// SecretSettings lists what trust.secrets may be. They are those of package trust, which tests check.
func SecretSettings() []string { return []string{"warn", "block", "off"} }

// TrustPolicies lists what trust.policy may be. They are those of the trust policies of the catalogue, which tests
// check.
func TrustPolicies() []string { return []string{"off", "warn", "quarantine", "strict"} }
