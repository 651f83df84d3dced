package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"tooldex/tool"
)

// Report gives the window that it was asked for.
func (f *fixture) Report(_ context.Context, window string) (*tool.Metrics, error) {
	if window == "1h" || window == "24h" || window == "7d" || window == "all" {
		empty := []tool.Tally{}
		return &tool.Metrics{
			Window: window, TotalRequests: 2, ToolsByCategory: empty, MostUsedTools: []tool.Tally{{Name: "files/read_file", Count: 1}}, Fruitless: empty,
			Servers: []tool.ServerUse{}, Series: []tool.MetricPoint{{Requests: 2}},
		}, nil
	}
	return nil, &tool.Error{Code: tool.Invalid, Msg: "there is no such window"}
}

// Selected is only here to make a fixture a Metrics.
func (f *fixture) Selected([]tool.ID, int, int, bool) {}

func TestMetrics(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Prometheus = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
	})
	for query, want := range map[string]string{"": "24h", "?window=1h": "1h", "?window=7d": "7d", "?window=all": "all", "?window=": "24h"} {
		var got tool.Metrics
		if err := json.Unmarshal(f.do("GET", "/api/metrics"+query, "").Body.Bytes(), &got); err != nil || got.Window != want || got.TotalRequests != 2 {
			t.Errorf("%q: %+v %v", query, got, err)
		}
	}
	for _, query := range []string{"?window=2h", "?windows=1h", "?window=1h&window=7d"} {
		if p := problem(t, f.do("GET", "/api/metrics"+query, "")); p.Status != http.StatusBadRequest {
			t.Errorf("%q: %+v", query, p)
		}
	}
	if w := f.do("GET", "/metrics", ""); w.Body.String() != "up 1\n" {
		t.Errorf("Prometheus is told %q", w.Body)
	}
	bare := newFixture(t, func(o *Options) { o.Metrics = nil })
	for _, target := range []string{"/api/metrics", "/metrics"} {
		if p := problem(t, bare.do("GET", target, "")); p.Status != http.StatusNotFound {
			t.Errorf("%s where nothing is counted: %+v", target, p)
		}
	}
	if guarded := newFixture(t, func(o *Options) { o.Token, o.Prometheus = "t", o.MCP }); !strings.Contains(guarded.do("GET", "/metrics", "").Body.String(), "unauthorized") {
		t.Error("Prometheus is answered without a token")
	}
}
