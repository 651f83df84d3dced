package trace

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// collector takes spans as a real one does, and remembers them.
type collector struct {
	*httptest.Server
	status int

	mu       sync.Mutex
	headers  http.Header
	path     string
	resource map[string]string
	spans    []sent
}

// sent is a span as it arrives.
type sent struct {
	TraceID, SpanID, ParentSpanID string
	Name                          string
	Kind                          int
	StartTimeUnixNano             string
	EndTimeUnixNano               string
	Attributes                    []pair
	Status                        struct {
		Code    int
		Message string
	}
}

type pair struct {
	Key   string
	Value map[string]any
}

func newCollector(t *testing.T) *collector {
	c := &collector{status: http.StatusOK, resource: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		var body struct {
			ResourceSpans []struct {
				Resource   struct{ Attributes []pair }
				ScopeSpans []struct{ Spans []sent }
			}
		}
		b, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(b, &body)
		}
		if err != nil {
			t.Errorf("%s: %v", b, err)
		}
		c.headers, c.path = r.Header, r.URL.Path
		for _, rs := range body.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				c.resource[a.Key], _ = a.Value["stringValue"].(string)
			}
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) named(t *testing.T, name string) sent {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no span %q among %+v", name, c.spans)
	return sent{}
}

func start(t *testing.T, env map[string]string, log *slog.Logger) *Tracer {
	t.Helper()
	tr, err := FromEnvironment(func(key string) string { return env[key] }, "1.2.3", log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

// world answers searches and calls.
type world struct{ err error }

func (w world) Search(context.Context, tool.Query) (*tool.Result, error) {
	if w.err != nil {
		return nil, w.err
	}
	return &tool.Result{Tools: make([]tool.Hit, 2), Confident: true}, nil
}

func (w world) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	return &tool.CallResult{IsError: true}, w.err
}

// TestSpans has a request with a search and a call traced, and holds what a collector hears.
func TestSpans(t *testing.T) {
	c := newCollector(t)
	tr := start(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b",
		"OTEL_SERVICE_NAME":        "desk",
		"OTEL_RESOURCE_ATTRIBUTES": "team=tools,service.name=other",
	}, nil)
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/search", nil)
	r.Header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
	ctx, end := tr.Request(r)
	if _, err := tr.Searcher(world{}).Search(ctx, tool.Query{Text: "a secret wish"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Caller(world{}).Call(ctx, tool.Call{
		ID:        "files/read",
		Arguments: json.RawMessage(`{"p":"secret"}`),
	}); err != nil {
		t.Fatal(err)
	}
	end("/search", 503)
	lost := &tool.Error{Code: tool.Unavailable, Msg: "secret"}
	if _, err := tr.Searcher(world{lost}).Search(t.Context(), tool.Query{}); !errors.Is(err, lost) {
		t.Errorf("the error became %v", err)
	}
	tr.Close()
	if c.path != "/v1/traces" || c.headers.Get("X-Key") != "a b" || c.headers.Get("Content-Type") != "application/json" {
		t.Errorf("%s %v", c.path, c.headers)
	}
	if d := cmp.Diff(map[string]string{"service.name": "desk", "service.version": "1.2.3", "team": "tools"},
		c.resource); d != "" {
		t.Errorf("resource (-want +got)\n%s", d)
	}
	request, call := c.named(t, "POST /search"), c.named(t, "tools/call read")
	if request.TraceID != trace || request.ParentSpanID != parent || request.Kind != serverKind ||
		request.Status.Code != 2 {
		t.Errorf("request %+v", request)
	}
	if call.TraceID != trace || call.ParentSpanID != request.SpanID || call.Kind != clientKind ||
		call.Status.Message != "tool_error" {
		t.Errorf("call %+v", call)
	}
	found, alone := c.spans[0], c.spans[len(c.spans)-1]
	want := []pair{
		{"tooldex.tools", map[string]any{"intValue": "2"}},
		{"tooldex.confident", map[string]any{"boolValue": true}},
		{"tooldex.degraded", map[string]any{"boolValue": false}},
	}
	if found.Name != "search" || found.ParentSpanID != request.SpanID ||
		found.StartTimeUnixNano > found.EndTimeUnixNano {
		t.Errorf("search %+v", found)
	}
	if d := cmp.Diff(want, found.Attributes); d != "" {
		t.Errorf("search (-want +got)\n%s", d)
	}
	if alone.TraceID == trace || alone.ParentSpanID != "" || alone.Status.Message != "unavailable" {
		t.Errorf("a search by itself %+v", alone)
	}
	if b, err := json.Marshal(c.spans); err != nil || strings.Contains(string(b), "secret") {
		t.Errorf("what was asked is told: %s %v", b, err)
	}
}

// TestSampling tells which traces are told of.
func TestSampling(t *testing.T) {
	const yes, no = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	for name, c := range map[string]struct {
		sampler, arg, parent string
		want                 int
	}{
		"default":                {"", "", "", 1},
		"the client does":        {"", "", yes, 1},
		"the client does not":    {"", "", no, 0},
		"off":                    {"always_off", "", yes, 0},
		"off but for clients":    {"parentbased_always_off", "", yes, 1},
		"off, no client":         {"parentbased_always_off", "", "", 0},
		"on for all":             {"always_on", "", no, 1},
		"none of them":           {"traceidratio", "0", "", 0},
		"all of them":            {"parentbased_traceidratio", "1", "", 1},
		"a trace of a high part": {"traceidratio", "0.2", yes, 0}, // a3ce… is .64 of the way
	} {
		t.Run(name, func(t *testing.T) {
			col := newCollector(t)
			tr := start(t, map[string]string{
				"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": col.URL + "/x",
				"OTEL_TRACES_SAMPLER":                c.sampler, "OTEL_TRACES_SAMPLER_ARG": c.arg,
			}, nil)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Header.Set("Traceparent", c.parent)
			ctx, end := tr.Request(r)
			_, _ = tr.Searcher(world{}).Search(ctx, tool.Query{})
			end("", 200)
			tr.Close()
			if n := len(col.spans); n != 2*c.want {
				t.Errorf("%d spans, want %d", n, 2*c.want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	const at = "http://localhost:4318"
	for name, c := range map[string]struct {
		env   map[string]string
		on    bool
		fails string
	}{
		"nothing":     {nil, false, ""},
		"an endpoint": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": at}, true, ""},
		"disabled": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_SDK_DISABLED": "TRUE"},
			false,
			"",
		},
		"no exporter": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_TRACES_EXPORTER": "none"},
			false,
			"",
		},
		"other exporter": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_TRACES_EXPORTER": "zipkin"},
			false, "zipkin",
		},
		"no address": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4317"},
			false,
			"OTEL_EXPORTER_OTLP_ENDPOINT",
		},
		"bad headers": {map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": at,
			"OTEL_EXPORTER_OTLP_HEADERS":  "s3cret",
		}, false, "OTEL_EXPORTER_OTLP_HEADERS"},
		"bad escape": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_RESOURCE_ATTRIBUTES": "a=%zz"},
			false, "OTEL_RESOURCE_ATTRIBUTES",
		},
		"unknown sampler": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_TRACES_SAMPLER": "some"},
			false,
			"OTEL_TRACES_SAMPLER",
		},
		"bad ratio": {map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": at, "OTEL_TRACES_SAMPLER": "traceidratio",
			"OTEL_TRACES_SAMPLER_ARG": "NaN",
		}, false, "OTEL_TRACES_SAMPLER_ARG"},
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := FromEnvironment(func(key string) string { return c.env[key] }, "", nil)
			if (tr != nil) != c.on || (err != nil) != (c.fails != "") {
				t.Fatalf("%v %v", tr, err)
			}
			tr.Close()
			if err != nil && (tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), c.fails) ||
				strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestCollectorThatFails holds that nothing waits for it, and that the log hears of it once.
