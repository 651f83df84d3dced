package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"tooldex/access"
	"tooldex/cmd/tooldex/demo"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/mcpsrv"
	"tooldex/service"
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
	s := openDemo(t)
	views, err := s.NewViews(t.Context(), service.ViewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := newSurfaces(views, mcpsrv.Options{Logger: s.Logger()})
	all.http = httpapi.Options{Rate: 1e9, Logger: s.Logger(), Upstreams: gateway.New(gateway.Options{})}
	one, err := all.surfaceOf(access.View{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := one.http()
	if err != nil {
		t.Fatal(err)
	}
	meter := views.Meter
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

// openDemo opens a service of the tools of the demo.
func openDemo(t *testing.T) *service.Service {
	t.Helper()
	s, err := service.Open(t.Context(), service.Options{Use: service.ToSearch, Serving: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	all, err := demo.Sources()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Catalog.SyncAll(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	return s
}
