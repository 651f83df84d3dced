package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// userKeys is the Users of tests: values by user, server, address and name.
type userKeys struct {
	mu     sync.Mutex
	values map[[4]string]string
}

type userOfTest struct{}

func as(ctx context.Context, user string) context.Context {
	return context.WithValue(ctx, userOfTest{}, user)
}

func (k *userKeys) Of(ctx context.Context) string {
	user, _ := ctx.Value(userOfTest{}).(string)
	return user
}

func (k *userKeys) Value(user, server, address, name string) (string, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.values[[4]string{user, server, address, name}]
	return v, ok, nil
}

func (k *userKeys) Keep(ctx context.Context, server, address, name, value string) error {
	k.set(k.Of(ctx), server, address, name, value)
	return nil
}

func (k *userKeys) Replace(user, server, address, name, before, next string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := [4]string{user, server, address, name}
	if k.values[at] != before {
		return false, nil
	}
	if k.values[at] = next; next == "" {
		delete(k.values, at)
	}
	return true, nil
}

type tokenOfTest struct{}

func (k *userKeys) Token(ctx context.Context) string {
	token, _ := ctx.Value(tokenOfTest{}).(string)
	return token
}

func (k *userKeys) set(user, server, address, name, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if value == "" {
		delete(k.values, [4]string{user, server, address, name})
		return
	}
	k.values[[4]string{user, server, address, name}] = value
}

// bank is a real MCP server over HTTP that knows its users by their keys and keeps state in each session.
type bank struct {
	url string

	mu       sync.Mutex
	sessions map[string]string // session to the key that began it
	strange  []string          // requests on a session with another key
	ended    map[string]int    // sessions that were ended, by key
	seen     map[string]bool   // keys
}

// knownKeys are the users of the bank.
var knownKeys = map[string]string{"Bearer key-ana": "ana", "Bearer key-ben": "ben", "Bearer key-op": "operator", "Bearer key-ana-2": "ana"}

func startBank(t *testing.T) *bank {
	t.Helper()
	b := &bank{sessions: map[string]string{}, ended: map[string]int{}, seen: map[string]bool{}}
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return bankServer(knownKeys[r.Header.Get("Authorization")])
	}, &mcp.StreamableHTTPOptions{SessionTimeout: 5 * time.Second})
	web := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Authorization")
		b.mu.Lock()
		b.seen[key] = true
		id := r.Header.Get(sessionHeader)
		if id != "" {
			if was, ok := b.sessions[id]; ok && was != key {
				b.strange = append(b.strange, fmt.Sprintf("%s %s: %s on a session of %s", r.Method, id, key, was))
			}
			b.sessions[id] = key
		}
		if r.Method == http.MethodDelete {
			b.ended[key]++
		}
		b.mu.Unlock()
		if knownKeys[key] == "" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	b.url = web.URL
	return b
}

// bankServer is the server of one session of a user.
func bankServer(user string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bank", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
	})
	var mu sync.Mutex
	note := "nothing"
	add := func(name string, f func(context.Context, *mcp.CallToolRequest) string) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: f(ctx, r)}}}, nil
			})
	}
	add("balance", func(context.Context, *mcp.CallToolRequest) string { return "the balance of " + user })
	add("remember", func(_ context.Context, r *mcp.CallToolRequest) string {
		mu.Lock()
		defer mu.Unlock()
		note = string(r.Params.Arguments)
		return "remembered"
	})
	add("recall", func(context.Context, *mcp.CallToolRequest) string {
		mu.Lock()
		defer mu.Unlock()
		return user + " noted " + note
	})
	add("log", func(ctx context.Context, r *mcp.CallToolRequest) string {
		_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Data: "a message to " + user})
		return "logged"
	})
	s.AddResource(&mcp.Resource{URI: "bank://statement", Name: "statement of " + user},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "bank://statement", Text: "statement of " + user}}}, nil
		})
	return s
}

// entry returns the configuration of the bank.
func (b *bank) entry() upstream.Server {
	return upstream.Server{Name: "bank", URL: b.url, Headers: map[string]string{"Authorization": "Bearer ${user:KEY}"}}
}

