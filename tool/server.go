package tool

import "time"

// Transport says how an upstream server is reached.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http" // streamable HTTP
	SSE   Transport = "sse"  // the older HTTP transport
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
	EnvFile  string            `json:"envFile,omitempty"`
	Dir      string            `json:"cwd,omitempty"`
	URL      string            `json:"url,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Disabled bool              `json:"disabled,omitempty"`
	Timeout  time.Duration     `json:"timeout,omitempty"` // of one call; zero means the gateway's default

	Trust bool `json:"trust,omitempty"` // its tools are taken as they are: nobody looks whether they became suspicious

	Eager bool `json:"eager,omitempty"` // it is started before it is needed, and stays
	// without use after which it is stopped; zero means the gateway's default, less means never
	Idle time.Duration `json:"idle,omitempty"`
	// calls that it runs at once; zero means the gateway's default
	Concurrency int `json:"concurrency,omitempty"`
	// further calls that wait; zero means the gateway's default, less means none
	Queue int `json:"queue,omitempty"`
}

// State says how far an upstream has come.
type State string

// The states of an upstream server.
const (
	Configured State = "configured" // never reached yet
	Known      State = "known"      // its tools are stored; it does not run now
	Running    State = "running"
	Failed     State = "failed" // the last start or call failed
)

// LogSource says who wrote a LogLine.
type LogSource string

// The sources of log lines.
const (
	FromServer  LogSource = "server"  // the server itself, to its standard error
	FromGateway LogSource = "gateway" // this program, about the server
)

// LogLine is one line of what an upstream printed or of what happened to it.
type LogLine struct {
	Time time.Time `json:"time"`
	From LogSource `json:"from"`
	Text string    `json:"text"`
}

// Status describes an upstream to people and clients.
type Status struct {
	Server    string    `json:"server"`
	State     State     `json:"state"`
	Transport Transport `json:"transport,omitempty"`
	Tools     int       `json:"tools"`
	Error     string    `json:"error,omitempty"` // the last one; "" if none
}
