package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// npmReachable skips the test where real servers cannot be fetched.
func npmReachable(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("real servers are left out with -short")
	}
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skip("npx is not installed: ", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://registry.npmjs.org/-/ping", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Skip("the npm registry cannot be reached: ", err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

// serverVersion is the version of the reference servers that these tests were written against.
const serverVersion = "@2026.8.31"

func npx(name string, args ...string) upstream.Server {
	s := upstream.Server{Name: name, Command: "npx", Args: append([]string{
		"-y",
		"@modelcontextprotocol/server-" + name + serverVersion,
	}, args...), Env: map[string]string{}}
	for _, v := range []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "npm_config_registry"} {
		if os.Getenv(v) != "" {
			s.Env[v] = "${" + v + "}"
		}
	}
	return s
}

func TestRealServers(t *testing.T) {
	npmReachable(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("remember the milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	memory := npx("memory")
	memory.Env["MEMORY_FILE_PATH"] = filepath.Join(dir, "memory.json")
	g := startGateway(t, Options{StartTimeout: 2 * time.Minute}, npx("everything"), npx("filesystem", dir), memory)

	for server, want := range map[string]string{
		"everything": "echo", "filesystem": "list_directory",
		"memory": "read_graph",
	} {
		if names := listNames(t, g, server); !slices.Contains(names, want) {
			t.Errorf("%s lists %v, without %s", server, names, want)
		}
	}
	if got := call(t, g, "everything/echo", `{"message":"hello"}`); !strings.Contains(got, "hello") {
		t.Errorf("echo is %q", got)
	}
	args, err := json.Marshal(map[string]string{"path": dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, g, "filesystem/list_directory", string(args)); !strings.Contains(got, "note.txt") {
		t.Errorf("list_directory is %q", got)
	}
	call(t, g, "memory/create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["likes engines"]}]}`)
	if got := call(t, g, "memory/read_graph", `{}`); !strings.Contains(got, "likes engines") {
		t.Errorf("read_graph is %q", got)
	}
	for _, st := range g.Status() {
		if st.State != upstream.Running || st.Tools == 0 {
			t.Errorf("status %+v", st)
		}
	}
	var steps []float64
	_, err = g.Call(t.Context(), tool.Call{
		ID: "everything/trigger-long-running-operation", Arguments: json.RawMessage(`{"duration":1,"steps":4}`),
		Progress: func(p tool.Progress) { steps = append(steps, p.Progress) },
	})
	if err != nil || !slices.Equal(steps, []float64{1, 2, 3, 4}) {
		t.Errorf("progress %v, error %v", steps, err)
	}
}
