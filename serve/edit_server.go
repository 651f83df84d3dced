package serve

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/upstream"
)

// loginTime bounds how long a login waits for a person.
const loginTime = 5 * time.Minute

// serverEditor changes which servers are configured, with effect on the gateway of this process at once. It is safe for
// concurrent use.
type serverEditor struct {
	service *service.Service
	gateway *gateway.Gateway
	changed func() // called after each change

	ctx   context.Context // of all logins
	tasks sync.WaitGroup  // one for each login

	mu     sync.Mutex
	logins map[string]*login // the last of each server
}

// login is a login that a person was asked for.
type login struct {
	end  context.CancelFunc
	done bool
	err  error // why it failed; only read once done is set
}

// newServerEditor returns an editor whose logins end with ctx.
func newServerEditor(ctx context.Context, s *service.Service, gw *gateway.Gateway, changed func()) *serverEditor {
	return &serverEditor{service: s, gateway: gw, changed: changed, ctx: ctx, logins: map[string]*login{}}
}

// wait returns when all logins have ended.
func (e *serverEditor) wait() { e.tasks.Wait() }

// Settings implements httpapi.ServerEditor.
func (e *serverEditor) Settings(name string) (*httpapi.ServerSettings, error) {
	server, inFile, err := e.service.Server(name)
	if err != nil {
		return nil, err
	}
	server = service.HideSecrets(server)
	return &httpapi.ServerSettings{
		Transport: server.Transport, Command: server.Command, Args: server.Args, Env: server.Env, Dir: server.Dir,
		URL: server.URL, OpenAPI: server.OpenAPI, Headers: server.Headers, Disabled: server.Disabled,
		StartTimeout: int(server.StartTimeout / time.Second), CallTimeout: int(server.Timeout / time.Second),
		Eager: server.Eager, Roots: server.Roots, InFile: inFile, Login: e.loginState(name),
		Isolate: server.Isolate,
	}, nil
}

// merge returns the stored server of a name with what the settings say of it. What they have no field for stays.
func (e *serverEditor) merge(name string, s *httpapi.ServerSettings) (upstream.Server, error) {
	stored, _, err := e.service.Server(name)
	if err != nil { // it is new
		stored = upstream.Server{Name: name}
	}
	next := stored
	next.Transport, next.Command, next.Args, next.Env, next.Dir = s.Transport, s.Command, s.Args, s.Env, s.Dir
	next.URL, next.Headers, next.Disabled, next.Eager, next.Roots = s.URL, s.Headers, s.Disabled, s.Eager, s.Roots
	next.OpenAPI = s.OpenAPI
	switch {
	case s.Command == "": // nothing runs here
		next.Isolate = nil
	case s.Isolate != nil: // one that is left out stays, so that no client removes it unawares
		next.Isolate = s.Isolate
	}
	next.StartTimeout = time.Duration(s.StartTimeout) * time.Second
	next.Timeout = time.Duration(s.CallTimeout) * time.Second
	return service.RestoreSecrets(next, stored)
}

// SaveServer implements httpapi.ServerEditor.
func (e *serverEditor) SaveServer(ctx context.Context, name string, s *httpapi.ServerSettings, create bool) ([]string,
	error,
) {
	if _, _, err := e.service.Server(name); create && err == nil {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "add server", Msg: "there is a server named " + name,
			Hint: "choose another name, or edit that server",
		}
	}
	server, err := e.merge(name, s)
	if err != nil {
		return nil, err
	}
	if _, err := e.service.PutServer(ctx, server, true); err != nil {
		return nil, err
	}
	e.apply()
	return service.PlainSecrets(server), nil
}

// apply has the gateway serve what is configured now.
func (e *serverEditor) apply() {
	e.gateway.Set(e.service.Servers())
	e.gateway.Wake()
	e.changed()
}

// RemoveServer implements httpapi.ServerEditor.
func (e *serverEditor) RemoveServer(ctx context.Context, name string) error {
	if err := e.service.RemoveServer(ctx, name); err != nil {
		return err
	}
	e.endLogin(name)
	e.apply()
	return nil
}

