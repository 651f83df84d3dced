package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/tool"
)

// oneToken is an Identifier that takes one token, for everything.
func oneToken(secret string) Identifier {
	gate, err := access.New(access.Options{Whole: secret})
	if err != nil {
		panic(err) // only a file of tokens can be wrong
	}
	return gate
}

// scoped knows tokens by their secrets, and the Servers that answer them; nil is the Server that was asked.
type scoped map[string]*Server

func (scoped) Guarded() bool { return true }

func (b scoped) Identify(_ context.Context, token, _ string) (access.Grant, error) {
	srv, ok := b[token]
	if !ok {
		return access.Grant{}, &tool.Error{
			Code: tool.Denied, Op: "check token", Msg: "unknown or revoked token",
			Err: access.ErrToken,
		}
	}
	grant := access.Grant{Principal: access.Principal{Name: token, Key: token}}
	if srv != nil {
		grant.View.Profile = token
	}
	return grant, nil
}

// serverFor is for Options.ServerFor.
func (b scoped) serverFor(_ context.Context, v access.View, _ bool) (*Server, func(), error) {
	return b[v.Profile], func() {}, nil
}

// TestTokensOfLess has one token for all, one for a few tools, and one that may only read.
func TestTokensOfLess(t *testing.T) {
	path := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }
	few := newFixture(t, func(o *Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "few ") })
		o.Metrics = nil
	})
	few.set = tool.NewSet(testTools()[:1], "")
	reader := newFixture(t, func(o *Options) { o.ReadOnly, o.Learner = true, &diary{} })
	whole := newFixture(t, func(o *Options) {
		o.MCP, o.Learner = http.HandlerFunc(path), &diary{}
		b := scoped{"whole": nil, "second": nil, "few": few.Server, "reader": reader.Server}
		o.Access, o.ServerFor = b, b.serverFor
	})
	const feedback = `{"query":"read a file","tool":"files/read_file"}`
	for name, c := range map[string]struct {
		token, method, target, body string
		status                      int
		holds                       string
	}{
		"all tools":              {"whole", "GET", "/api/tools?server=other", "", 200, "other/write_file"},
		"all tools, second":      {"second", "GET", "/api/tools?server=other", "", 200, "other/write_file"},
		"few tools":              {"few", "GET", "/api/tools", "", 200, `"total":1}`},
		"one of the few":         {"few", "GET", "/api/tools/files/read_file", "", 200, "files/read_file"},
		"none of the few":        {"few", "GET", "/api/tools/other/write_file", "", 404, "no tool"},
		"call none of the few":   {"few", "POST", "/api/tools/other/write_file/call", `{}`, 404, "no tool"},
		"few over MCP":           {"few", "POST", "/mcp", `{}`, 200, "few"},
		"few over another's MCP": {"few", "POST", "/mcp/other", `{}`, 200, "few"},
		"all over MCP":           {"whole", "POST", "/mcp/other", `{}`, 200, "/mcp/other"},
		"few has no metrics":     {"few", "GET", "/api/metrics", "", 404, "metrics are not available"},
		"no such page for few":   {"few", "GET", "/nope", "", 404, "no such page"},
		"no such method for few": {"few", "PUT", "/search", `{}`, 405, "method"},
		"read and search":        {"reader", "POST", "/search", `{"query":"read"}`, 200, "files/read_file"},
		"read and call":          {"reader", "POST", "/api/tools/files/read_file/call", `{}`, 200, "structuredContent"},
		"read and change":        {"reader", "POST", "/api/feedback", feedback, 403, "does not allow changes"},
		"all and change":         {"whole", "POST", "/api/feedback", feedback, 200, "ok"},
		"unknown":                {"fewer", "GET", "/api/tools", "", 401, "unauthorized"},
		"empty":                  {"", "GET", "/api/tools", "", 401, "unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			w := whole.do(c.method, c.target, c.body, "Authorization", "Bearer "+c.token)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.holds) {
				t.Errorf("%d %s, want %d with %q", w.Code, w.Body, c.status, c.holds)
			}
			if w.Header().Get("X-Request-Id") != "test" {
				t.Error("the request has lost its id")
			}
		})
	}
	if n := strings.Count(whole.log.String(), "msg=request"); n != 18 {
		t.Errorf("%d requests are in the log", n)
	}
	if few.log.String()+reader.log.String() != "" {
		t.Errorf("requests are logged twice:\n%s%s", few.log, reader.log)
	}
}

// TestReadOnlyHoldsForAllRoutes asks every operation of the table: none that changes something may be missed.
func TestReadOnlyHoldsForAllRoutes(t *testing.T) {
	s := newFixture(t, func(o *Options) { o.ReadOnly = true }).Server
	for _, r := range s.routes() {
		reads := r.method == http.MethodGet || strings.HasPrefix(r.id, "search") || r.id == "callTool" ||
			r.id == "selectTools"
		ran := false
		r.handle = func(echo.Context) error { ran = true; return nil }
		err := s.guardRoute(r)(nil)
		if ran != reads || (tool.CodeOf(err) == tool.Denied) == reads {
			t.Errorf("%s: runs %v, %v", r.id, ran, err)
		}
	}
}

