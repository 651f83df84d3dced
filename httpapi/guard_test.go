package httpapi

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
)

// TestEveryCode holds the status of each code, and that only the log learns the cause of an internal error, once.
func TestEveryCode(t *testing.T) {
	want := map[tool.Code]int{
		tool.Internal: 500, tool.Invalid: 400, tool.NotFound: 404, tool.Denied: 403, tool.Unavailable: 503,
		tool.Timeout: 504,
	}
	for _, code := range tool.Codes() {
		t.Run(code.String(), func(t *testing.T) {
			f := newFixture(t, nil)
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return nil, fmt.Errorf("call: %w", &tool.Error{
					Code: code, Op: "op", Msg: "the message",
					Hint: "the hint", Err: errors.New("secret cause"),
				})
			}
			w := f.do("POST", "/api/tools/files/read_file/call", "{}")
			p := readProblem(t, w)
			if w.Code != want[code] || p.Code != code.String() {
				t.Errorf("status %d, code %q, want %d and %q", w.Code, p.Code, want[code], code)
			}
			logged := strings.Count(f.log.String(), "secret cause")
			if code == tool.Internal {
				if p.Detail != "internal error" || logged != 1 || !strings.Contains(f.log.String(), "request=test") {
					t.Errorf("%+v, cause logged %d times:\n%s", p, logged, f.log.String())
				}
			} else if p.Detail != "the message" || p.Hint != "the hint" || logged != 0 {
				t.Errorf("%+v, cause logged %d times", p, logged)
			}
			if retry := w.Header().Get("Retry-After") != ""; retry != (code == tool.Unavailable) {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
		})
	}
}

func TestForeignErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"unknown":         {errors.New("leak"), 500},
		"time is over":    {context.DeadlineExceeded, 504},
		"echo's own":      {echo.NewHTTPError(http.StatusTeapot, "tea"), 418},
		"echo's internal": {echo.NewHTTPError(http.StatusBadGateway, "leak"), 500},
		"larger body":     {fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 1}), 413},
		"ours around":     {&tool.Error{Code: tool.Internal, Err: context.DeadlineExceeded}, 500},
	} {
		if p := problemOf(c.err, "id"); p.Status != c.status || strings.Contains(p.Detail, "leak") {
			t.Errorf("%s: %+v, want status %d", name, p, c.status)
		}
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	f := newFixture(t, nil)
	f.found = func(context.Context, tool.Query) (*tool.Result, error) { panic("secret") }
	p := readProblem(t, f.do("GET", "/search?q=a", ""))
	if p.Status != 500 || strings.Contains(p.Detail, "secret") {
		t.Errorf("%+v", p)
	}
	if n := strings.Count(f.log.String(), "secret"); n != 1 || !strings.Contains(f.log.String(), "guard_test.go") {
		t.Errorf("logged %d times:\n%s", n, f.log.String())
	}
}

func TestToken(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Access = oneToken("s3cret")
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	})
	for name, c := range map[string]struct {
		target, header string
		want           int
	}{
		"right":              {"/search?q=a", "Bearer s3cret", 200},
		"scheme in any case": {"/search?q=a", "bearer  s3cret", 200},
		"none":               {"/search?q=a", "", 401},
		"wrong":              {"/search?q=a", "Bearer s3cre", 401},
		"longer":             {"/search?q=a", "Bearer s3crets", 401},
		"empty":              {"/search?q=a", "Bearer ", 401},
		"other scheme":       {"/search?q=a", "Basic s3cret", 401},
		"bare":               {"/search?q=a", "s3cret", 401},
		"no such page":       {"/nope", "", 401},
		"description":        {"/openapi.json", "", 401},
		"mcp":                {"/mcp", "", 401},
		"mcp with it":        {"/mcp", "Bearer s3cret", 204},
		"mcp of a profile":   {"/mcp/files", "", 401},
		"the same with it":   {"/mcp/files", "Bearer s3cret", 204},
		"health":             {"/healthz", "", 200},
		"readiness":          {"/readyz", "", 200},
	} {
		t.Run(name, func(t *testing.T) {
			w := f.do("GET", c.target, "", "Authorization", c.header)
			if w.Code != c.want {
				t.Fatalf("status %d, want %d", w.Code, c.want)
			}
			if c.want == http.StatusUnauthorized {
				if p := readProblem(t, w); p.Code != "unauthorized" ||
					!strings.HasPrefix(w.Header().Get("WWW-Authenticate"), `Bearer realm="tooldex"`) {
					t.Errorf("%+v %v", p, w.Header())
				}
			}
		})
	}
	if strings.Contains(f.log.String(), "s3cre") {
		t.Error("a token is in the log")
	}
}