// startUserGateway has the keys of the operator, ana and ben, and none of carl.
func startUserGateway(t *testing.T, b *bank, o Options) (*Gateway, *userKeys) {
	t.Helper()
	keys := &userKeys{values: map[[4]string]string{}}
	keys.set("", "bank", b.url, "KEY", "key-op")
	keys.set("ana", "bank", b.url, "KEY", "key-ana")
	keys.set("ben", "bank", b.url, "KEY", "key-ben")
	o.Users = keys
	return startGateway(t, o, b.entry()), keys
}

func callOf(t *testing.T, g *Gateway, user string, id tool.ID, args string) string {
	t.Helper()
	res, err := g.Call(as(t.Context(), user), tool.Call{ID: id, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s calls %s: %v", user, id, err)
	}
	return textOf(t, res)
}

// TestUsersHaveTheirOwn wants the answers of two users to differ, also where they call at the same time and the server
// keeps state in a session, and no session to see the key of two.
func TestUsersHaveTheirOwn(t *testing.T) {
	b := startBank(t)
	g, _ := startUserGateway(t, b, Options{})
	listNames(t, g, "bank")
	var wait sync.WaitGroup
	for i := range 40 {
		user := []string{"ana", "ben", ""}[i%3]
		name := []string{"ana", "ben", "operator"}[i%3]
		wait.Go(func() {
			res, err := g.Call(as(t.Context(), user), tool.Call{ID: "bank/balance"})
			if err != nil {
				t.Errorf("%q: %v", user, err)
			} else if got := textOf(t, res); got != "the balance of "+name {
				t.Errorf("%q is answered with %s", user, got)
			}
		})
	}
	wait.Wait()
	callOf(t, g, "ana", "bank/remember", `{"secret":"of ana"}`)
	if got := callOf(t, g, "ben", "bank/recall", ""); got != "ben noted nothing" {
		t.Errorf("ben reads %s", got)
	}
	if got := callOf(t, g, "", "bank/recall", ""); got != "operator noted nothing" {
		t.Errorf("the operator reads %s", got)
	}
	if got := callOf(t, g, "ana", "bank/recall", ""); got != `ana noted {"secret":"of ana"}` {
		t.Errorf("ana reads %s", got)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.strange) > 0 {
		t.Errorf("sessions are shared: %v", b.strange)
	}
}

// TestUsersWithout wants a user without a credential to get nothing, and nothing to be asked in another's name.
func TestUsersWithout(t *testing.T) {
	b := startBank(t)
	g, keys := startUserGateway(t, b, Options{})
	callOf(t, g, "ana", "bank/balance", "")
	for _, user := range []string{"carl", "ana ", "ANA", "ana\x00"} {
		_, err := g.Call(as(t.Context(), user), tool.Call{ID: "bank/balance"})
		if tool.CodeOf(err) != tool.Denied || !strings.Contains(err.Error(), "your own KEY") {
			t.Errorf("%q: %v", user, err)
		}
	}
	keys.set("carl", "other", b.url, "KEY", "key-ana") // of another server
	keys.set("carl", "bank", "https://elsewhere.example", "KEY", "key-ana")
	keys.set("carl", "bank", b.url, "OTHER", "key-ana")
	if _, err := g.Call(as(t.Context(), "carl"), tool.Call{ID: "bank/balance"}); tool.CodeOf(err) != tool.Denied {
		t.Errorf("carl: %v", err)
	}
	keys.set("carl", "bank", b.url, "KEY", "${HOME}")
	if _, err := g.Call(as(t.Context(), "carl"), tool.Call{ID: "bank/balance"}); err == nil {
		t.Error("a wrong key is taken")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.seen["Bearer ${HOME}"] {
		t.Errorf("what a user stores is changed: %v", b.seen)
	}
}

// TestUsersResources wants resources to be read with the key of the one who reads, none to be listed to everybody, and
// no subscription, whose updates would go to others.
func TestUsersResources(t *testing.T) {
	b := startBank(t)
	features := make(chan string, 10)
	g, _ := startUserGateway(t, b, Options{Dir: t.TempDir(), OnFeatures: func(s string) { features <- s }})
	listNames(t, g, "bank")
	callOf(t, g, "ana", "bank/balance", "")
	for _, f := range g.Features() {
		if len(f.Resources)+len(f.Prompts)+len(f.Templates) > 0 {
			t.Errorf("listed to everybody: %s", f.Resources)
		}
	}
	for _, user := range []string{"ana", "ben"} {
		raw, err := g.Forward(as(t.Context(), user), upstream.Request{
			Server: "bank", Method: "resources/read", Params: json.RawMessage(`{"uri":"bank://statement"}`),
		})
		if err != nil || !strings.Contains(string(raw), "statement of "+user) {
			t.Errorf("%s reads %s, %v", user, raw, err)
		}
		for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
			if _, err := g.Forward(as(t.Context(), user), upstream.Request{
				Server: "bank", Method: method, Params: json.RawMessage(`{"uri":"bank://statement"}`),
			}); tool.CodeOf(err) != tool.Invalid {
				t.Errorf("%s: %s: %v", user, method, err)
			}
		}
	}
	if _, err := g.Forward(as(t.Context(), "carl"), upstream.Request{
		Server: "bank", Method: "resources/read", Params: json.RawMessage(`{"uri":"bank://statement"}`),
	}); tool.CodeOf(err) != tool.Denied {
		t.Errorf("carl reads: %v", err)
	}
	select {
	case <-features:
		t.Error("a change of somebody's resources is announced to everybody")
	default:
	}
}

// TestUsersMessages wants what a server says in one user's session to reach that user's client alone.
func TestUsersMessages(t *testing.T) {
	b := startBank(t)
	g, _ := startUserGateway(t, b, Options{})
	var mu sync.Mutex
	heard := map[string][]string{}
	client := func(user string) *tool.Client {
		return &tool.Client{Session: "session of " + user, LogLevel: "debug", Tell: func(_ string, params json.RawMessage) {
			mu.Lock()
			defer mu.Unlock()
			heard[user] = append(heard[user], string(params))
		}}
	}
	var wait sync.WaitGroup
	for _, user := range []string{"ana", "ben", "ana", "ben"} {
		wait.Go(func() {
			if _, err := g.Call(as(t.Context(), user), tool.Call{ID: "bank/log", Client: client(user)}); err != nil {
				t.Errorf("%s: %v", user, err)
			}
		})
	}
	wait.Wait()
	mu.Lock()
	defer mu.Unlock()
	for user, all := range heard {
		for _, one := range all {
			if !strings.Contains(one, "a message to "+user) {
				t.Errorf("%s hears %s", user, one)
			}
		}
	}
	if len(heard["ana"]) == 0 || len(heard["ben"]) == 0 {
		t.Errorf("heard is %v", heard)
	}
}

// TestUsersRevoke wants a credential that was removed or replaced to be used no more, by another process too, and its
// session to be ended; and those of others to go on.
func TestUsersRevoke(t *testing.T) {
	b := startBank(t)
	g, keys := startUserGateway(t, b, Options{})
	callOf(t, g, "ana", "bank/remember", `{"a":1}`)
	callOf(t, g, "ben", "bank/remember", `{"b":1}`)
	keys.set("ana", "bank", b.url, "KEY", "key-ana-2")
	if got := callOf(t, g, "ana", "bank/recall", ""); got != "ana noted nothing" {
		t.Errorf("the session of the old key goes on: %s", got)
	}
	keys.set("ana", "bank", b.url, "KEY", "")
	if _, err := g.Call(as(t.Context(), "ana"), tool.Call{ID: "bank/balance"}); tool.CodeOf(err) != tool.Denied {
		t.Errorf("a removed key is used: %v", err)
	}
	if got := callOf(t, g, "ben", "bank/recall", ""); got != `ben noted {"b":1}` {
		t.Errorf("ben reads %s", got)
	}
	g.EndUser("ben", "bank")
	if got := callOf(t, g, "ben", "bank/recall", ""); got != "ben noted nothing" {
		t.Errorf("ben's session goes on: %s", got)
	}
	g.EndUser("carl", "") // has none
	waitUntil(t, "the sessions end", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.ended["Bearer key-ana"] == 1 && b.ended["Bearer key-ana-2"] == 1 && b.ended["Bearer key-ben"] == 1
	})
	g.Set(nil)
	g.mu.RLock()
	left := len(g.users)
	g.mu.RUnlock()
	if left != 0 {
		t.Errorf("%d connections of users outlive their server", left)
	}
}

