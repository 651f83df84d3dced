package arch

// module is the path of this module, as in go.mod.
const module = "tooldex"

// rule is what the table says of one package.
type rule struct {
	imports []string // those of our packages that its code may import; a test file may import more
	doc     string   // the first sentence of its documentation
}

// every means all packages: only commands may, since they wire the others together.
var every = []string{"*"}

// table lists every package of the module by its folder. What is not here may not exist: a package is added by adding
// its line, which is the moment to ask whether an existing one could hold the code.
var table = map[string]rule{
	"tool": {
		doc: "Package tool defines the vocabulary of the service: tools, queries, results and errors.",
	},
	"embed": {
		doc: "Package embed turns text into vectors, with a model inside the binary or with another one.",
	},
	"web": {
		doc: "Package web serves the control panel, a static application compiled into the binary.",
	},
	"upstream": {
		imports: []string{"tool"},
		doc:     "Package upstream defines how the MCP servers behind the service are described: what starts or reaches one, what state it is in, what it logged, and what can be asked of it beside its tools.",
	},
	"internal/sanitize": {
		imports: []string{"tool", "internal/orderedjson"},
		doc:     "Package sanitize makes what servers and people write about tools fit to be stored, listed and read by a model.",
	},
	"internal/orderedjson": {
		imports: []string{"tool"},
		doc:     "Package orderedjson reads and writes JSON without losing what encoding/json does not keep: the order of members, the spelling of numbers, and the bytes of values that were not changed.",
	},
	"internal/vector": {
		doc: "Package vector multiplies vectors of float32 as fast as the processor can, with the same bits on every processor.",
	},
	"internal/atomicfile": {
		doc: "Package atomicfile replaces files whole: a reader sees the old or the new content, also after the power is lost.",
	},
	"internal/flatfile": {
		imports: []string{"internal/atomicfile"},
		doc:     "Package flatfile keeps flat arrays in a file that any number of processes use where it lies, by mapping it into memory.",
	},
	"internal/limit": {
		doc: "Package limit bounds how many run at once and how many wait for a while, and refuses the rest.",
	},
	"internal/redact": {
		doc: "Package redact hides secrets that people wrote into texts: behind the names that they are given, by the forms of known tokens, and in addresses.",
	},
	"internal/keyring": {
		imports: []string{"tool", "internal/atomicfile"},
		doc:     "Package keyring keeps secrets of servers in the keyring of the system, or in files where there is none.",
	},
	"internal/ssrf": {
		imports: []string{"tool"},
		doc:     "Package ssrf keeps what others send us to fetch away from private addresses.",
	},
	"internal/openapi": {
		imports: []string{"tool"},
		doc:     "Package openapi makes tools of the operations of an HTTP API that an OpenAPI description lists, and calls them.",
	},
	"access": {
		imports: []string{"tool", "internal/atomicfile", "internal/ssrf", "internal/sanitize"},
		doc:     "Package access decides who may use the service over HTTP, and how much of it.",
	},
	"index": {
		imports: []string{"tool", "internal/flatfile", "internal/vector"},
		doc:     "Package index finds the nearest tools to a vector and the best matches for words, in memory.",
	},
	"store": {
		imports: []string{"tool", "embed", "upstream", "internal/atomicfile"},
		doc:     "Package store keeps tools, their vectors and user preferences safely on disk.",
	},
	"store/postgres": {
		imports: []string{"tool", "embed", "store", "upstream", "internal/atomicfile", "internal/redact"},
		doc:     "Package postgres keeps the state of tooldex/store in a PostgreSQL database, so that several machines share it.",
	},
	"gateway": {
		imports: []string{"tool", "upstream", "internal/atomicfile", "internal/ssrf", "internal/limit", "internal/orderedjson", "internal/redact", "internal/sanitize", "internal/openapi"},
		doc:     "Package gateway keeps connections to upstream MCP servers and forwards calls to them.",
	},
	"selection": {
		imports: []string{"tool", "confirm", "upstream", "store", "internal/vector", "internal/orderedjson"},
		doc:     "Package selection decides which tools a session may see and call.",
	},
	"knowledge": {
		imports: []string{"tool", "embed", "index", "internal/vector", "internal/sanitize"},
		doc:     "Package knowledge holds what is known about the kinds of tools that exist, and lends it to those in the catalogue.",
	},
	"learn": {
		imports: []string{"tool", "internal/vector"},
		doc:     "Package learn gathers what the use of tools shows about the requests they serve, and lifts tools in searches by it.",
	},
	"metrics": {
		imports: []string{"tool"},
		doc:     "Package metrics counts what the service does, and keeps the counts across restarts and processes.",
	},
	"audit": {
		imports: []string{"tool", "confirm", "access", "internal/atomicfile", "internal/sanitize"},
		doc:     "Package audit records who called which tool, when, and with what outcome, so that no change of the record goes unnoticed.",
	},
	"confirm": {
		imports: []string{"tool", "internal/orderedjson"},
		doc:     "Package confirm asks a person before calls of tools that may destroy something are made.",
	},
	"trace": {
		imports: []string{"tool"},
		doc:     "Package trace reports to a collector of OpenTelemetry what is done, and how long each part of it takes.",
	},
	"validate": {
		imports: []string{"tool", "internal/sanitize"},
		doc:     "Package validate checks the arguments of calls against the input schemas of tools.",
	},
	"internal/textclass": {
		doc: "Package textclass decides by the words of a sentence which of two kinds it resembles, those of the sentences that a model was trained on.",
	},
	"scan": {
		imports: []string{"tool", "internal/textclass", "internal/orderedjson", "internal/sanitize"},
		doc:     "Package scan finds tools that attack the model which reads them: instructions, hidden words, false names, greedy parameters.",
	},
	"trust": {
		imports: []string{"tool", "scan", "upstream", "internal/orderedjson", "internal/redact", "internal/sanitize"},
		doc:     "Package trust decides which tools are held until a person approves them, and which are served with a warning.",
	},
	"search": {
		imports: []string{"tool", "embed", "index", "knowledge", "upstream", "validate", "internal/sanitize", "internal/textclass"},
		doc:     "Package search ranks tools for a query by fusing semantic and lexical candidates.",
	},
	"skills": {
		imports: []string{"tool", "scan", "internal/sanitize"},
		doc:     "Package skills reads skills from folders: instructions for models that people keep in files beside their tools.",
	},
	"catalog": {
		imports: []string{"tool", "embed", "index", "store", "knowledge", "scan", "trust", "catalog/sources", "upstream", "validate", "internal/flatfile", "internal/sanitize"},
		doc:     "Package catalog keeps the set of known tools equal to what its sources offer.",
	},
	"enrich": {
		imports: []string{"tool", "knowledge", "catalog", "catalog/sources", "internal/sanitize"},
		doc:     "Package enrich keeps the search phrases that models and people write for tools that are hard to find.",
	},
	"catalog/sources": {
		imports: []string{"tool", "upstream", "internal/sanitize"},
		doc:     "Package sources reads the files that tools and servers come from, and defines [Source], which offers tools.",
	},
	"credential": {
		imports: []string{"tool", "internal/atomicfile"},
		doc:     "Package credential keeps what users of the service give it for upstream servers, encrypted, and each for its owner alone.",
	},
	"registry": {
		imports: []string{"tool", "upstream", "internal/atomicfile", "internal/sanitize"},
		doc:     "Package registry finds MCP servers in a registry that speaks the API of the official one, and says how to run them.",
	},
	"script": {
		imports: []string{"tool"},
		doc:     "Package script runs short programs in JavaScript that call tools, within bounds.",
	},
	"mcpsrv": {
		imports: []string{"tool", "script", "validate", "upstream", "access", "internal/limit", "internal/orderedjson", "internal/sanitize"},
		doc:     "Package mcpsrv offers search and calling of tools to agents over MCP.",
	},
	"httpapi": {
		imports: []string{"tool", "access", "audit", "metrics", "scan", "selection", "validate", "confirm", "upstream", "internal/limit", "internal/orderedjson", "internal/sanitize"},
		doc:     "Package httpapi offers the same operations, and administration, as JSON over HTTP.",
	},
	"eval": {
		imports: []string{"tool"},
		doc:     "Package eval measures how well a Searcher ranks the right tools.",
	},
	"eval/agent": {
		imports: []string{"tool", "selection", "validate"},
		doc:     "Package agent has a chat model choose and call tools, so that package eval scores what an agent does with them.",
	},
	"eval/inspect": {
		imports: []string{"tool", "internal/sanitize"},
		doc:     "Package inspect explains why tools are found or not, and what to change in a catalogue.",
	},
	"config": {
		imports: []string{"tool", "catalog/sources", "upstream", "internal/redact", "internal/sanitize"},
		doc:     "Package config reads everything that people can configure: defaults, the configuration file, the environment and flags, each overriding the one before.",
	},
	"service": {
		imports: []string{
			"tool", "upstream", "access", "audit", "catalog", "catalog/sources", "config", "confirm", "credential", "embed", "enrich", "eval", "eval/agent", "eval/inspect",
			"gateway", "index", "internal/atomicfile", "internal/keyring", "internal/limit", "internal/orderedjson", "internal/redact", "internal/sanitize", "knowledge", "learn", "metrics", "scan", "search", "selection", "skills", "store", "store/postgres", "trace", "trust", "validate",
		},
		doc: "Package service composes the parts of tooldex into what commands, transports and Go programs use.",
	},
	"serve": {
		imports: []string{
			"tool", "upstream", "access", "audit", "config", "credential", "enrich", "gateway", "httpapi", "internal/limit", "internal/ssrf", "mcpsrv", "metrics",
			"selection", "service", "skills", "trace", "web",
		},
		doc: "Package serve offers a service to clients over MCP, on standard streams and over HTTP, and keeps it up to date while it runs.",
	},
	".": {
		imports: []string{"tool", "search", "catalog", "catalog/sources", "service"},
		doc:     "Package tooldex finds the right tool for an agent, within a Go program.",
	},
	"cmd/tooldex": {
		imports: every,
		doc:     "Command tooldex runs and administers the tool-search service.",
	},
	"cmd/tooldex/doctor": {
		imports: []string{
			"tool", "audit", "catalog/sources", "cmd/tooldex/clients", "config", "enrich", "eval", "gateway",
			"internal/redact", "internal/sanitize", "knowledge", "serve", "service", "store", "trust", "upstream",
		},
		doc: "Package doctor checks an installation: the configuration, the data directory, the index and the embedding model, the servers and the files of clients, and how well tools can be told apart.",
	},
	"cmd/tooldex/clients": {
		imports: []string{"tool", "catalog/sources", "config", "upstream", "internal/atomicfile", "internal/orderedjson"},
		doc:     "Package clients finds the configuration files of MCP clients, and edits the servers in them.",
	},
	"cmd/tooldex/demo": {
		imports: []string{"catalog/sources"},
		doc:     "Package demo holds the catalogue and the labelled requests that are compiled into the command.",
	},
	"internal/arch": {
		doc: "Package arch holds the shape of this repository as tests: which package may import which, and what every package, file and exported name must have.",
	},
}

// toolsFolder is the module with the programs of our own work. They may import every package of ours; the rules for
// length, documentation and state hold for them as well.
const toolsFolder = "../../tools"

// testSupport lists the packages that only tests may import, and that may import anything of ours.
var testSupport = map[string]bool{
	"internal/faultfs":  true,
	"store/storetest":   true,
	"internal/pgtest":   true,
	"internal/authtest": true,
}

// The budgets of length of code that is not a test, in lines.
const (
	maxFile     = 700
	maxFunction = 80
)
