package clients

import (
	"cmp"
	"io"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"
)

// descend follows a path through objects, nil if it leads nowhere.
func descend(v any, path []string) any {
	for _, step := range path {
		v = child(v, step)
	}
	return v
}

func child(v any, key string) any {
	m, _ := v.(map[string]any)
	return m[key]
}

func remove(tree map[string]any, section []string, name string) {
	if m, ok := descend(tree, section).(map[string]any); ok {
		delete(m, name)
	}
}

// put sets a member, and makes the objects on the way.
func put(tree map[string]any, section []string, name string, value any) {
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

// prune takes empty objects out: that a section is left empty rather than absent makes no difference.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			e = prune(e)
			if m, ok := e.(map[string]any); ok && len(m) == 0 {
				continue
			}
			out[k] = e
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = prune(e)
		}
		return out
	}
	return v
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func encodeTOML(w io.Writer, v any) error { return toml.NewEncoder(w).Encode(v) }

// The keys of a server that are read, and those that change nothing about what it does.
var (
	jsonKeys = []string{
		"type", "transport", "command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers", "disabled",
		"enabled", "timeout",
		"envFile", "start", "idleTimeout", "concurrency", "queue", "description", "name", "gallery", "version", "dev",
		"trust",
	}
	tomlKeys = []string{
		"command", "args", "env", "env_vars", "cwd", "url", "bearer_token_env_var", "http_headers", "env_http_headers",
		"enabled",
		"tool_timeout_sec", "startup_timeout_sec", "startup_timeout_ms",
	}
)

// lostKeys lists the keys of a server that would no longer have an effect.
func lostKeys(server any, f Format) []string {
	known := jsonKeys
	if f == TOML {
		known = tomlKeys
	}
	m, _ := server.(map[string]any)
	var out []string
	for _, key := range sortedKeys(m) {
		if !slices.Contains(known, key) {
			out = append(out, key)
		}
	}
	return out
}
