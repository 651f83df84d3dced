package gateway

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"tooldex/internal/redact"
	"tooldex/tool"
	"tooldex/upstream"
)

// expandedServer is a server's configuration with its variables filled in. It holds secrets: it is never logged or
// stored.
type expandedServer struct {
	name    string
	command string
	args    []string
	env     map[string]string
	dir     string
	url     string
	headers map[string]string
	openapi string
	auth    map[string]string
	oauth   upstream.OAuth // the zero value for none
	redact  *redactor

	runner    bool       // the command is a package runner
	isolation *isolation // what it may reach; nil for an ordinary process
	isolated  bool       // command is bubblewrap, and args have the command that it runs
}

// expandServer fills in ${VAR}, ${VAR:-default} and ${keyring:NAME} in every text of s that may hold them.
func expandServer(s upstream.Server, lookup func(string) (string, bool), secret func(string) (string, error)) (
	*expandedServer, error,
) {
	x := &expandedServer{name: s.Name, redact: &redactor{}}
	e := expander{
		server: s.Name, lookup: lookup, secret: secret, local: s.ReachedBy() == upstream.Stdio, redact: x.redact,
	}
	x.command = e.expandField("command", s.Command)
	for i, a := range s.Args {
		x.args = append(x.args, e.expandField(fmt.Sprintf("args[%d]", i), a))
	}
	x.runner = isPackageRunner(x.command, x.args)
	x.dir = e.expandField("cwd", s.Dir)
	x.url = e.expandField("url", s.URL)
	x.env = e.expandMap("env", s.Env)
	e.readEnvFile(s.EnvFile, x.env)
	x.headers = e.expandMap("headers", s.Headers)
	if s.Isolate != nil {
		x.isolation = e.expandIsolation(s.Isolate)
	}
	x.openapi, x.auth = e.expandField("openapi", s.OpenAPI), e.expandMap("auth", s.Auth)
	if s.OAuth != nil {
		x.oauth = *s.OAuth
		x.oauth.Exchange = e.expandField("oauth.exchange", s.OAuth.Exchange)
		x.oauth.Audience = e.expandField("oauth.audience", s.OAuth.Audience)
		x.oauth.ClientID = e.expandField("oauth.clientId", s.OAuth.ClientID)
		x.oauth.ClientSecret = e.expandField("oauth.clientSecret", s.OAuth.ClientSecret)
	}
	if e.err != nil {
		return nil, e.err
	}
	for _, value := range redact.Values(x.args, x.url, x.env, x.headers) {
		x.redact.replaceWith(value, redact.Mark)
	}
	x.redact.buildReplacer()
	return x, nil
}

// CheckVariables returns the Invalid error with which a start of a server would end at once, because a variable that it
// refers to is not set or its envFile cannot be read; nil if there is none. It does not ask the keyring.
func CheckVariables(s upstream.Server, lookup func(string) (string, bool)) error {
	_, err := expandServer(s, func(name string) (string, bool) {
		if strings.HasPrefix(name, userPrefix) { // each user stores one
			return "value", true
		}
		return lookup(name)
	}, func(string) (string, error) { return "", nil })
	return err
}

// expander fills in the variables of one configuration. After an error it continues, and its results are not used.
type expander struct {
	server string
	lookup func(string) (string, bool)
	secret func(string) (string, error) // nil finds none
	local  bool                         // the server is a process, which has no credentials of users
	redact *redactor
	err    error // the first one
}

// expandMap returns a new map, never nil. Keys are not expanded.
func (e *expander) expandMap(field string, m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	// Sorted, so that of several missing variables the same one is named each time.
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out[k] = e.expandField(field+"."+k, m[k])
	}
	return out
}