// TestUserVariablesElsewhere wants ${user:NAME} in the headers of servers over HTTP alone, without a default, and never
// from the environment.
func TestUserVariablesElsewhere(t *testing.T) {
	b := startBank(t)
	env := func(name string) (string, bool) { return "key-op", strings.HasPrefix(name, userPrefix) }
	for name, c := range map[string]struct {
		cfg  upstream.Server
		want string
	}{
		"url":     {upstream.Server{URL: b.url + "/${user:KEY}"}, "may stand in the headers"},
		"default": {upstream.Server{URL: b.url, Headers: map[string]string{"Authorization": "Bearer ${user:KEY:-key-op}"}}, "takes no default"},
		"name":    {upstream.Server{URL: b.url, Headers: map[string]string{"Authorization": "Bearer ${user:}"}}, "does not name a variable"},
		"env":     {upstream.Server{Command: "true", Env: map[string]string{"KEY": "${user:KEY}"}}, "may stand in the headers"},
		"args":    {upstream.Server{Command: "true", Args: []string{"${user:KEY}"}}, "may stand in the headers"},
		"stdio":   {upstream.Server{Command: "true", Headers: map[string]string{"A": "${user:KEY}"}}, "may stand in the headers"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Name = "s"
			keys := &userKeys{values: map[[4]string]string{{"", "s", b.url, "KEY"}: "key-op", {"ana", "s", b.url, "KEY"}: "key-ana"}}
			g := startGateway(t, Options{Users: keys, LookupEnv: env}, c.cfg)
			_, err := g.Call(as(t.Context(), "ana"), tool.Call{ID: "s/balance"})
			var e *tool.Error
			if !errors.As(err, &e) || !strings.Contains(e.Msg+e.Hint, c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
	g := startGateway(t, Options{LookupEnv: env}, b.entry())
	if _, err := g.Call(t.Context(), tool.Call{ID: "bank/balance"}); tool.CodeOf(err) != tool.Denied {
		t.Errorf("without a store: %v", err)
	}
	u, _ := g.Upstream("bank")
	if _, err := u.Tools(t.Context()); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("tools are listed by the environment: %v", err)
	}
	if got := UserVariables(upstream.Server{URL: "x", Headers: map[string]string{"A": "${user:B} ${user:A}", "C": "${user:A}${X}"}}); fmt.Sprint(got) != "[A B]" {
		t.Errorf("the variables are %v", got)
	}
}

// TestUsersMakeRoom fills the connections of users, and wants those at rest to make room, and others to stay.
func TestUsersMakeRoom(t *testing.T) {
	b := startBank(t)
	g, keys := startUserGateway(t, b, Options{})
	u, _ := g.Upstream("bank")
	for i := range maxUserUpstreams {
		user := fmt.Sprintf("u%d", i)
		keys.set(user, "bank", b.url, "KEY", "key-ana")
		if _, err := g.upstreamFor(as(t.Context(), user), u); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.upstreamFor(as(t.Context(), "ben"), u); tool.CodeOf(err) != tool.Unavailable {
		t.Fatalf("one more: %v", err)
	}
	g.mu.Lock()
	g.users[userKey{"bank", "u7"}].wanted = time.Now().Add(-2 * userRest)
	g.mu.Unlock()
	if got := callOf(t, g, "ben", "bank/balance", ""); got != "the balance of ben" {
		t.Error(got)
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.users[userKey{"bank", "u7"}] != nil || len(g.users) != maxUserUpstreams {
		t.Errorf("%d connections", len(g.users))
	}
}
