package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/catalog/sources"
	"tooldex/config"
	"tooldex/internal/pgtest"
	"tooldex/service"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/upstream"
)

// tenantMark is in every name and text of a tenant. Group 1 is the number of the tenant; 000 is the home tenant.
var tenantMark = regexp.MustCompile(`qz(\d{3})x\d*`)

// tenantWorld is a whole server with tenants on a real database, whose tools stand on a real MCP server.
type tenantWorld struct {
	t        *testing.T
	rand     *rand.Rand
	database *pgtest.Server
	dir      string
	loader   *config.Loader
	tokens   access.File
	server   *server
	url      string
	people   []*holder

	wait tenantTimes // of the server; zero for the defaults

	mu     sync.Mutex
	called []string      // the marks of tools that were called at their server; guarded by mu
	hold   chan struct{} // calls wait for it; nil for none; guarded by mu
}

// holder is somebody with a token.
type holder struct {
	w        *tenantWorld
	tenant   int // 0 is the home tenant
	mark     string
	profile  string // "" for everything of the home tenant
	token    string
	tools    []*tool.Tool // of the tenant
	client   *http.Client
	requests int             // over HTTP
	asked    map[string]bool // the marks in all that the holder asked, which may be in its own audit log
}

// RoundTrip implements http.RoundTripper: it adds the token.
func (h *holder) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+h.token)
	return http.DefaultTransport.RoundTrip(r)
}

