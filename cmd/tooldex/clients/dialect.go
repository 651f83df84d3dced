package clients

import (
	"maps"
	"slices"
)

// Dialect is how a client writes a server, where that differs from {"command": …, "args": […], "env": {…}}.
type Dialect int

// The dialects.
const (
	Standard Dialect = iota
	Seconds          // Cline and Roo Code: timeouts are seconds
	Zed              // servers of extensions stand among the others; older ones have {"command": {"path": …}}
	OpenCode         // one list of the command and its arguments, and "environment"
	Goose            // "cmd", "envs", "uri"; built-in extensions stand among the servers
	Continue         // a list of servers with names
)

// standardEntry returns a server as most clients write it, and false for what is no MCP server, such as a built-in
// extension. The value is not changed. Members that it does not know stay in the result, so that Entry.Lost can name
// those that have no effect here.
func (d Dialect) standardEntry(value any) (any, bool) {
	given, ok := value.(map[string]any)
	if !ok || d == Standard {
		return value, true
	}
	m := maps.Clone(given)
	rename := func(from, to string) {
		if v, ok := m[from]; ok {
			delete(m, from)
			m[to] = v
		}
	}
	switch d {
	// "source" only says that the user added the server. Older files nest the command in an object of its own.
	case Zed:
		delete(m, "source")
		if c, ok := m["command"].(map[string]any); ok {
			delete(m, "command")
			maps.Copy(m, c)
			rename("path", "command")
		}
	case OpenCode:
		rename("environment", "env")
		if list, ok := m["command"].([]any); ok && len(list) > 0 {
			m["command"], m["args"] = list[0], list[1:]
		}
	case Goose:
		rename("cmd", "command")
		rename("envs", "env")
		rename("uri", "url")
		// The values of env_keys are kept elsewhere, where this program cannot read them: they must come from the
		// environment instead.
		m["env"] = withReferences(m["env"], m["env_keys"])
		for _, key := range []string{"env_keys", "name", "bundled", "display_name"} {
			delete(m, key)
		}
	case Continue:
		delete(m, "name")
		if options, ok := m["requestOptions"].(map[string]any); ok && options["headers"] != nil {
			delete(m, "requestOptions")
			m["headers"] = options["headers"]
		}
		// both are in milliseconds
		rename("connectionTimeout", "startTimeout")
	}
	if d == Goose || d == Seconds {
		m["timeout"] = milliseconds(m["timeout"])
		if m["timeout"] == nil {
			delete(m, "timeout")
		}
	}
	// Cline and Roo Code list only MCP servers, so there an entry without a command is a faulty server, which should be
	// reported. In the other files it is something else, such as a built-in extension.
	return m, m["command"] != nil || m["url"] != nil || d == Seconds
}

// withReferences returns variables together with those that are kept elsewhere, by the names in keys, as references.
func withReferences(env, keys any) map[string]any {
	out := map[string]any{}
	if have, ok := env.(map[string]any); ok {
		maps.Copy(out, have)
	}
	names, _ := keys.([]any)
	for _, name := range names {
		if s, ok := name.(string); ok && out[s] == nil {
			out[s] = "${" + s + "}"
		}
	}
	return out
}

// milliseconds returns a number of seconds in milliseconds, nil if it is none. The parsers of YAML, TOML and JSON
// return int, float64 and json.Number.
func milliseconds(v any) any {
	const perSecond = 1000
	switch n := v.(type) {
	case int:
		return n * perSecond
	case float64:
		return n * perSecond
	case interface{ Float64() (float64, error) }: // json.Number
		if f, err := n.Float64(); err == nil {
			return f * perSecond
		}
	}
	return nil
}

// gooseTimeout is the bound of a call that goose itself writes, in seconds.
const gooseTimeout = 300

// ownEntry returns own as the client writes servers. A struct keeps the members in the usual order.
func (d *Document) ownEntry(own Own) any {
	// never nil, which JSON would write as null
	args := append([]string{}, own.Args...)
	switch d.Dialect {
	case OpenCode:
		return struct {
			Type    string   `json:"type"`
			Command []string `json:"command"`
			Enabled bool     `json:"enabled"`
		}{"local", append([]string{own.Command}, args...), true}
	case Goose:
		return struct {
			Enabled bool     `yaml:"enabled"`
			Type    string   `yaml:"type"`
			Name    string   `yaml:"name"`
			Cmd     string   `yaml:"cmd"`
			Args    []string `yaml:"args,flow"`
			Timeout int      `yaml:"timeout"`
		}{true, "stdio", own.Name, own.Command, args, gooseTimeout}
	case Continue:
		return struct {
			Name    string   `yaml:"name"`
			Command string   `yaml:"command"`
			Args    []string `yaml:"args,flow"`
		}{own.Name, own.Command, args}
	}
	kind := ""
	if d.Typed {
		kind = "stdio"
	}
	return struct {
		Type    string   `json:"type,omitempty"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{kind, own.Command, args}
}

// ownLines returns own as lines of YAML, in the section of a mapping or a list.
func (d *Document) ownLines(own Own) string {
	if d.Dialect == Continue {
		return encodeYAML([]any{d.ownEntry(own)})
	}
	return encodeYAML(map[string]any{own.Name: d.ownEntry(own)})
}

// decodedEntry returns own as parseTree reads it back, for verifyEdit. It must be kept in step with ownEntry: types and
// members are those of the parser.
func (d *Document) decodedEntry(own Own) any {
	args := []any{}
	for _, a := range own.Args {
		args = append(args, a)
	}
	switch d.Dialect {
	case OpenCode:
		return map[string]any{
			"type": "local", "command": slices.Concat([]any{own.Command}, args), "enabled": true,
		}
	case Goose:
		return map[string]any{
			"enabled": true, "type": "stdio", "name": own.Name, "cmd": own.Command, "args": args, "timeout": gooseTimeout,
		}
	case Continue:
		return map[string]any{"name": own.Name, "command": own.Command, "args": args}
	}
	v := map[string]any{"command": own.Command, "args": args}
	if d.Typed {
		v["type"] = "stdio"
	}
	return v
}