func TestHostAndOrigin(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Hosts, o.Origins = []string{"Tools.example.com"}, []string{"https://panel.example.com"}
		o.MCP = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	})
	for name, c := range map[string]struct {
		host, origin string
		want         int
	}{
		"loopback":             {"127.0.0.1:8733", "", 200},
		"loopback name":        {"localhost:8733", "", 200},
		"name below localhost": {"tools.localhost", "", 200},
		"six":                  {"[::1]:8733", "", 200},
		"six without port":     {"[::1]", "", 200},
		"an address":           {"10.1.2.3:80", "", 200},
		"allowed name":         {"tools.EXAMPLE.com:443", "", 200},
		"allowed name, dot":    {"tools.example.com.", "", 200},
		"rebound name":         {"attacker.example:8733", "", 403},
		"name like ours":       {"localhost.attacker.example", "", 403},
		"numbers in a name":    {"127.0.0.1.attacker.example", "", 403},
		"no name":              {"", "", 403},
		"same origin":          {"localhost:8733", "http://localhost:8733", 200},
		"other port":           {"localhost:8733", "http://localhost:3000", 403},
		"other origin":         {"localhost:8733", "https://attacker.example", 403},
		"allowed origin":       {"localhost:8733", "https://panel.example.com", 200},
		"null":                 {"localhost:8733", "null", 403},
		"a file":               {"localhost:8733", "file://localhost:8733", 403},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{"Host", c.host}
			if c.origin != "" {
				headers = append(headers, "Origin", c.origin)
			}
			for _, target := range []string{"/healthz", "/mcp"} {
				w := f.do("GET", target, "", headers...)
				if w.Code != c.want {
					t.Fatalf("%s: status %d, want %d", target, w.Code, c.want)
				}
				if c.want == http.StatusForbidden {
					if p := readProblem(t, w); p.Code != "denied" || p.Hint == "" {
						t.Errorf("%+v", p)
					}
				}
			}
		})
	}
	all := newFixture(t, func(o *Options) { o.Hosts, o.Origins = []string{"*"}, []string{"*"} })
	if w := all.do("GET", "/healthz", "", "Host", "any.example", "Origin",
		"https://any.example"); w.Code != http.StatusOK {
		t.Errorf("allowing all gives %d", w.Code)
	}
}

func TestFormsAreRefused(t *testing.T) {
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"} {
		w := newFixture(t, nil).do("POST", "/search", `{"query":"a"}`, "Content-Type", kind)
		if p := readProblem(t, w); p.Status != http.StatusUnsupportedMediaType {
			t.Errorf("%q: %+v", kind, p)
		}
	}
	if w := newFixture(t, nil).do("POST", "/search", `{"query":"a"}`, "Content-Type",
		"application/json; charset=utf-8"); w.Code != http.StatusOK {
		t.Errorf("a charset gives %d", w.Code)
	}
}

func TestRequestIDs(t *testing.T) {
	f := newFixture(t, nil)
	for given, keep := range map[string]bool{
		"abc-1.2_3": true, "": false, "with space": false, "new\nline": false,
		strings.Repeat("a", 65): false,
	} {
		got := f.do("GET", "/nope", "", "X-Request-Id", given).Header().Get("X-Request-Id")
		if got == "" || (got == given) != keep {
			t.Errorf("%q gives %q", given, got)
		}
	}
	if a, b := f.do("GET", "/healthz", "", "X-Request-Id", "").Header(), f.do("GET", "/healthz", "", "X-Request-Id",
		"").Header(); a.Get("X-Request-Id") == b.Get("X-Request-Id") {
		t.Error("two requests have one id")
	}
}