// newTenantWorld makes so many tenants beside the home tenant, each with a few tools, a profile and a token, and serves
// them with at most so many open at once.
func newTenantWorld(t *testing.T, count, most int) *tenantWorld {
	t.Helper()
	w := &tenantWorld{t: t, rand: rand.New(rand.NewPCG(19, 47)), database: pgtest.Start(t), dir: t.TempDir()}
	w.tokens = access.File{Path: filepath.Join(w.dir, "data", "tokens.yaml")}
	up := httptest.NewServer(http.HandlerFunc(w.serveUpstream))
	t.Cleanup(func() {
		up.CloseClientConnections() // streams of the gateway
		up.Close()
	})
	if err := os.MkdirAll(filepath.Join(w.dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range count + 1 {
		w.addHolder(i)
	}
	w.configure(fmt.Sprintf("serve: {maxTenants: %d, rate: -1}\n", most))
	var err error
	w.loader, err = config.Load(config.Options{Path: filepath.Join(w.dir, "tooldex.yaml"), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	var fills sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, h := range w.people {
		fills.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			h.fill(up.URL)
		})
	}
	fills.Wait()
	return w
}

// addHolder makes the tools and the token of a tenant.
func (w *tenantWorld) addHolder(i int) {
	h := &holder{w: w, tenant: i, mark: fmt.Sprintf("qz%03dx", i), token: access.NewSecret()}
	if i > 0 {
		h.profile = "p-" + h.mark
	}
	h.client, h.asked = &http.Client{Transport: h}, map[string]bool{}
	err := w.tokens.Add(access.Token{
		Name: "token-" + h.mark, Digest: access.Digest(h.token), View: access.View{Profile: h.profile},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for n := range 4 + w.rand.IntN(5) {
		server := "notes" // which all tenants have
		if n%2 == 1 {
			server = "srv" + h.mark
		}
		verb, noun, mark := pick(w.rand, verbs), pick(w.rand, nouns), fmt.Sprint(h.mark, n)
		h.tools = append(h.tools, &tool.Tool{
			Server: server, Name: verb + "_" + noun + "_" + mark, Title: verb + " " + mark, Category: "cat" + mark,
			Description: fmt.Sprintf("%s the %s that somebody keeps, %s", verb, noun, mark),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		})
	}
	// A name that is the same in all tenants.
	h.tools = append(h.tools, &tool.Tool{
		Server: "notes", Name: "read_note", Description: "Read a note of " + h.mark,
		InputSchema: json.RawMessage(`{"type":"object"}`),
	})
	w.people = append(w.people, h)
}

// configure writes the configuration, with a profile for each tenant.
func (w *tenantWorld) configure(more string) {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "store: %s\ndataDir: %s\n%sprofiles:\n", w.database.URL("home"), filepath.Join(w.dir, "data"), more)
	for _, h := range w.people {
		if h.profile != "" {
			fmt.Fprintf(&b, "  %s: {tenant: t%03d}\n", h.profile, h.tenant)
		} else { // a part of the home tenant, which names it
			fmt.Fprintf(&b, "  part-%s: {tenant: home, servers: [notes]}\n", h.mark)
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "tooldex.yaml"), []byte(b.String()), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// config returns the configuration of the holder's tenant.
func (h *holder) config() *config.Config {
	return h.w.loader.Config().ForTenant(h.w.loader.Config().TenantOf(h.profile))
}

// openService opens a service as the command does.
func (w *tenantWorld) openService(ctx context.Context, settings func() *config.Config) (*service.Service, error) {
	return service.Open(ctx, service.Options{
		Dir: settings().DataDir, Use: service.ToSearch, Serving: true, Config: settings, Unchecked: true,
	})
}

// fill stores the tools and the servers of the tenant.
func (h *holder) fill(upstreamURL string) {
	s, err := h.w.openService(h.w.t.Context(), h.config)
	if err != nil {
		h.w.t.Error(err)
		return
	}
	defer func() { _ = s.Close() }()
	byServer := map[string]*memorySource{}
	var all []sources.Source
	b := &store.Batch{}
	for _, one := range h.tools {
		if byServer[one.Server] == nil {
			byServer[one.Server] = &memorySource{name: one.Server}
			all = append(all, byServer[one.Server])
			b.Servers = append(b.Servers, upstream.Server{
				Name: one.Server, Transport: "http", URL: fmt.Sprintf("%s/%d/%s", upstreamURL, h.tenant, one.Server),
			})
		}
		byServer[one.Server].tools = append(byServer[one.Server].tools, one)
	}
	if _, err := s.Catalog.SyncAll(h.w.t.Context(), all); err != nil {
		h.w.t.Error(err)
	}
	if err := s.SaveServers(h.w.t.Context(), b.Servers); err != nil {
		h.w.t.Error(err)
	}
}

// serveUpstream plays the servers of all tenants, at /TENANT/SERVER, and notes what is called.
func (w *tenantWorld) serveUpstream(rw http.ResponseWriter, r *http.Request) {
	var tenant int
	var server string
	if _, err := fmt.Sscanf(strings.ReplaceAll(r.URL.Path, "/", " "), "%d %s", &tenant, &server); err != nil {
		http.NotFound(rw, r)
		return
	}
	mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: server, Version: "1"}, nil)
		for _, one := range w.people[tenant].tools {
			if one.Server != server {
				continue
			}
			var annotated mcp.Tool
			annotated.Name, annotated.Title, annotated.Description, annotated.InputSchema = one.Name, one.Title, one.Description, one.InputSchema
			s.AddTool(&annotated, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				w.mu.Lock()
				w.called = append(w.called, w.people[tenant].mark)
				hold := w.hold
				w.mu.Unlock()
				if hold != nil {
					select {
					case <-hold:
					case <-ctx.Done():
					}
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done by " + w.people[tenant].mark}}}, nil
			})
		}
		return s
	}, &mcp.StreamableHTTPOptions{Stateless: true}).ServeHTTP(rw, r)
}

// serve serves over HTTP until the test ends, or the function that is returned is called.
func (w *tenantWorld) serve() (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	at, ended := make(chan net.Addr, 1), make(chan error, 1)
	w.server = &server{wait: w.wait, o: Options{
		Config: w.loader, Open: w.openService, Listen: "127.0.0.1:0", Listening: func(addr net.Addr, _ string) { at <- addr },
		SetLogLevel: func(string) error { return nil }, Logger: slog.New(slog.DiscardHandler),
	}}
	go func() { ended <- w.server.run(ctx) }()
	select {
	case addr := <-at:
		w.url = "http://" + addr.String()
	case err := <-ended:
		w.t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

// open returns the names of the tenants that are open beside the home tenant.
func (w *tenantWorld) open() []string {
	all := w.server.others
	all.mu.Lock()
	defer all.mu.Unlock()
	var out []string
	for name, h := range all.byName {
		if h.isOpen() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// request sends a request and returns the status and the body.
func (h *holder) request(method, path, body string, headers ...string) (int, string) {
	req, err := http.NewRequestWithContext(h.w.t.Context(), method, h.w.url+path, strings.NewReader(body))
	if err != nil {
		h.w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("X-Request-Id", "same")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	h.requests++
	res, err := h.client.Do(req)
	if err != nil {
		h.w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.w.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// post sends a request over MCP without a session, at a path.
func (h *holder) post(path, method, name string, params map[string]any) (int, string) {
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo": map[string]any{"name": "t", "version": "1"},
	}
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) // it is JSON
	headers := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		headers = append(headers, "Mcp-Name", name)
	}
	return h.request(http.MethodPost, path, string(b), headers...)
}

// callTool calls a tool over MCP without a session.
func (h *holder) callTool(name string, arguments map[string]any) (int, string) {
	return h.post("/mcp", "tools/call", name, map[string]any{"name": name, "arguments": arguments})
}

// connect opens a session over streamable HTTP.
func (h *holder) connect() *mcp.ClientSession {
	h.w.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test-" + h.mark, Version: "1"}, nil).Connect(h.w.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: h.w.url + "/mcp", HTTPClient: h.client, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		h.w.t.Fatal(err)
	}
	h.w.t.Cleanup(func() { _ = session.Close() })
	return session
}

// remember keeps the marks that are in a request.
func (h *holder) remember(request string) {
	for _, mark := range tenantMark.FindAllString(request, -1) {
		h.asked[mark] = true
	}
}

// foreign lists the marks of other tenants in a text, beside those that were in the request.
func (h *holder) foreign(request, text string) []string {
	var out []string
	for _, m := range tenantMark.FindAllStringSubmatch(text, -1) {
		if m[1] != fmt.Sprintf("%03d", h.tenant) && !strings.Contains(request, m[0]) {
			out = append(out, m[0])
		}
	}
	return out
}

// takeCalled returns which tenants' servers were called, and forgets it.
func (w *tenantWorld) takeCalled() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.called
	w.called = nil
	return out
}
