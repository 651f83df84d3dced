package service

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"tooldex/catalog/sources"
	"tooldex/gateway"
	"tooldex/internal/redact"
	"tooldex/tool"
	"tooldex/upstream"
)

// Server returns the configuration of a server, and whether it is in the configuration file, where only people change
// it. The error is NotFound for an unknown server, and for one whose tools come from a file.
func (s *Service) Server(name string) (one upstream.Server, inFile bool, err error) {
	all := s.Servers()
	i := slices.IndexFunc(all, isNamed(name))
	if i < 0 {
		return one, false, unknownServer("find server", name)
	}
	return all[i], slices.ContainsFunc(s.Config().Servers, isNamed(name)), nil
}

// PutServer stores the configuration of one server, and reports whether it took the place of another. It reads no tools
// and starts nothing. The error is Invalid for a server that could never be reached, for one that is in the
// configuration file, and, unless replace is set, if another one has its name.
func (s *Service) PutServer(ctx context.Context, server upstream.Server, replace bool) (replaced bool, err error) {
	old, err := s.checkPut(server, replace)
	if err != nil {
		return false, err
	}
	if err := s.SaveServers(ctx, []upstream.Server{server}); err != nil || old == nil {
		return old != nil, err
	}
	s.dropSecrets(*old)
	return true, nil
}

// checkPut returns the server that a server would replace, nil if none, or why PutServer refuses it.
func (s *Service) checkPut(server upstream.Server, replace bool) (old *upstream.Server, err error) {
	if err := sources.CheckServer(server); err != nil {
		return nil, err
	}
	if err := s.checkStored("store server", server.Name); err != nil {
		return nil, err
	}
	stored := s.Catalog.Servers()
	i := slices.IndexFunc(stored, isNamed(server.Name))
	if i < 0 || SameServer(stored[i], server) {
		return nil, nil
	}
	if !replace {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "add server", Msg: "there is another server named " + server.Name,
			Hint: "choose another name, or give --replace",
		}
	}
	return &stored[i], nil
}

// checkStored returns an Invalid error for a server of the configuration file, which only people change.
func (s *Service) checkStored(op, name string) error {
	if !slices.ContainsFunc(s.Config().Servers, isNamed(name)) {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: op, Msg: fmt.Sprintf("server %s is in the configuration file", name),
		Hint: "change it there",
	}
}

// isNamed returns a function that reports whether a server has the name.
func isNamed(name string) func(upstream.Server) bool {
	return func(one upstream.Server) bool { return one.Name == name }
}

// plainReference is a value that only refers to a variable or to a secret of the keyring, maybe after the name of a
// scheme, as "Bearer ${TOKEN}".
var plainReference = regexp.MustCompile(`^([A-Za-z]{1,12} )?\$\{(keyring:[^}]+|[A-Za-z_][A-Za-z0-9_]*)\}$`)

// HideSecrets returns a server with redact.Mark in place of what may be secret: of the environment and the headers
// everything that does not just refer to a variable, of arguments and the URL what looks like a secret.
func HideSecrets(server upstream.Server) upstream.Server {
	hidden := func(values map[string]string) map[string]string {
		out := maps.Clone(values)
		for name, value := range out {
			if !plainReference.MatchString(value) {
				out[name] = redact.Mark
			}
		}
		return out
	}
	server.Args, server.URL = redact.Args(server.Args), redact.URL(server.URL)
	server.Env, server.Headers = hidden(server.Env), hidden(server.Headers)
	return server
}