func TestRequestsAreLogged(t *testing.T) {
	f := newFixture(t, nil)
	f.do("GET", "/search?q=private", "")
	f.do("GET", "/nope", "")
	log := f.log.String()
	for _, want := range []string{
		"msg=request request=test method=GET path=/search status=200",
		"path=/nope status=404",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("log lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "private") {
		t.Error("what is searched for is in the log")
	}
}

func TestGzip(t *testing.T) {
	f := newFixture(t, nil)
	w := f.do("GET", "/openapi.json", "", "Accept-Encoding", "gzip")
	if w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("not compressed: %v", w.Header())
	}
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(z); err != nil || string(body) != string(f.spec) {
		t.Errorf("it does not come out the same: %v", err)
	}
	for _, target := range []string{"/healthz", "/nope"} {
		if w := f.do("GET", target, "", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" ||
			!json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: a short answer is compressed: %v", target, w.Header())
		}
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.Timeout = time.Second })
		f.found = func(ctx context.Context, _ tool.Query) (*tool.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if p := readProblem(t, f.do("GET", "/search?q=a", "")); p.Code != "timeout" || p.Status != 504 {
			t.Errorf("%+v", p)
		}
		f.answer = func(ctx context.Context, _ tool.Call) (*tool.CallResult, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Hour):
				return &tool.CallResult{Raw: json.RawMessage(`{}`)}, nil
			}
		}
		if w := f.do("POST", "/api/tools/files/read_file/call", `{}`); w.Code != http.StatusOK {
			t.Errorf("a long call gives %d", w.Code)
		}
	})
}

func TestReady(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Ready = func(context.Context) error { return errors.New("still importing") }
	})
	if p := readProblem(t, f.do("GET", "/readyz", "")); p.Status != 503 || !strings.Contains(p.Detail, "still importing") {
		t.Errorf("%+v", p)
	}
	if w := f.do("GET", "/healthz", ""); w.Code != http.StatusOK {
		t.Errorf("health is %d", w.Code)
	}
}

// serve runs f on a real listener and returns its address and what ends it.
func (f *fixture) serve(t *testing.T) (url string, stop context.CancelFunc, served chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served = make(chan error, 1)
	go func() { served <- f.Serve(ctx, l) }()
	t.Cleanup(cancel)
	return "http://" + l.Addr().String(), cancel, served
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// TestShutdownEndsStreams holds that Serve waits for a stream no longer than until its owner ends it.
func TestShutdownEndsStreams(t *testing.T) {
	ended := make(chan struct{})
	f := newFixture(t, func(o *Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: open\n\n")
			_ = http.NewResponseController(w).Flush()
			<-ended
		})
	})
	url, stop, served := f.serve(t)
	stream := get(t, url+"/mcp")
	first := make([]byte, 4)
	if _, err := io.ReadFull(stream.Body, first); err != nil || string(first) != "data" {
		t.Fatalf("the stream does not flow: %q %v", first, err)
	}
	stop()
	close(ended)
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
}

func TestShutdownGivesUpInTheEnd(t *testing.T) {
	release := make(chan struct{})
	f := newFixture(t, func(o *Options) {
		o.Grace = 10 * time.Millisecond
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-release
		})
	})
	defer close(release)
	url, stop, served := f.serve(t)
	get(t, url+"/mcp")
	stop()
	if err := <-served; tool.CodeOf(err) != tool.Timeout {
		t.Errorf("Serve: %v", err)
	}
}

// TestOverTheWire sends a body through a real connection, which has read deadlines, and a call that outlives it.
func TestOverTheWire(t *testing.T) {
	f := newFixture(t, nil)
	url, stop, served := f.serve(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/search",
		strings.NewReader(`{"query":"read"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var got tool.Result
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || len(got.Tools) != 1 {
		t.Errorf("%v %v", got, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServeFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := newFixture(t, nil).Serve(t.Context(), l); err == nil {
		t.Error("serving on a closed listener succeeds")
	}
}