// SwitchServer implements httpapi.ServerEditor.
func (e *serverEditor) SwitchServer(ctx context.Context, name string, enabled bool) error {
	if err := e.service.SwitchServers(ctx, []string{name}, enabled); err != nil {
		return err
	}
	e.apply()
	return nil
}

// TryServer implements httpapi.ServerEditor.
func (e *serverEditor) TryServer(ctx context.Context, name string, s *httpapi.ServerSettings) (*httpapi.ServerTrial,
	error,
) {
	server, err := e.merge(name, s)
	if err != nil {
		return nil, err
	}
	trial, err := e.service.TryServer(ctx, server)
	if err != nil {
		return nil, err
	}
	out := &httpapi.ServerTrial{
		OK: trial.Err == nil, Tools: trial.Tools, Lines: trial.Log, Millis: float64(trial.Took.Microseconds()) / 1000,
	}
	if trial.Err != nil {
		out.Error = trial.Err.Error()
		if known := (*tool.Error)(nil); errors.As(trial.Err, &known) {
			plain := *known
			out.Hint, plain.Op, plain.Hint = known.Hint, "", ""
			out.Error = plain.Error()
		}
	}
	return out, nil
}

// Login implements httpapi.ServerEditor. A login that waits already is ended.
func (e *serverEditor) Login(ctx context.Context, name string) (string, error) {
	waiting, cancel := context.WithTimeout(e.ctx, loginTime)
	one := &login{end: cancel}
	e.mu.Lock()
	if before := e.logins[name]; before != nil {
		before.end()
	}
	e.logins[name] = one
	e.mu.Unlock()
	visit, ended := make(chan string, 1), make(chan error, 1)
	e.tasks.Go(func() {
		defer cancel()
		err := e.gateway.Login(waiting, name, gateway.LoginOptions{
			ClientSecret: e.service.Config().Login.ClientSecret, Visit: func(address string) { visit <- address },
		})
		e.mu.Lock()
		one.done, one.err = true, err
		e.mu.Unlock()
		ended <- err
	})
	select {
	case address := <-visit:
		// A browser would run another scheme, such as javascript:, in the page that shows the address.
		if u, err := url.Parse(address); err != nil || u.Scheme != "https" && u.Scheme != "http" {
			cancel()
			return "", &tool.Error{Code: tool.Unavailable, Op: "login", Msg: "the server names no web address for its login"}
		}
		return address, nil
	case err := <-ended:
		return "", err
	case <-ctx.Done():
		cancel()
		return "", ctx.Err()
	}
}

// Logout implements httpapi.ServerEditor.
func (e *serverEditor) Logout(name string) error {
	if _, _, err := e.service.Server(name); err != nil {
		return err
	}
	e.endLogin(name)
	_, err := e.gateway.Logout(name)
	return err
}

// endLogin ends a login that waits, and forgets how the last one ended.
func (e *serverEditor) endLogin(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if one := e.logins[name]; one != nil {
		one.end()
		delete(e.logins, name)
	}
}

// loginState says how far the login to a server has come, as ServerSettings.Login has it.
func (e *serverEditor) loginState(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	one := e.logins[name]
	switch {
	case one != nil && !one.done:
		return "waiting"
	case e.gateway.LoggedIn(name):
		return "done"
	case one != nil && one.err != nil:
		return one.err.Error()
	}
	return ""
}

// operator starts and stops servers, and reads the tools of those that it starts for the first time.
type operator struct {
	*gateway.Gateway
	updater *updater
}

// Start implements httpapi.Operator. A failure to read the tools is logged.
func (o operator) Start(ctx context.Context, server string) error {
	if err := o.Gateway.Start(ctx, server); err != nil {
		return err
	}
	if len(o.updater.service.Unread([]upstream.Server{{Name: server}})) > 0 {
		o.updater.readTools(ctx, server)
	}
	return nil
}

// knownStates lists the states of all configured servers, those that are disabled too.
type knownStates struct {
	gateway *gateway.Gateway
	service *service.Service
}

// Status implements httpapi.Upstreams.
func (k knownStates) Status() []upstream.Status {
	return append(k.gateway.Status(), k.service.DisabledServers()...)
}