// RestoreSecrets returns an edited server with the secrets of stored wherever edited has what HideSecrets shows of
// them. The error is Invalid, and names the place, if redact.Mark stands where nothing was hidden.
func RestoreSecrets(edited, stored upstream.Server) (upstream.Server, error) {
	shown := HideSecrets(stored)
	args, err := restoreArgs(edited.Args, shown.Args, stored.Args)
	if err != nil {
		return edited, err
	}
	edited.Args = args
	switch {
	case edited.URL == shown.URL:
		edited.URL = stored.URL
	case strings.Contains(edited.URL, redact.Mark):
		return edited, hiddenValue("url")
	}
	for _, part := range []struct {
		what                  string
		edited, shown, stored map[string]string
	}{{"env", edited.Env, shown.Env, stored.Env}, {"headers", edited.Headers, shown.Headers, stored.Headers}} {
		for _, name := range slices.Sorted(maps.Keys(part.edited)) {
			switch value := part.edited[name]; {
			case value != redact.Mark:
			case part.shown[name] == redact.Mark:
				part.edited[name] = part.stored[name]
			default:
				return edited, hiddenValue(part.what + "." + name)
			}
		}
	}
	return edited, nil
}

// restoreArgs replaces those of edited that are in shown by the one of stored: the one at the same place, or else the
// first.
func restoreArgs(edited, shown, stored []string) ([]string, error) {
	out := slices.Clone(edited)
	for i, arg := range out {
		at := slices.Index(shown, arg)
		if i < len(shown) && shown[i] == arg {
			at = i
		}
		switch {
		case at >= 0:
			out[i] = stored[at]
		case strings.Contains(arg, redact.Mark):
			return nil, hiddenValue(fmt.Sprintf("args[%d]", i))
		}
	}
	return out, nil
}

// hiddenValue returns the error for a mark that hides nothing.
func hiddenValue(place string) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "store server", Msg: place + " is " + redact.Mark + ", which hides no stored value",
		Hint: "write the value, or a reference such as ${TOKEN}",
	}
}

// PlainSecrets names the places where a configuration holds secrets as they are, rather than as ${VAR}: "args[1]",
// "url", "env.TOKEN", "headers.Authorization"; sorted.
func PlainSecrets(server upstream.Server) []string {
	return redact.Places(server.Args, server.URL, server.Env, server.Headers)
}

// Trial is the outcome of a trial start.
type Trial struct {
	Tools []string // names; empty if the start failed
	Err   error    // why it failed; nil if it did not
	Log   []upstream.LogLine
	Took  time.Duration
}

// TryServer starts a server by itself, lists its tools and stops it. It stores nothing. The error is Invalid for a
// server that could never be reached.
func (s *Service) TryServer(ctx context.Context, server upstream.Server) (*Trial, error) {
	if err := sources.CheckServer(server); err != nil {
		return nil, err
	}
	server.Disabled, server.Eager = false, false
	o := s.gatewayOptions(gateway.Options{})
	if stored, _, err := s.Server(server.Name); err != nil || server.URL == "" || stored.URL != server.URL {
		o.Dir = "" // what is kept there is of another server
	}
	if server.Isolate != nil {
		dir, err := os.MkdirTemp("", "tooldex-trial-")
		if err != nil {
			return nil, &tool.Error{Code: tool.Unavailable, Op: "try server", Msg: "there is no room for a trial start", Err: err}
		}
		defer func() { _ = os.RemoveAll(dir) }()
		o.Dir = dir
	}
	gw := gateway.New(o)
	defer func() { _ = gw.Close() }() // it always returns nil
	gw.Set([]upstream.Server{server})
	out, begun := &Trial{}, time.Now()
	up, _ := gw.Upstream(server.Name) // which was just set
	tools, err := up.Tools(ctx)
	out.Err, out.Took = err, time.Since(begun)
	for _, t := range tools {
		out.Tools = append(out.Tools, t.Name)
	}
	if out.Log, err = gw.Log(server.Name); err != nil {
		return nil, err
	}
	return out, nil
}

// DisabledServers returns the states of the servers that are disabled, which no gateway has.
func (s *Service) DisabledServers() []upstream.Status {
	var out []upstream.Status
	for _, one := range s.Servers() {
		if one.Disabled {
			out = append(out, upstream.Status{Server: one.Name, State: upstream.Off, Transport: one.ReachedBy()})
		}
	}
	return out
}