func TestForgery(t *testing.T) {
	k := &keeper{}
	f := newFixture(t, func(o *Options) { o.Operator, o.Origins = k, []string{"https://panel.example.com"} })
	guarded := newFixture(t, func(o *Options) { o.Operator, o.Access = k, oneToken("t") })
	const stop = "/api/servers/a%20b/stop"
	for name, c := range map[string]struct {
		f       *fixture
		headers []string
		body    string
		want    int
	}{
		"marked":                {f, []string{"X-Tooldex", "1"}, "", 200},
		"JSON":                  {f, []string{"X-Tooldex", ""}, `{}`, 200},
		"a form without fields": {f, []string{"X-Tooldex", ""}, "", 403},
		"a form": {
			f,
			[]string{"X-Tooldex", "", "Content-Type", "application/x-www-form-urlencoded"},
			"a=b", 415,
		},
		"the panel": {
			f,
			[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:8733"},
			"",
			200,
		},
		"by hand":             {f, []string{"Sec-Fetch-Site", "none"}, "", 200},
		"another site":        {f, []string{"Sec-Fetch-Site", "cross-site"}, "", 403},
		"a site beside":       {f, []string{"Sec-Fetch-Site", "same-site"}, "", 403},
		"another site's JSON": {f, []string{"Sec-Fetch-Site", "cross-site"}, `{}`, 403},
		"an allowed site": {
			f,
			[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://panel.example.com"},
			"", 200,
		},
		"with a token":           {guarded, []string{"X-Tooldex", "", "Authorization", "Bearer t"}, "", 200},
		"marked without a token": {guarded, nil, "", 401},
	} {
		if w := c.f.do("POST", stop, c.body, c.headers...); w.Code != c.want {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.want)
		}
	}
	if w := f.do("GET", "/search?q=read", "", "Sec-Fetch-Site", "cross-site", "X-Tooldex", ""); w.Code != http.StatusOK {
		t.Errorf("a link from another site gives %d", w.Code)
	}
}

func TestHardening(t *testing.T) {
	f := newFixture(t, nil)
	for _, target := range []string{"/healthz", "/nope"} {
		h := f.do("GET", target, "").Header()
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", target, h)
		}
	}
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.Rate, o.Access = 2, oneToken("t") })
		ask := func(from, token string) int {
			t.Helper()
			return f.doFrom(from, "/search?q=read", token)
		}
		for i := range 8 { // a burst of five: twice two, and one
			want := http.StatusUnauthorized
			if i >= 5 {
				want = http.StatusTooManyRequests
			}
			if got := ask("10.0.0.1:1", "guess"); got != want {
				t.Errorf("guess %d gives %d, want %d", i, got, want)
			}
		}
		f.mu.Lock()
		if want := []int{401, 401, 401, 401, 401, 429, 429, 429}; !slices.Equal(f.answered, want) {
			t.Errorf("the metrics count the answers %v, want %v", f.answered, want)
		}
		f.mu.Unlock()
		if got := ask("10.0.0.1:2", "t"); got != http.StatusTooManyRequests {
			t.Errorf("the right guess gives %d: guesses are not bounded", got)
		}
		if got := ask("10.0.0.2:1", "t"); got != http.StatusOK {
			t.Errorf("another address gets %d", got)
		}
		<-time.After(time.Second)
		if got := ask("10.0.0.1:3", "t"); got != http.StatusOK {
			t.Errorf("a second later it gives %d", got)
		}
		for i := range 6 {
			got := ask("[2001:db8::"+string(rune('1'+i))+"]:1", "t")
			if want := map[bool]int{true: 200, false: 429}[i < 5]; got != want {
				t.Errorf("address %d of one network gets %d, want %d", i, got, want)
			}
		}
		w := f.do("GET", "/search?q=a", "")
		for range 6 {
			w = f.do("GET", "/search?q=a", "")
		}
		if p := readProblem(t, w); p.Code != "rate_limited" || w.Header().Get("Retry-After") == "" {
			t.Errorf("%+v %v", p, w.Header())
		}
	})
}

// doFrom sends a request from an address and returns its status.
func (f *fixture) doFrom(from, target, token string) int {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, target, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	req.Host, req.RemoteAddr = "localhost", from
	req.Header.Set("Authorization", "Bearer "+token)
	w := &status{header: http.Header{}}
	f.Handler().ServeHTTP(w, req)
	return w.code
}

// status keeps the status of an answer.
type status struct {
	header http.Header
	code   int
}

func (s *status) Header() http.Header         { return s.header }
func (s *status) Write(b []byte) (int, error) { return len(b), nil }
func (s *status) WriteHeader(code int)        { s.code = code }

func TestDescriptionOfTokens(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		b := scoped{}
		o.Access, o.ServerFor = b, b.serverFor
	})
	var d struct{ Security []map[string][]string }
	if err := json.Unmarshal(f.spec, &d); err != nil || len(d.Security) != 1 {
		t.Errorf("%+v %v", d, err)
	}
}