func TestCollectorThatFails(t *testing.T) {
	c := newCollector(t)
	c.status = http.StatusServiceUnavailable
	var log strings.Builder
	tr := start(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL}, slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 * (maxWaiting + maxBatch) {
		_, _ = tr.Searcher(world{}).Search(t.Context(), tool.Query{})
	}
	tr.Close()
	tr.Close()
	if n := strings.Count(log.String(), "could not be sent"); n != 1 {
		t.Errorf("the log hears of it %d times", n)
	}
}

// TestNoTracer holds that nil does nothing.
func TestNoTracer(t *testing.T) {
	var tr *Tracer
	w := world{}
	if tr.Searcher(w) != tool.Searcher(w) || tr.Caller(w) != tool.Caller(w) {
		t.Error("it wraps")
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	ctx, end := tr.Request(r)
	end("", 200)
	if ctx != r.Context() {
		t.Error("it makes a context")
	}
	tr.Close()
}

// FuzzParent holds that what is read is what was written.
func FuzzParent(f *testing.F) {
	for _, s := range []string{
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-0-0-0",
		"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		p, ok := parseParent(header)
		if !ok {
			return
		}
		if rest, found := strings.CutPrefix(header[2:],
			"-"+hex.EncodeToString(p.trace[:])+"-"+hex.EncodeToString(p.span[:])+"-"); !found || len(rest) < 2 {
			t.Errorf("%q is read as %+v", header, p)
		}
	})
}