// readEnvFile adds the variables of a file to env, except for those that env holds already. Lines are NAME=value, with
// optional "export" and quotes; others are ignored. Each value counts as a secret.
func (e *expander) readEnvFile(name string, env map[string]string) {
	if name == "" || e.err != nil {
		return
	}
	name = e.expandField("envFile", name)
	b, err := os.ReadFile(name)
	if err != nil {
		e.err = &tool.Error{
			Code: tool.Invalid, Op: "start server", Msg: fmt.Sprintf("server %q: its envFile cannot be read", e.server),
			Hint: "correct the path, or leave it out", Err: err,
		}
		return
	}
	for line := range strings.Lines(string(b)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		key = strings.TrimSpace(strings.TrimPrefix(key, "export "))
		if _, there := env[key]; there || !ok || !variableName(key) {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		env[key] = value
		e.redact.replaceWith(value, "***")
	}
}

// expandField returns s with its variables filled in, and has their values redacted: logs show ${NAME} in their place.
// field names the place in errors.
func (e *expander) expandField(field, s string) string {
	out, err := expandText(s, func(name string) (string, bool) {
		if strings.HasPrefix(name, userPrefix) && (e.local || !strings.HasPrefix(field, headerField)) {
			return "", false
		}
		v, ok := e.findValue(field, name)
		if ok {
			e.redact.replaceWith(v, "${"+name+"}")
		}
		return v, ok
	})
	if err != nil && e.err == nil {
		e.err = &tool.Error{
			Code: tool.Invalid, Op: "start server",
			Msg:  fmt.Sprintf("server %q: %s: %v", e.server, field, err),
			Hint: "set the variable in the environment, or give a default as ${NAME:-default}",
		}
		if strings.Contains(s, "${"+userPrefix) {
			e.err = e.userError(field, err)
		}
	}
	return out
}

// headerField begins the places of headers in errors.
const headerField = "headers."

// userError returns the error of a text with a variable of users: it is in the wrong place, or the operator has not
// stored what it takes to list the tools.
func (e *expander) userError(field string, err error) error {
	out := &tool.Error{
		Code: tool.Invalid, Op: "start server", Msg: fmt.Sprintf("server %q: %s: %v", e.server, field, err),
		Hint: "${user:NAME} may stand in the headers of a server over HTTP",
	}
	if !e.local && strings.HasPrefix(field, headerField) {
		out.Hint = "the tools are listed with a credential of the operator: see Credentials of users in docs/guides/team-server.md"
	}
	return out
}

// findValue returns the value of a variable, or of a secret of the keyring, whose name begins with keyring:. A secret
// that cannot be read makes the start fail.
func (e *expander) findValue(field, name string) (string, bool) {
	key, isSecret := strings.CutPrefix(name, keyringPrefix)
	if !isSecret {
		return e.lookup(name)
	}
	if e.secret == nil || e.err != nil {
		return "", false
	}
	value, err := e.secret(key)
	var known *tool.Error
	if errors.As(err, &known) {
		code := known.Code
		if code == tool.NotFound { // the configuration is wrong, and no server is missing
			code = tool.Invalid
		}
		e.err = &tool.Error{
			Code: code, Op: "start server", Msg: fmt.Sprintf("server %q: %s: %s", e.server, field, known.Msg),
			Hint: known.Hint,
		}
	}
	return value, err == nil
}

// keyringPrefix begins the names of secrets that the keyring has, in ${keyring:NAME}.
const keyringPrefix = "keyring:"

// expandText replaces ${NAME} by a variable's value and ${NAME:-default} by the default where the variable is unset or
// empty; lookup also gets the names that begin with keyringPrefix. It also accepts what other clients write, see
// variableValue. A $ without a brace, and a brace that is never closed, stand for themselves. Values are not expanded
// again.
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
		own, ofUser := strings.CutPrefix(name, userPrefix)
		if !ofUser {
			name = variableValue(name)
			own = name
		}
		if key, ok := strings.CutPrefix(name, keyringPrefix); !variableName(own) && (!ok || key == "") {
			return "", fmt.Errorf("${%s} does not name a variable", truncateText(inner, 60))
		}
		if ofUser && hasFallback {
			return "", fmt.Errorf("${%s} takes no default, which all users would share", truncateText(inner, 60))
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

// variableValue returns the name of our variable for what other clients write in its place: ${env:NAME};
// ${input:some-key}, for which an editor would ask and which is SOME_KEY here; ${userHome} and ${workspaceFolder}.
func variableValue(name string) string {
	if input, ok := strings.CutPrefix(name, "input:"); ok {
		return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_", " ", "_").Replace(input))
	}
	switch name = strings.TrimPrefix(name, "env:"); name {
	case "userHome":
		return "HOME"
	case "workspaceFolder", "workspaceRoot":
		return "PWD"
	}
	return name
}

// variableName reports whether s is a name as shells take it: letters, digits and underscores, with no digit first.
func variableName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
