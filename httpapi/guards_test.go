package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tooldex/web"
)

// TestGuards makes an attack on each guard: with it the attack is refused, without it the attack succeeds. So it is the
// guard that holds, and not something beside it that may go one day.
func TestGuards(t *testing.T) {
	const stop = "/api/servers/a%20b/stop"
	for name, c := range map[string]struct {
		set            func(*Options)
		times          int // the attack is made; the last one counts
		method, target string
		body           string
		headers        []string
		refused        int
		succeeds       func(*httptest.ResponseRecorder) bool // nil: status 200
	}{
		"host":    {nil, 1, "GET", "/api/tools", "", []string{"Host", "rebound.example.com"}, 403, nil},
		"origin":  {nil, 1, "GET", "/api/tools", "", []string{"Origin", "https://evil.example.com"}, 403, nil},
		"token":   {func(o *Options) { o.Access = oneToken("t") }, 1, "GET", "/api/tools", "", nil, 401, nil},
		"forgery": {nil, 1, "POST", stop, "", []string{markHeader, "", "Sec-Fetch-Site", "cross-site"}, 403, nil},
		"rate":    {func(o *Options) { o.Rate = 1 }, 4, "GET", "/api/tools", "", nil, 429, nil},
		"bounds": {
			func(o *Options) { o.limits.body = 100 }, 1, "POST", "/search",
			`{"query":"read` + strings.Repeat(" ", 200) + `"}`, nil, 413, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, without := range []string{"", name} {
				f := newFixture(t, func(o *Options) {
					o.Operator, o.without = &keeper{}, without
					if c.set != nil {
						c.set(o)
					}
				})
				var w *httptest.ResponseRecorder
				for range c.times {
					w = f.do(c.method, c.target, c.body, c.headers...)
				}
				want := c.refused
				if without != "" {
					want = http.StatusOK
				}
				if w.Code != want {
					t.Errorf("without %q: %d %s, want %d", without, w.Code, w.Body, want)
				}
			}
		})
	}
	for _, without := range []string{"", "headers"} {
		h := newFixture(t, func(o *Options) { o.without = without }).do("GET", "/api/tools", "").Header()
		if framed := h.Get("X-Frame-Options") == ""; framed != (without != "") {
			t.Errorf("without %q other pages may frame ours: %v", without, framed)
		}
	}
}

// TestGuardsOfAll holds that each path has them all, those of MCP and the panel too.
func TestGuardsOfAll(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Access, o.Panel, o.Prometheus, o.MCP = oneToken("t"), web.Handler(), http.NotFoundHandler(),
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		o.Resource = &Resource{URL: "https://tools.example.com", Issuers: []string{"https://login.example.com"}}
	})
	paths := map[string]bool{
		"/": true, "/panel/app.js": true, metadataPath: true, "/mcp": false, "/mcp/files": false,
		"/metrics": false, "/nowhere": false,
	}
	for _, r := range f.routes() {
		paths[strings.NewReplacer("{id}", "files/read_file", "{server}", "a").Replace(r.path)] = isOpenPath(r.path)
	}
	for path, public := range paths {
		for name, headers := range map[string][]string{
			"host":   {"Host", "rebound.example.com"},
			"origin": {"Origin", "https://evil.example.com"}, "null origin": {"Origin", "null"},
		} {
			for _, method := range []string{"GET", "POST", "PUT", "DELETE", "OPTIONS"} {
				if w := f.do(method, path, "", append(headers, "Authorization",
					"Bearer t")...); w.Code != http.StatusForbidden {
					t.Errorf("%s %s with another's %s: %d", method, path, name, w.Code)
				}
			}
		}
		w := f.do("GET", path, "")
		if (w.Code == http.StatusUnauthorized) == public {
			t.Errorf("%s without a token: %d", path, w.Code)
		}
	}
}

// TestTraversal asks for files in ways in which they have been had elsewhere. What the panel has not is not there, and
// IDs are names, not paths.
func TestTraversal(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Panel = web.Handler() })
	for _, path := range []string{
		"/panel/../../../../../../etc/passwd", "/panel/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
		"/panel/..%2f..%2f..%2f..%2fetc/passwd", "/panel/..%5c..%5cwindows/win.ini",
		"/panel/....//....//etc/passwd", "/panel/%252e%252e/handler.go", "/panel/../handler.go", "/panel/%00",
		"/panel//etc/passwd", "/panel/./../../go.mod", "/panel/",
		"/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/panel/C:/windows/win.ini",
		"/api/tools/../../etc/passwd", "/api/tools/..%2f..%2fetc%2fpasswd", "/api/overlays/..%2f..%2fetc%2fpasswd",
		"/api/insights/../../../etc/passwd",
		"/api/servers/..%2f..%2fetc%2fpasswd/log", "/mcp/..%2f..%2fetc", metadataPath + "/../../etc/passwd",
	} {
		w := f.do("GET", path, "")
		if w.Code < 300 || w.Code >= 500 || strings.Contains(w.Body.String(), "root:") ||
			strings.Contains(w.Body.String(), "module tooldex") {
			t.Errorf("%s: %d %.200s", path, w.Code, w.Body)
		}
		if to := w.Header().Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "://") {
			t.Errorf("%s leads to %s", path, to)
		}
	}
}

// TestInjection puts ends of lines where they could begin a header, a line of the log, or an event.
func TestInjection(t *testing.T) {
	const evil = "x%0d%0aSet-Cookie:%20a=b%0d%0a%0d%0aevent:%20evil%0alevel=ERROR%20msg=evil"
	plain := strings.NewReplacer("%0d", "\r", "%0a", "\n", "%20", " ").Replace(evil)
	f := newFixture(t, func(o *Options) {
		o.Access = answering{}
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.URL.Path, http.StatusNotFound)
		})
		o.Resource = &Resource{URL: "https://tools.example.com", Issuers: []string{"https://login.example.com"}}
	})
	for _, path := range []string{
		"/api/tools/" + evil, "/api/tools/" + evil + "/call", "/search?q=" + evil + "&category=" + evil,
		"/api/servers/" + evil + "/log", "/mcp/" + evil, metadataPath + "/" + evil,
		"/api/tools?cursor=" + evil, "/api/tools?limit=" + evil, "/" + evil,
	} {
		for _, token := range []string{"", "Bearer t", "Bearer " + plain} {
			w := f.do("GET", path, "", "Authorization", token, "X-Request-Id", plain, "X-Session-Id", plain,
				"User-Agent", plain)
			for name, values := range w.Header() {
				if strings.ContainsAny(strings.Join(values, ""), "\r\n") || name == "Set-Cookie" {
					t.Errorf("%s: header %s is %q", path, name, values)
				}
			}
		}
	}
	for line := range strings.Lines(f.log.String()) {
		if !strings.HasPrefix(line, "time=") || strings.Contains(line, "msg=evil") && !strings.Contains(line, `\n`) &&
			!strings.Contains(line, "%0a") {
			t.Errorf("a line of the log is %q", line)
		}
	}
}
