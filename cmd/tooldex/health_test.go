package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthURL(t *testing.T) {
	for name, c := range map[string]struct{ asked, listen, want string }{
		"where serve listens":     {"", "127.0.0.1:8733", "http://127.0.0.1:8733/healthz"},
		"a name":                  {"", "localhost:80", "http://localhost:80/healthz"},
		"all addresses":           {"", "0.0.0.0:8733", "http://127.0.0.1:8733/healthz"},
		"no host is all":          {"", ":8733", "http://127.0.0.1:8733/healthz"},
		"all addresses of IPv6":   {"", "[::]:8733", "http://[::1]:8733/healthz"},
		"an address of IPv6":      {"", "[fd00::1]:8733", "http://[fd00::1]:8733/healthz"},
		"given, without a path":   {"http://10.0.0.1:1", "127.0.0.1:8733", "http://10.0.0.1:1/healthz"},
		"given, with a path":      {"https://tools.example/readyz", "127.0.0.1:8733", "https://tools.example/readyz"},
		"no address at all":       {"", "8733", ""},
		"given, without a scheme": {"127.0.0.1:8733", "127.0.0.1:8733", ""},
		"given, another scheme":   {"file:///etc/passwd", "127.0.0.1:8733", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := healthURL(c.asked, c.listen)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
			if err != nil && exitCode(err) != exitUsage {
				t.Errorf("ends with %d, want %d", exitCode(err), exitUsage)
			}
		})
	}
}

// TestHealth asks real servers: one that is well, one that is not, one that sends elsewhere, and none.
func TestHealth(t *testing.T) {
	well := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			w.WriteHeader(http.StatusOK)
		case "/elsewhere":
			http.Redirect(w, r, "/healthz", http.StatusFound)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(well.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		url  string
		want string // in the error, "" for none
	}{
		"well":           {well.URL + "/healthz", ""},
		"not ready":      {well.URL + "/readyz", "answers with status 503"},
		"sent elsewhere": {well.URL + "/elsewhere", "answers with status 302"},
		"nobody there":   {gone.URL, "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := askHealth(t.Context(), c.url)
			if c.want == "" {
				if err != nil || got.Status != http.StatusOK {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != exitFailed {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
