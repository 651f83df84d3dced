package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// describedAPI serves a description at /api.json, and an API that answers with the given handler.
func describedAPI(t *testing.T, server string, answer http.HandlerFunc) string {
	t.Helper()
	srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api.json" {
			answer(w, r)
			return
		}
		fmt.Fprint(w, describeAPI(server))
	}))
	return srv.URL
}

func describeAPI(server string) string {
	return fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"Notes","version":"1","description":"Keeps notes."},
		"servers":[{"url":%q}],"security":[{"key":[]}],"paths":{"/notes/{id}":{
			"get":{"operationId":"readNote","summary":"Read a note","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}]},
			"delete":{"operationId":"deleteNote","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}]}}},
		"components":{"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"key"}}}}`, server)
}

// TestAPI holds that an API is listed, called, bounded and stopped as a server is, and that its key is shown to nobody.
func TestAPI(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	at := describedAPI(t, "/v1", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/notes/7":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"id":9007199254740993}`)
		case "/v1/notes/8":
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "no %s", r.URL)
		}
	})
	g := New(Options{LookupEnv: func(name string) (string, bool) { return "topsecret7", name == "KEY" }})
	t.Cleanup(func() { _ = g.Close() })
	g.Set([]upstream.Server{{
		Name: "notes", OpenAPI: at + "/api.json", Auth: map[string]string{"key": "${KEY}"}, Timeout: time.Second,
	}})
	up, _ := g.Upstream("notes")
	tools, err := up.Tools(t.Context())
	if err != nil || len(tools) != 2 || tools[1].Name != "readNote" || !*tools[1].Annotations.ReadOnlyHint {
		t.Fatalf("tools %v, error %v", tools, err)
	}
	call := func(arguments string) (*tool.CallResult, error) {
		return g.Call(t.Context(), tool.Call{ID: "notes/readNote", Arguments: json.RawMessage(arguments)})
	}
	res, err := call(`{"id":7}`)
	if err != nil || !strings.Contains(string(res.Raw), `"structuredContent":{"id":9007199254740993}`) {
		t.Errorf("result %+v, error %v", res, err)
	}
	if res, err = call(`{"id":9}`); err != nil || !res.IsError || strings.Contains(string(res.Raw), "topsecret7") ||
		!strings.Contains(string(res.Raw), "HTTP 403 Forbidden") || !strings.Contains(string(res.Raw), "key=${KEY}") {
		t.Errorf("refusal %s, error %v", res.Raw, err)
	}
	if _, err := call(`{"id":8}`); tool.CodeOf(err) != tool.Timeout {
		t.Errorf("a call that hangs: %v", err)
	}
	if about := up.About(); about.Title != "Notes" || about.Instructions != "Keeps notes." {
		t.Errorf("about %+v", about)
	}
	if s := g.Status()[0]; s.State != upstream.Running || s.Transport != upstream.OpenAPI || s.Tools != 2 {
		t.Errorf("status %+v", s)
	}
}

// TestAPIAtPrivateAddress holds that only a person's own word leads to a private address: not what a description says.
func TestAPIAtPrivateAddress(t *testing.T) {
	var asked atomic.Int32
	private := listen(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	file := filepath.Join(t.TempDir(), "api.json")
	if err := os.WriteFile(file, []byte(describeAPI(private.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := describedAPI(t, private.URL, http.NotFound) + "/api.json"
	for name, tt := range map[string]struct {
		server  upstream.Server
		reached bool
	}{
		"a file names it":              {upstream.Server{OpenAPI: file}, false},
		"a file on another host does":  {upstream.Server{OpenAPI: elsewhere}, false},
		"a person names it":            {upstream.Server{OpenAPI: file, URL: private.URL}, true},
		"a person names it for a host": {upstream.Server{OpenAPI: elsewhere, URL: private.URL}, true},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			g := New(Options{})
			t.Cleanup(func() { _ = g.Close() })
			tt.server.Name = "notes"
			g.Set([]upstream.Server{tt.server})
			res, err := g.Call(t.Context(), tool.Call{ID: "notes/readNote", Arguments: json.RawMessage(`{"id":7}`)})
			if err != nil {
				t.Fatal(err)
			}
			if res.IsError == tt.reached || asked.Load() > 0 != tt.reached ||
				!tt.reached && !strings.Contains(string(res.Raw), "private address") {
				t.Errorf("reached %v: %s", asked.Load() > 0, res.Raw)
			}
		})
	}
}
