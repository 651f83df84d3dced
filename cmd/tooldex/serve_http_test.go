package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// serveHTTP starts the built command on a port of its own choice and returns its address. The command is told to stop
// at the end of the test, and must then end well.
func serveHTTP(t *testing.T, dataDir string, args ...string) string {
	t.Helper()
	cmd := servingCommand(t, dataDir, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	read := make(chan string, 1)
	go func() {
		var all strings.Builder
		told := false
		address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			all.WriteString(lines.Text() + "\n")
			if a := address.FindString(lines.Text()); a != "" && !told {
				told = true
				found <- a
			}
		}
		close(found)
		read <- all.String()
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("stop: %v", err)
		}
		log := <-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve ended with %v\n%s", err, log)
		}
	})
	base, ok := <-found
	if !ok {
		t.Fatal("serve does not say where it listens")
	}
	return base
}

func TestServeHTTP(t *testing.T) {
	base := serveHTTP(t, t.TempDir(), "--demo")
	get := func(path string) (int, []byte) {
		t.Helper()
		res, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, body
	}
	code, body := get("/search?q=open+a+merge+proposal")
	var overHTTP, onTerminal tool.Result
	if err := json.Unmarshal(body, &overHTTP); code != http.StatusOK || err != nil {
		t.Fatalf("/search answers %d, %v: %s", code, err, body)
	}
	out := runCommand(t, t.TempDir(), "search", "--demo", "-o", "json", "open a merge proposal")
	if err := json.Unmarshal([]byte(out), &onTerminal); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(onTerminal, overHTTP); diff != "" {
		t.Errorf("the command line and HTTP answer differently (-cli +http):\n%s", diff)
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/api/tools"} {
		if code, body := get(path); code != http.StatusOK {
			t.Errorf("%s answers %d: %s", path, code, body)
		}
	}
	if code, _ := get("/nowhere"); code != http.StatusNotFound {
		t.Errorf("/nowhere answers %d", code)
	}
}
