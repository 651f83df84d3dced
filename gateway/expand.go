package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tooldex/tool"
)

// expanded is a server's configuration with its variables filled in. It holds secrets: it is never logged or stored.
type expanded struct {
	command string
	args    []string
	env     map[string]string
	dir     string
	url     string
	headers map[string]string
	scrub   *scrubber
}

// expand fills in ${VAR} and ${VAR:-default} in every text of s that may hold them.
func expand(s tool.Server, lookup func(string) (string, bool)) (*expanded, error) {
	x := &expanded{scrub: &scrubber{}}
	e := expander{server: s.Name, lookup: lookup, scrub: x.scrub}
	x.command = e.text("command", s.Command)
	for i, a := range s.Args {
		x.args = append(x.args, e.text(fmt.Sprintf("args[%d]", i), a))
	}
	x.dir = e.text("cwd", s.Dir)
	x.url = e.text("url", s.URL)
	x.env = e.texts("env", s.Env)
	x.headers = e.texts("headers", s.Headers)
	if e.err != nil {
		return nil, e.err
	}
	for name, value := range x.env {
		if secretName(name) {
			x.scrub.hide(value, "***")
		}
	}
	for _, value := range x.headers {
		x.scrub.hide(value, "***")
	}
	x.scrub.ready()
	return x, nil
}

type expander struct {
	server string
	lookup func(string) (string, bool)
	scrub  *scrubber
	err    error // the first one
}

func (e *expander) texts(field string, m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) { // so that of several missing variables the same one is named each time
		out[k] = e.text(field+"."+k, m[k])
	}
	return out
}

func (e *expander) text(field, s string) string {
	out, err := expandText(s, func(name string) (string, bool) {
		v, ok := e.lookup(name)
		if ok {
			e.scrub.hide(v, "${"+name+"}")
		}
		return v, ok
	})
	if err != nil && e.err == nil {
		e.err = &tool.Error{
			Code: tool.Invalid, Op: "start server",
			Msg:  fmt.Sprintf("server %q: %s: %v", e.server, field, err),
			Hint: "set the variable in the environment, or give a default as ${NAME:-default}",
		}
	}
	return out
}

// expandText replaces ${NAME} by a variable's value and ${NAME:-default} by the default where the variable is unset or
// empty. ${env:NAME}, as some clients write it, means ${NAME}. A $ without a brace, and a brace that is never closed,
// stand for themselves. Values are not expanded again.
func expandText(s string, lookup func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		inner, after, closed := strings.Cut(rest, "}")
		if !closed {
			b.WriteString("${" + rest)
			return b.String(), nil
		}
		name, fallback, hasFallback := strings.Cut(inner, ":-")
		name = strings.TrimPrefix(name, "env:")
		if !variableName(name) {
			return "", fmt.Errorf("${%s} does not name a variable", clip(inner, 60))
		}
		value, set := lookup(name)
		switch {
		case hasFallback && value == "":
			value = fallback
		case !set && !hasFallback:
			return "", fmt.Errorf("variable %s is not set", name)
		}
		b.WriteString(value)
		s = after
	}
}

func variableName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
