package sources

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tooldex/tool"
	"tooldex/upstream"
)

// serverEntry is a server as clients write it. The fields url, serverUrl and httpUrl mean the same, as do type and
// transport. Unknown fields are ignored: clients add their own.
type serverEntry struct {
	Type      string            `json:"type"`
	Transport string            `json:"transport"`
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	Dir       string            `json:"cwd"`
	WorkDir   string            `json:"working_directory"` // means the same as cwd
	URL       string            `json:"url"`
	ServerURL string            `json:"serverUrl"`
	HTTPURL   string            `json:"httpUrl"`
	Headers   map[string]string `json:"headers"`
	OpenAPI   string            `json:"openapi"`
	Auth      map[string]string `json:"auth"`
	Tags      []string          `json:"tags"`
	Paths     []string          `json:"paths"`
	Disabled  bool              `json:"disabled"`
	Enabled   *bool             `json:"enabled"`
	Timeout   float64           `json:"timeout"` // milliseconds; callTimeout means the same
	EnvFile   string            `json:"envFile"`

	// Trust marks a server whose tools are neither scanned nor held. Several clients have a field of this name.
	Trust bool `json:"trust"`

	// Fields that only tooldex reads.
	Roots        bool    `json:"roots"`
	Start        string  `json:"start"`        // "eager", or "lazy" as by default
	StartTimeout float64 `json:"startTimeout"` // milliseconds
	CallTimeout  float64 `json:"callTimeout"`  // milliseconds
	Idle         float64 `json:"idleTimeout"`  // milliseconds; less than zero means never
	Concurrency  int     `json:"concurrency"`
	Queue        int     `json:"queue"`

	Isolate json.RawMessage `json:"isolate"`
	OAuth   json.RawMessage `json:"oauth"` // clients have settings of their own under this name
}

// maxTimeout bounds all durations of a server; longer ones are cut.
const maxTimeout = 24 * time.Hour

