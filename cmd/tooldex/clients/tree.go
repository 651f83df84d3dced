package clients

import (
	"cmp"
	"io"
	"maps"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// followPath follows a path through objects. It returns nil if the path leads nowhere.
func followPath(v any, path []string) any {
	for _, step := range path {
		v = childOf(v, step)
	}
	return v
}

// childOf returns a member of an object, nil if v is no object.
func childOf(v any, key string) any {
	m, _ := v.(map[string]any)
	return m[key]
}

// removeMember deletes a member of the object at section, if there is one.
func removeMember(tree map[string]any, section []string, name string) {
	if m, ok := followPath(tree, section).(map[string]any); ok {
		delete(m, name)
	}
}

// putMember sets a member of the object at section. Objects that are missing on the way are made; other values there
// are replaced.
func putMember(tree map[string]any, section []string, name string, value any) {
	for _, step := range section {
		next, ok := tree[step].(map[string]any)
		if !ok {
			next = map[string]any{}
			tree[step] = next
		}
		tree = next
	}
	tree[name] = value
}

// withoutEmpty returns v without empty objects, since it makes no difference whether a section is empty or absent. v is
// not changed.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			e = withoutEmpty(e)
			if m, ok := e.(map[string]any); ok && len(m) == 0 {
				continue
			}
			out[k] = e
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutEmpty(e)
		}
		return out
	}
	return v
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func encodeTOML(w io.Writer, v any) error { return toml.NewEncoder(w).Encode(v) }

// The keys of a server that package sources reads, and those that do not change what the server does.
var (
	jsonKeys = []string{
		"type", "transport", "command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers", "disabled",
		"enabled", "timeout",
		"envFile", "roots", "start", "startTimeout", "callTimeout", "idleTimeout", "working_directory", "concurrency",
		"queue", "description", "name", "gallery", "version", "dev",
		"trust",
	}
	tomlKeys = []string{
		"command", "args", "env", "env_vars", "cwd", "url", "bearer_token_env_var", "http_headers", "env_http_headers",
		"enabled",
		"tool_timeout_sec", "startup_timeout_sec", "startup_timeout_ms",
	}
)

// lostKeys lists the keys of a server, sorted, that would no longer have an effect under tooldex. Those of its filter
// are not among them.
func lostKeys(server any, f Format, filter Filter) []string {
	known := jsonKeys
	if f == TOML {
		known = tomlKeys
	}
	m, _ := server.(map[string]any)
	var out []string
	for _, key := range sortedKeys(m) {
		if !slices.Contains(known, key) && !slices.Contains(filter.Keys, key) {
			out = append(out, key)
		}
	}
	return out
}
