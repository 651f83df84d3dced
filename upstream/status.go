package upstream

import "time"

// State says how far an upstream has come.
type State string

// The states of an upstream server.
const (
	Configured State = "configured" // never reached yet
	Known      State = "known"      // its tools are stored; it does not run now
	Starting   State = "starting"   // it is being started, or waits for its turn
	Installing State = "installing" // a package runner such as npx is installing it
	Running    State = "running"
	Failed     State = "failed"   // the last start or call failed
	Off        State = "disabled" // it is not started, and its tools are disabled
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
	// FailedAt is when Error happened; nil if there is none.
	FailedAt *time.Time `json:"failedAt,omitempty"`
	// Restarts counts the starts, by this process, that followed a failed start or a lost connection.
	Restarts int `json:"restarts,omitempty"`
	// Isolated says what an isolated server may reach; "" for an ordinary process.
	Isolated string `json:"isolated,omitempty"`
}
