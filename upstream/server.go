package upstream

import "time"

// Transport says how an upstream server is reached.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http" // streamable HTTP
	SSE   Transport = "sse"  // the older HTTP transport
	// OpenAPI is an HTTP API and no MCP server. Its tools are made here, of the operations that its description lists.
	OpenAPI Transport = "openapi"
)

// Server configures one upstream MCP server, in the terms of an mcpServers file. ${VAR} and ${VAR:-default} in Command,
// Args, Env, URL and Headers are left unexpanded here, so that no secret is stored; they are filled in when it is
// started.
type Server struct {
	Name      string            `json:"name"`
	Transport Transport         `json:"type,omitempty"` // "" means stdio with a Command, else http
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	// of lines KEY=VALUE, read when it is started; Env comes before it
	EnvFile string            `json:"envFile,omitempty"`
	Dir     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// OpenAPI is the file or the address of an OpenAPI description. URL is then where the API is, if the description is
	// not to say, and Headers go with each request to it.
	OpenAPI string            `json:"openapi,omitempty"`
	Auth    map[string]string `json:"auth,omitempty"` // ${VAR} for each security scheme of the description
	// Of an API: only operations with one of the tags, and only those that fit one of the patterns "/path/*" and
	// "METHOD /path/*". None means all.
	Tags     []string      `json:"tags,omitempty"`
	Paths    []string      `json:"paths,omitempty"`
	Disabled bool          `json:"disabled,omitempty"`
	Timeout  time.Duration `json:"timeout,omitempty"` // of one call; zero means the gateway's default
	// of a start, not counting its turn and the time in which a package runner installs it; zero means the gateway's
	// default
	StartTimeout time.Duration `json:"startTimeout,omitempty"`

	Roots bool `json:"roots,omitempty"` // it may know the folders that the client works in
	Trust bool `json:"trust,omitempty"` // its tools are served without the scan for suspicious ones
	// OAuth is how each user gets a token of their own; nil for a server whose credentials all users share.
	OAuth *OAuth `json:"oauth,omitempty"`
	// Isolate is what its command may reach; nil for an ordinary process, with all that our user may do.
	Isolate *Isolation `json:"isolate,omitempty"`

	Eager bool `json:"eager,omitempty"` // it is started before it is needed, and stays
	// without use after which it is stopped; zero means the gateway's default, less means never
	Idle time.Duration `json:"idle,omitempty"`
	// calls that it runs at once; zero means the gateway's default
	Concurrency int `json:"concurrency,omitempty"`
	// further calls that wait; zero means the gateway's default, less means none
	Queue int `json:"queue,omitempty"`
}

// ReachedBy returns how the server is reached. If its configuration does not say, what it names decides: a description,
// a command, or a URL.
func (s Server) ReachedBy() Transport {
	switch {
	case s.Transport != "":
		return s.Transport
	case s.OpenAPI != "":
		return OpenAPI
	case s.Command != "":
		return Stdio
	default:
		return HTTP
	}
}