// ParseServers returns the servers of an mcpServers file, sorted by name. It accepts the spellings of the clients in
// use: mcpServers, VS Code's servers and mcp.servers, in this order. All else in the file is ignored. References such
// as ${TOKEN} stay as they are. The errors are Invalid and name the server.
func ParseServers(data []byte) ([]upstream.Server, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !json.Valid(data) {
		data = blankComments(data)
	}
	var file struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
		MCP        struct {
			Servers map[string]json.RawMessage `json:"servers"`
		} `json:"mcp"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, badServers("the servers are not written as expected",
			`the file should look like {"mcpServers": {"files": {"command": "npx", "args": ["…"]}}}`, rewordTypeError(err))
	}
	entries := file.MCPServers
	// nil means that the key is absent; an empty object means no servers, which is valid.
	if entries == nil {
		entries = file.Servers
	}
	if entries == nil {
		entries = file.MCP.Servers
	}
	if entries == nil && !saysNone(data) {
		return nil, badServers("there is no mcpServers object",
			`the file should look like {"mcpServers": {"files": {"command": "npx", "args": ["…"]}}}`, nil)
	}
	out := make([]upstream.Server, 0, len(entries))
	for name, raw := range entries {
		v, err := parseServer(name, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b upstream.Server) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// saysNone reports whether a file has a key for servers with the value null, by which some clients mean none.
func saysNone(data []byte) bool {
	var file struct {
		MCPServers json.RawMessage `json:"mcpServers"`
		Servers    json.RawMessage `json:"servers"`
		MCP        struct {
			Servers json.RawMessage `json:"servers"`
		} `json:"mcp"`
	}
	return json.Unmarshal(data, &file) == nil && (file.MCPServers != nil || file.Servers != nil ||
		file.MCP.Servers != nil)
}

// badServers returns an Invalid error without the name of the file, which document.in adds.
func badServers(msg, hint string, err error) error {
	return &tool.Error{Code: tool.Invalid, Op: "read servers", Msg: msg, Hint: hint, Err: err}
}

// rewordTypeError rewords an error about the type of a JSON value, so that it names what is in the file and no Go
// types.
func rewordTypeError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	found := wrong.Value
	switch found {
	case "array":
		found = "a list"
	case "bool":
		found = "true or false"
	default:
		found = "a " + found
	}
	if wrong.Field == "" {
		return errors.New("there is " + found)
	}
	return errors.New(wrong.Field + " is " + found)
}

// parseServer decodes one server and checks that it can be reached.
func parseServer(name string, raw json.RawMessage) (upstream.Server, error) {
	var e serverEntry
	if err := json.Unmarshal(raw, &e); err != nil {
		return upstream.Server{}, badServers(fmt.Sprintf("server %q is not written as expected", name),
			"it should be an object with command and args, or with url", rewordTypeError(err))
	}
	v := upstream.Server{
		Name: name, Command: e.Command, Args: e.Args, Env: e.Env, Dir: cmp.Or(e.Dir, e.WorkDir),
		URL:     cmp.Or(e.URL, e.HTTPURL, e.ServerURL),
		OpenAPI: e.OpenAPI, Auth: e.Auth, Tags: e.Tags, Paths: e.Paths,
		Headers: e.Headers, Trust: e.Trust, Roots: e.Roots,
		Disabled: e.Disabled || e.Enabled != nil && !*e.Enabled, EnvFile: e.EnvFile,
		Concurrency: e.Concurrency, Queue: e.Queue,
	}
	var err error
	if v.Isolate, err = parseIsolation(name, e.Isolate); err != nil {
		return v, err
	}
	if v.OAuth, err = parseOAuth(name, e.OAuth); err != nil {
		return v, err
	}
	braceReferences(v.Env)
	braceReferences(v.Headers)
	braceReferences(v.Auth)
	// callTimeout is more specific, so it has precedence. Zero means the default, and negative values are none.
	v.Timeout = clampedMilliseconds(max(0, cmp.Or(e.CallTimeout, e.Timeout)))
	v.StartTimeout = clampedMilliseconds(max(0, e.StartTimeout))
	switch v.Idle = clampedMilliseconds(e.Idle); e.Start {
	case "", "lazy":
	case "eager":
		v.Eager = true
	default:
		return v, badServers(fmt.Sprintf("server %q is to be started %q", name, e.Start), "use eager or lazy", nil)
	}
	// Case, hyphens and underscores differ between clients: "streamable-http", "streamableHttp", "streamable_http".
	switch kind := cmp.Or(e.Type, e.Transport); strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(kind)) {
	case "":
	case "stdio", "local":
		v.Transport = upstream.Stdio
	case "http", "streamablehttp", "remote":
		v.Transport = upstream.HTTP
	case "sse":
		v.Transport = upstream.SSE
	case "openapi":
		v.Transport = upstream.OpenAPI
	default:
		return v, badServers(fmt.Sprintf("server %q has the unknown transport %q", name, kind),
			"use stdio, http, sse or openapi", nil)
	}
	return v, CheckServer(v)
}

// parseIsolation decodes what a server may reach; nil if raw is empty or null. Unlike in the rest of an entry, an
// unknown key is an error, since a misspelt one would give the server other rights than were meant.
func parseIsolation(name string, raw json.RawMessage) (*upstream.Isolation, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	out := &upstream.Isolation{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return nil, badServers(fmt.Sprintf("server %q: its isolate is not written as expected", name),
			`it should look like {"read": ["/srv/docs"], "write": ["~/notes"], "network": false, "memory": "512MB"}`,
			rewordTypeError(err))
	}
	return out, nil
}

// clampedMilliseconds returns n milliseconds, clamped to maxTimeout in both directions.
func clampedMilliseconds(n float64) time.Duration {
	// Clamping comes before the conversion, since a float beyond the range of int64 converts to anything.
	most := float64(maxTimeout)
	return time.Duration(max(-most, min(n*float64(time.Millisecond), most)))
}

// braceReferences replaces values of the form $NAME, which one client uses, by ${NAME}.
func braceReferences(values map[string]string) {
	for key, value := range values {
		if name, ok := strings.CutPrefix(value, "$"); ok && plainVariable.MatchString(name) {
			values[key] = "${" + name + "}"
		}
	}
}

var plainVariable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// CheckName returns an Invalid error for a name that cannot be the server part of a tool's ID, or that contains
// characters which a reader does not see.
func CheckName(name string) error {
	if name == "" || len(name) > 200 || !utf8.ValidString(name) || strings.ContainsRune(name, '/') ||
		strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsPrint(r)
	}) {
		return &tool.Error{
			Code: tool.Invalid, Op: "sync", Msg: fmt.Sprintf("%.80q cannot name a source", name),
			Hint: "use letters, digits, dots, underscores and hyphens",
		}
	}
	return nil
}

// CheckServer returns an Invalid error for a server that could never be reached, or whose name cannot be part of a
// tool's ID.
func CheckServer(v upstream.Server) error {
	bad := func(msg, hint string) error {
		return badServers(fmt.Sprintf("server %q %s", v.Name, msg), hint, nil)
	}
	remote := v.Transport == upstream.HTTP || v.Transport == upstream.SSE
	switch {
	case CheckName(v.Name) != nil:
		return bad("has no usable name", "use letters, digits, dots, underscores and hyphens")
	case checkOAuth(v) != "":
		return bad(checkOAuth(v), "see Logins of users in docs/guides/team-server.md")
	case v.ReachedBy() == upstream.OpenAPI:
		return checkAPI(v, bad)
	case v.OpenAPI != "" || len(v.Auth)+len(v.Tags)+len(v.Paths) > 0:
		return bad("has openapi, auth, tags or paths, and is no API",
			"leave them out, or the transport and the command")
	case v.Command == "" && v.URL == "":
		return bad("has neither a command nor a url", "give command and args for a local server, url for a remote one")
	case v.Command != "" && v.URL != "":
		return bad("has both a command and a url", "leave one out")
	case v.Transport == upstream.Stdio && v.Command == "":
		return bad("uses stdio but has no command", "give a command, or another transport")
	case remote && v.URL == "":
		return bad("uses "+string(v.Transport)+" but has no url", "give a url, or the transport stdio")
	case v.Isolate != nil && v.Command == "":
		return bad("has an isolate but no command", "leave isolate out: a server at a url is not a process of this machine")
	case v.Isolate != nil:
		var wrong *tool.Error
		if errors.As(v.Isolate.Check(), &wrong) {
			return bad("has a wrong "+wrong.Msg, wrong.Hint)
		}
	}
	return nil
}
