package sources

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"tooldex/upstream"
)

// codexServer is a server in the config.toml of Codex.
type codexServer struct {
	Command string            `toml:"command"`
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"`
	EnvVars []string          `toml:"env_vars"` // variables to pass on from the environment
	Dir     string            `toml:"cwd"`
	URL     string            `toml:"url"`
	Token   string            `toml:"bearer_token_env_var"`
	Headers map[string]string `toml:"http_headers"`
	FromEnv map[string]string `toml:"env_http_headers"` // variables by header
	Enabled *bool             `toml:"enabled"`
	Timeout float64           `toml:"tool_timeout_sec"`
	Start   float64           `toml:"startup_timeout_sec"`
}

// ParseCodex returns the servers of a Codex config.toml, sorted by name. All else in the file is ignored. Variables
// that it names become references such as ${TOKEN}. The errors are Invalid and name the server.
func ParseCodex(data []byte) ([]upstream.Server, error) {
	var file struct {
		Servers map[string]codexServer `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(data, &file); err != nil {
		return nil, badServers("the TOML cannot be read", "its servers should be written as [mcp_servers.NAME]", err)
	}
	if file.Servers == nil {
		return nil, badServers("there is no mcp_servers table", "its servers should be written as [mcp_servers.NAME]",
			nil)
	}
	out := make([]upstream.Server, 0, len(file.Servers))
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		v := file.Servers[name].server(name)
		if err := CheckServer(v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// server returns c in the form of this program, under a name. It does not check it.
func (c codexServer) server(name string) upstream.Server {
	v := upstream.Server{
		Name: name, Command: c.Command, Args: c.Args, Env: c.Env, Dir: c.Dir, URL: c.URL, Headers: c.Headers,
		Disabled: c.Enabled != nil && !*c.Enabled,
	}
	for _, variable := range c.EnvVars {
		put(&v.Env, variable, "${"+variable+"}")
	}
	for header, variable := range c.FromEnv {
		put(&v.Headers, header, "${"+variable+"}")
	}
	if c.Token != "" {
		put(&v.Headers, "Authorization", "Bearer ${"+c.Token+"}")
	}
	const second = float64(time.Second / time.Millisecond)
	v.Timeout = clampedMilliseconds(max(0, c.Timeout) * second)
	v.StartTimeout = clampedMilliseconds(max(0, c.Start) * second)
	return v
}

// put sets a key in a map, which it makes if it is nil.
func put(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
}

func isTOMLName(path string) bool { return strings.EqualFold(filepath.Ext(path), ".toml") }
