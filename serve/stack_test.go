package serve

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/catalog/sources"
	"tooldex/config"
	"tooldex/enrich"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/mcpsrv"
	"tooldex/service"
	"tooldex/tool"
)

// stack is everything that serves, over real HTTP, with tools that have no server behind them.
type stack struct {
	t       *testing.T
	all     *surfaces
	gateway *gateway.Gateway
	url     string
	tokens  access.File
	secrets map[string]string // of the tokens, by name
	token   string            // the secret that requests carry; "" for none
}

// serveTools serves tools as a configuration says. change may be nil. Without tokens none is needed.
func serveTools(t *testing.T, tools []*tool.Tool, change func(*config.Config), tokens ...access.Token) *stack {
	t.Helper()
	st := &stack{t: t, tokens: access.File{Path: filepath.Join(t.TempDir(), "tokens.yaml")}, secrets: map[string]string{}}
	for _, one := range tokens {
		st.secrets[one.Name] = access.NewSecret()
		one.Digest = access.Digest(st.secrets[one.Name])
		if err := st.tokens.Add(one); err != nil {
			t.Fatal(err)
		}
	}
	loader, err := config.Load(config.Options{NoFile: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	cfg := *loader.Config()
	cfg.Audit.On = false
	if change != nil {
		change(&cfg)
	}
	s, err := service.Open(t.Context(), service.Options{
		Dir: t.TempDir(), Use: service.ToSearch, Serving: true, Config: func() *config.Config { return &cfg },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	byServer := map[string]*memorySource{}
	var all []sources.Source
	for _, one := range tools {
		if byServer[one.Server] == nil {
			byServer[one.Server] = &memorySource{name: one.Server}
			all = append(all, byServer[one.Server])
		}
		byServer[one.Server].tools = append(byServer[one.Server].tools, one)
	}
	if _, err := s.Catalog.SyncAll(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	gw := s.NewGateway(gateway.Options{LoginPage: func(server string) string { return st.all.logins.page(server) }})
	st.gateway = gw
	t.Cleanup(func() { _ = gw.Close() })
	views, err := s.NewViews(t.Context(), service.ViewOptions{Gateway: gw})
	if err != nil {
		t.Fatal(err)
	}
	var oauth *access.OAuth
	if len(cfg.OAuth.Issuers) > 0 {
		if oauth, err = access.NewOAuth(access.OAuthOptions{Issuers: cfg.OAuth.Issuers, Resource: cfg.OAuth.Resource}); err != nil {
			t.Fatal(err)
		}
	}
	gate, err := access.New(access.Options{
		OAuth: oauth, File: st.tokens, HasProfile: func(name string) bool { _, ok := cfg.Profiles[name]; return ok },
		Refused: func(who access.Principal, _ access.View, kind string) { views.Meter.QuotaRefused(who.Name, kind) },
		Ended:   func(key string) { st.all.eachSurface(func(one *surface) { one.mcp.EndSessions(key) }) },
	})
	if err != nil {
		t.Fatal(err)
	}
	go gate.Watch(t.Context())
	st.all = newSurfaces(views, mcpsrv.Options{
		AnyHost: true, Logger: slog.New(slog.DiscardHandler), MaxSessions: cfg.Serve.MaxSessions,
		Related: s.Engine, Learner: s.Learner, Enricher: enrich.New(s.Catalog),
	})
	st.all.gateway, st.all.logins = gw, newUserLogins(t.Context(), gw)
	t.Cleanup(st.all.logins.wait)
	editor := newServerEditor(t.Context(), s, gw, st.all.catalogChanged)
	t.Cleanup(editor.wait)
	st.all.http = httpapi.Options{
		Upstreams: knownStates{gw, s}, Operator: gw, Editor: editor, Access: gate, People: people{st.all, st.tokens}, Logger: slog.New(slog.DiscardHandler),
	}
	t.Cleanup(func() { _ = st.all.shutdownAll(0) })
	whole, err := st.all.surfaceOf(access.View{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := whole.http()
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(api.Handler())
	t.Cleanup(srv.Close)
	st.url = srv.URL
	st.all.logins.setBase(srv.URL)
	return st
}

// RoundTrip implements http.RoundTripper: it adds the token.
func (st *stack) RoundTrip(req *http.Request) (*http.Response, error) {
	if st.token != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+st.token)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// client returns an HTTP client that carries the token.
func (st *stack) client() *http.Client { return &http.Client{Transport: st} }

// request sends a request over HTTP and returns the status and the body.
func (st *stack) request(method, path, body string) (int, string) {
	st.t.Helper()
	req, err := http.NewRequestWithContext(st.t.Context(), method, st.url+path, strings.NewReader(body))
	if err != nil {
		st.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", "same")
	res, err := st.client().Do(req)
	if err != nil {
		st.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		st.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// connect opens a session over streamable HTTP at a path, until the test ends.
func (st *stack) connect(path string) *mcp.ClientSession {
	st.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(st.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: st.url + path, HTTPClient: st.client(), MaxRetries: -1}, nil)
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(func() { _ = session.Close() })
	return session
}

// callText calls a tool, and returns the text of its result and whether it is an error.
func (st *stack) callText(session *mcp.ClientSession, name string, args any) (string, bool) {
	st.t.Helper()
	res, err := session.CallTool(st.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		st.t.Fatal(err)
	}
	text := ""
	for _, part := range res.Content {
		if one, ok := part.(*mcp.TextContent); ok {
			text += one.Text
		}
	}
	return text, res.IsError
}
