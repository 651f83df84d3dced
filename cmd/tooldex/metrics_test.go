package main

import (
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"tooldex/metrics"
)

// TestCountsOfManyProcesses has two processes over one file count at once, one over HTTP and one over standard streams,
// ends them, and asks a third, which goes on where they ended.
func TestCountsOfManyProcesses(t *testing.T) {
	data := t.TempDir()
	runCommand(t, data, "servers", "add", "probe", "--", upstreamCommand(t))
	const each = 25
	t.Run("two", func(t *testing.T) {
		base, second := serveHTTP(t, data), connectStdio(t, data, "serve", "--stdio", "--mode", "search")
		session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp/search", MaxRetries: -1},
				&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		first := &client{t: t, ClientSession: session}
		before := promised(t, base)
		if n := before["tooldex_sessions"]; n != 1 {
			t.Errorf("%v sessions are open", n)
		}
		if before["tooldex_server_up probe"] != 1 || before["tooldex_build_info "+runtime.Version()+" "+version] != 1 {
			t.Errorf("the server that works, or the version, is missing: %v", before)
		}
		var both sync.WaitGroup
		both.Go(func() {
			for range each {
				fetched(t, base+"/search?q=add+numbers")
			}
		})
		both.Go(func() {
			for range each {
				second.text("search_tools", map[string]any{"query": "add two numbers"})
			}
		})
		both.Wait()
		for _, c := range []*client{first, second} {
			c.call("shout", map[string]any{"text": "a"})
			c.call("refuse", map[string]any{})
		}
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	})
	base := serveHTTP(t, data)
	var got metrics.Metrics
	if err := json.Unmarshal(fetched(t, base+"/api/metrics?window=1h"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Searches != 2*each || got.TotalRequests != 2*each || got.Calls != 4 || got.Errors != 2 {
		t.Errorf("%+v, want %d searches and 4 calls, 2 of which failed", got, 2*each)
	}
	if d := cmp.Diff([]metrics.Tally{{Name: "probe/refuse", Count: 2}, {Name: "probe/shout", Count: 2}},
		got.MostUsedTools); d != "" {
		t.Errorf("most used (-want +got)\n%s", d)
	}
	requireToolUses(t, base, got.MostUsedTools)
	before := promised(t, base)
	fetched(t, base+"/search?q=shout")
	fetched(t, base+"/search?q=shout&trial=true") // the panel asks so, and is not counted
	after := promised(t, base)
	for name, want := range map[string]float64{
		"tooldex_searches_total": 2*each + 1, "tooldex_catalogue_tools": 5, "tooldex_calls_total probe": 4,
		"tooldex_call_errors_total probe": 2,
	} {
		if after[name] != want {
			t.Errorf("%s is %v, want %v", name, after[name], want)
		}
	}
	if before["tooldex_searches_total"] != 2*each {
		t.Errorf("a new process begins at %v searches", before["tooldex_searches_total"])
	}
}

// requireToolUses requires that the list of tools counts the calls that the metrics count, says when the last was, and
// marks the tool that the preferences always include.
func requireToolUses(t *testing.T, base string, called []metrics.Tally) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, base+"/api/tools/preferences",
		strings.NewReader(`{"alwaysInclude":["probe/refuse"]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the preferences are answered with %d, %v", res.StatusCode, err)
	}
	var list struct {
		Tools []struct {
			ID       string    `json:"id"`
			Uses     int64     `json:"uses"`
			LastUsed time.Time `json:"lastUsed"`
			Always   bool      `json:"alwaysInclude"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(fetched(t, base+"/api/tools"), &list); err != nil {
		t.Fatal(err)
	}
	var used []metrics.Tally
	for _, one := range list.Tools {
		if one.Uses > 0 {
			used = append(used, metrics.Tally{Name: one.ID, Count: one.Uses})
		}
		if age := time.Since(one.LastUsed); one.Uses > 0 != (age < time.Hour) {
			t.Errorf("%s was called %d times, last %v ago", one.ID, one.Uses, age)
		}
		if one.Always != (one.ID == "probe/refuse") {
			t.Errorf("%s: alwaysInclude is %v", one.ID, one.Always)
		}
	}
	if d := cmp.Diff(called, used); d != "" {
		t.Errorf("the tools' uses are not those of the metrics (-want +got)\n%s", d)
	}
}

func fetched(t *testing.T, url string) []byte {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %s %v", url, res.StatusCode, b, err)
	}
	return b
}

// promised asks as Prometheus does, and returns counters and gauges by name and label.
func promised(t *testing.T, base string) map[string]float64 {
	t.Helper()
	res, err := http.Get(base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, f := range families {
		for _, s := range f.GetMetric() {
			key := name
			for _, l := range s.GetLabel() {
				key += " " + l.GetValue()
			}
			out[strings.TrimSpace(key)] = s.GetCounter().GetValue() + s.GetGauge().GetValue()
		}
	}
	return out
}
