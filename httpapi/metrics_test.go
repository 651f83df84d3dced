package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/metrics"
	"tooldex/tool"
)

// Report gives the window that it was asked for.
func (f *fixture) Report(_ context.Context, window string) (*metrics.Metrics, error) {
	if window == "1h" || window == "24h" || window == "7d" || window == "all" {
		empty := []metrics.Tally{}
		return &metrics.Metrics{
			Window: window, TotalRequests: 2, ToolsByCategory: empty,
			MostUsedTools: []metrics.Tally{{Name: "files/read_file", Count: 1}}, Fruitless: empty,
			Servers: []metrics.ServerUse{}, Series: []metrics.Point{{Requests: 2}},
		}, nil
	}
	return nil, &tool.Error{Code: tool.Invalid, Msg: "there is no such window"}
}

// Selected is only here to make a fixture a Metrics.
func (f *fixture) Selected([]tool.ID, int, int, bool) {}

// Answered keeps the statuses.
func (f *fixture) Answered(status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered = append(f.answered, status)
}

// Uses gives those of one tool.
func (f *fixture) Uses(context.Context) (map[tool.ID]metrics.Use, error) {
	return map[tool.ID]metrics.Use{
		"files/read_file": {Calls: 3, Last: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)}, "odd/call": {Calls: 1},
	}, nil
}

// TestToolUse requires that the list, the page and the insight of a tool agree on its use, that the use of tools which
// settings always include is marked, and that nothing is said where nothing is counted.
func TestToolUse(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Always = func() map[tool.ID]bool { return map[tool.ID]bool{"odd/call": true} }
	})
	type use struct {
		ID       tool.ID
		Uses     int64
		LastUsed time.Time
		Always   bool `json:"alwaysInclude"`
	}
	var list struct{ Tools []use }
	if err := json.Unmarshal(f.do("GET", "/api/tools?limit=1000", "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	want := map[tool.ID]use{
		"files/read_file": {"files/read_file", 3, time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), false},
		"odd/call":        {"odd/call", 1, time.Time{}, true},
	}
	for _, got := range list.Tools {
		id, path := got.ID, url.PathEscape(string(got.ID))
		expected := want[id]
		expected.ID = id
		if d := gocmp.Diff(expected, got); d != "" {
			t.Errorf("%s in the list: %s", id, d)
		}
		var page use
		if err := json.Unmarshal(f.do("GET", "/api/tools/"+path, "").Body.Bytes(), &page); err != nil ||
			page != got {
			t.Errorf("the page of %s says %+v, the list %+v: %v", id, page, got, err)
		}
		var insight use
		if err := json.Unmarshal(f.do("GET", "/api/insights/"+path, "").Body.Bytes(), &insight); err != nil ||
			insight.Uses != got.Uses {
			t.Errorf("the insight of %s says %d uses, the list %d: %v", id, insight.Uses, got.Uses, err)
		}
	}
	bare := newFixture(t, func(o *Options) { o.Metrics = nil })
	if body := bare.do("GET", "/api/tools", "").Body.String(); strings.Contains(body, "uses") ||
		strings.Contains(body, "lastUsed") || strings.Contains(body, "alwaysInclude") {
		t.Errorf("where nothing is counted: %s", body)
	}
}

func TestMetrics(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Prometheus = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "up 1\n")
		})
	})
	for query, want := range map[string]string{
		"": "24h", "?window=1h": "1h", "?window=7d": "7d", "?window=all": "all",
		"?window=": "24h",
	} {
		var got metrics.Metrics
		if err := json.Unmarshal(f.do("GET", "/api/metrics"+query, "").Body.Bytes(), &got); err != nil ||
			got.Window != want || got.TotalRequests != 2 {
			t.Errorf("%q: %+v %v", query, got, err)
		}
	}
	for _, query := range []string{"?window=2h", "?windows=1h", "?window=1h&window=7d"} {
		if p := readProblem(t, f.do("GET", "/api/metrics"+query, "")); p.Status != http.StatusBadRequest {
			t.Errorf("%q: %+v", query, p)
		}
	}
	if w := f.do("GET", "/metrics", ""); w.Body.String() != "up 1\n" {
		t.Errorf("Prometheus is told %q", w.Body)
	}
	bare := newFixture(t, func(o *Options) { o.Metrics = nil })
	for _, target := range []string{"/api/metrics", "/metrics"} {
		if p := readProblem(t, bare.do("GET", target, "")); p.Status != http.StatusNotFound {
			t.Errorf("%s where nothing is counted: %+v", target, p)
		}
	}
	if guarded := newFixture(t, func(o *Options) {
		o.Access, o.Prometheus = oneToken("t"), o.MCP
	}); !strings.Contains(guarded.do("GET", "/metrics", "").Body.String(), "unauthorized") {
		t.Error("Prometheus is answered without a token")
	}
}

// TestTrace holds what is told of requests: all of them, those that are refused or panic too, and that what is done for
// one has the context that was given.
func TestTrace(t *testing.T) {
	type mark struct{}
	var told []string
	f := newFixture(t, func(o *Options) {
		o.Access = oneToken("t")
		o.Trace = func(r *http.Request) (context.Context, func(string, int)) {
			return context.WithValue(r.Context(), mark{}, true), func(route string,
				status int,
			) {
				told = append(told, fmt.Sprint(route, " ", status))
			}
		}
	})
	f.found = func(ctx context.Context, q tool.Query) (*tool.Result, error) {
		if ctx.Value(mark{}) == nil {
			t.Error("the context is lost")
		}
		if q.Text == "panic" {
			panic("as asked")
		}
		return &tool.Result{Tools: []tool.Hit{}}, nil
	}
	for _, target := range []string{"/search?q=a", "/search?q=panic", "/api/tools/files/read_file", "/nope"} {
		f.do("GET", target, "", "Authorization", "Bearer t")
	}
	f.do("GET", "/search?q=a", "")
	if d := gocmp.Diff([]string{"/search 200", "/search 500", "/api/tools/* 200", " 404", " 401"}, told); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
