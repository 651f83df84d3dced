package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"tooldex/access"
	"tooldex/httpapi"
)

// TestMemoryDoesNotGrow asks the whole stack many requests of all sorts, and then ten times as many: what is kept after
// the first must be all that is ever kept.
func TestMemoryDoesNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	few := 2000
	if raceEnabled {
		few = 200
	}
	a := &app{
		stdin: strings.NewReader(""), stdout: os.Stderr, stderr: os.Stderr,
		getenv: func(string) string { return "" }, format: "json", logLevel: "error", demo: true, serving: true,
	}
	if err := a.prepare(); err != nil {
		t.Fatal(err)
	}
	a.log = slog.New(slog.DiscardHandler)
	s, err := a.open(t.Context(), toSearch)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	chosen, err := a.newSelections(t.Context(), s, newProfileBook(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	meter := a.newMeter(s, nil)
	gate, err := access.New(access.Options{Whole: "t"})
	if err != nil {
		t.Fatal(err)
	}
	api, err := httpapi.New(httpapi.Options{
		Searcher: meter.Searcher(s.engine, s.catalog), Catalog: s.catalog, Selector: chosen.view(view{}),
		Preferences: chosen, Metrics: meter, Prometheus: meter,
		Learner: s.learner, Rate: 1e9, Access: gate, Logger: a.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	verbs, things := strings.Fields("open read list close move send find merge"),
		strings.Fields("issue file branch message page event row image invoice folder")
	ask := func(i int) {
		n := i / 8 % (few / 20) // every sort of request is made of every text, and twice, before the first look
		text := fmt.Sprintf("%s the %s of number %d", verbs[n%len(verbs)], things[n/3%len(things)], n)
		target, body, want := "/search?q="+strings.ReplaceAll(text, " ", "+"), "", http.StatusOK
		switch i % 8 {
		case 1, 2:
			target, body = "/api/tools/select", fmt.Sprintf(`{"message":%q,"session":"%d"}`, text, i%20)
		case 3:
			target, want = "/nope", http.StatusNotFound
		case 4:
			target, body, want = "/search", `{"query":`, http.StatusBadRequest
		case 5:
			target = "/metrics"
		}
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer t")
		w := httptest.NewRecorder()
		if api.Handler().ServeHTTP(w, r); w.Code != want {
			t.Fatalf("%s %s: %d %s", target, body, w.Code, w.Body)
		}
	}
	kept := func() int64 {
		if err := meter.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.GC() // what the first had to finish
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	for i := range few {
		ask(i)
	}
	before, goroutines := kept(), runtime.NumGoroutine()
	for i := range 9 * few {
		ask(few + i)
	}
	after := kept()
	runtime.KeepAlive(api)
	runtime.KeepAlive(s)
	t.Logf("%d bytes after %d requests, %d after %d", before, few, after, 10*few)
	if grown := after - before; grown > before*3/100 {
		t.Errorf("%d bytes more after %d requests than the %d after %d", grown, 10*few, before, few)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
}
