package metrics

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"tooldex/tool"
)

// TestPrometheus has Prometheus's own parser read what is told to it, and holds every counter.
func TestPrometheus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		odd := "say \"hi\"\\\nback"
		m := New(Options{
			Catalog: w, Sessions: func() int { return 7 }, Version: "v1",
			Messages: func() (int64, int64) { return 5, 6 },
			Servers: func() map[string]ServerState {
				return map[string]ServerState{"files": {Works: true, Restarts: 2}, odd: {}}
			},
		})
		w.takes = 2 * time.Millisecond
		search(t, m, w, &tool.Result{Query: "a", Tokens: 10, Tools: []tool.Hit{{}, {}}, Degraded: "words only"})
		search(t, m, w, &tool.Result{Query: "b", Confident: true, Tokens: 1e6})
		m.Selected([]tool.ID{"files/read"}, 5, 90, true)
		w.takes, w.called = 40*time.Second, &tool.CallResult{IsError: true}
		_, _ = m.Caller(w, "ops").Call(t.Context(), tool.Call{ID: tool.ID(odd + "/x")})
		_, _ = m.Caller(w, "ops").Call(t.Context(), tool.Call{ID: "files/read"})
		for _, status := range []int{401, 200, 401, -1, 600} {
			m.Answered(status)
		}
		if err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		rec := httptest.NewRecorder()
		m.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for name, f := range families {
			if f.GetHelp() == "" {
				t.Errorf("%s has no help", name)
			}
			for _, s := range f.GetMetric() {
				key := name
				for _, l := range s.GetLabel() {
					key += " " + l.GetValue()
				}
				switch {
				case s.Counter != nil:
					got[key] = s.GetCounter().GetValue()
				case s.Gauge != nil:
					got[key] = s.GetGauge().GetValue()
				case s.Histogram != nil:
					h := s.GetHistogram()
					got[key] = float64(h.GetSampleCount())
					got[key+" sum"] = h.GetSampleSum()
					last := h.GetBucket()[len(h.GetBucket())-1]
					if !math.IsInf(last.GetUpperBound(), 1) || last.GetCumulativeCount() != h.GetSampleCount() {
						t.Errorf("%s: the last bucket is %v", key, last)
					}
					before := uint64(0)
					for _, b := range h.GetBucket() {
						if b.GetCumulativeCount() < before {
							t.Errorf("%s: buckets fall", key)
						}
						before = b.GetCumulativeCount()
						if b.GetUpperBound() == .0025 {
							got[key+" to 2.5 ms"] = float64(before)
						}
					}
				}
			}
		}
		for name := range got {
			if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
				delete(got, name)
			}
		}
		listed := 0
		for _, one := range w.set.All() {
			if !one.Disabled {
				listed += one.Tokens()
			}
		}
		want := map[string]float64{
			"tooldex_searches_total": 2, "tooldex_searches_degraded_total": 1,
			"tooldex_searches_found_nothing_total": 1,
			"tooldex_search_duration_seconds":      2, "tooldex_search_duration_seconds sum": .004,
			"tooldex_search_duration_seconds to 2.5 ms": 2,
			"tooldex_selections_total":                  1, "tooldex_selection_cache_hits_total": 1, "tooldex_tools_returned_total": 3,
			"tooldex_tokens_used_total": 1_000_015, "tooldex_tokens_saved_total": float64(listed - 10 + 90),
			"tooldex_calls_total files": 1, "tooldex_call_errors_total files": 1,
			"tooldex_call_duration_seconds files": 1, "tooldex_call_duration_seconds files sum": 40,
			"tooldex_call_duration_seconds files to 2.5 ms": 0,
			"tooldex_calls_total " + odd:                    1, "tooldex_call_errors_total " + odd: 1,
			"tooldex_call_duration_seconds " + odd: 1, "tooldex_call_duration_seconds " + odd + " sum": 40,
			"tooldex_call_duration_seconds " + odd + " to 2.5 ms": 0,
			"tooldex_catalogue_tools":                             3, "tooldex_catalogue_servers": 2, "tooldex_sessions": 7,
			"tooldex_message_bytes": 5, "tooldex_messages_refused_total": 6,
			"tooldex_server_up files": 1, "tooldex_server_up " + odd: 0,
			"tooldex_server_restarts_total files": 2, "tooldex_server_restarts_total " + odd: 0,
			"tooldex_profile_searches_total ": 2, "tooldex_profile_searches_found_nothing_total ": 1,
			"tooldex_profile_searches_total ops": 0, "tooldex_profile_searches_found_nothing_total ops": 0,
			"tooldex_profile_calls_total ": 0, "tooldex_profile_call_errors_total ": 0,
			"tooldex_profile_calls_total ops": 2, "tooldex_profile_call_errors_total ops": 2,
			"tooldex_http_requests_total 200": 1, "tooldex_http_requests_total 401": 2,
			"tooldex_http_requests_total 429":                 0,
			"tooldex_build_info " + runtime.Version() + " v1": 1,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// TestProfilesAreBounded requires that the labels of profiles stay few, however many there are and however often counts
// are added up, and that no count is lost.
func TestProfilesAreBounded(t *testing.T) {
	disk := &memoryDisk{}
	const all = 3 * maxProfiles
	for i := range all {
		m := New(Options{Disk: disk}) // another process for each
		w := newWorld()
		w.called = &tool.CallResult{}
		_, _ = m.Caller(w, fmt.Sprint("profile", i)).Call(t.Context(), tool.Call{ID: "files/read"})
		if err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	rec := httptest.NewRecorder()
	New(Options{Disk: disk}).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	sum, labels := 0., 0
	for _, s := range families["tooldex_profile_calls_total"].GetMetric() {
		sum += s.GetCounter().GetValue()
		labels++
	}
	if sum != all || labels != maxProfiles+1 {
		t.Errorf("%d profiles with %v calls, want %d with %d", labels, sum, maxProfiles+1, all)
	}
}

func TestPrometheusWithoutDisk(t *testing.T) {
	m := New(Options{Disk: &awkward{err: errors.New("gone"), when: func() {}}})
	rec := httptest.NewRecorder()
	m.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if rec.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d: counters that begin at nothing again would look like a restart", rec.Code)
	}
}
