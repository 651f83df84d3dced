package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// haltingModel embeds until it is halted: then it answers one request only so late that what was made before is stored,
// and none after.
type haltingModel struct {
	remoteModel
	after  int64 // this many texts
	halted atomic.Int64
	stuck  chan struct{} // closed when it has stopped to answer
	over   chan struct{}
}

func (m *haltingModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.URL.Path == "/api/embed" && m.texts.Load() >= m.after {
		select {
		case <-m.over:
		default:
			const late = 2100 * time.Millisecond // what is made is stored every two seconds
			if m.halted.Add(1) == 1 {
				<-time.After(late)
				break
			}
			select {
			case <-m.stuck:
			default:
				close(m.stuck)
			}
			<-r.Context().Done()
			return
		}
	}
	m.remoteModel.ServeHTTP(w, r)
}

// TestSwitchResumes kills a command that switches to another model, and wants the next to embed only what is missing.
func TestSwitchResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what is stored every two seconds")
	}
	bin, dir := builtCommand(t), t.TempDir()
	const tools = 300
	var dump strings.Builder
	for i := range tools {
		fmt.Fprintf(&dump, `,{"name":"tool_%d","description":"Turns the wheel of mill number %d.","inputSchema":{"type":"object"}}`, i, i)
	}
	file := filepath.Join(dir, "mill.json")
	if err := os.WriteFile(file, []byte(`{"tools":[`+dump.String()[1:]+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	runCommand(t, data, "import", file)
	m := &haltingModel{after: 100, stuck: make(chan struct{}), over: make(chan struct{})}
	web := httptest.NewServer(m)
	defer web.Close()
	env := append(os.Environ(), "TOOLDEX_DATA_DIR="+data, "TOOLDEX_EMBEDDER=ollama:tiny?batch=16",
		"OLLAMA_HOST="+web.URL)
	status := func() modelCount {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bin, "index", "status", "-o", "json")
		cmd.Env = env
		out, err := cmd.Output()
		var st indexStatus
		if err == nil {
			err = json.Unmarshal(out, &st)
		}
		if err != nil {
			t.Fatal(err, string(out))
		}
		for _, one := range st.Models {
			if one.Use == "chosen" {
				return one
			}
		}
		t.Fatalf("the chosen model is not told of: %s", out)
		return modelCount{}
	}
	if got := status(); got.Tools != 0 || got.Of != tools || got.Name == "" {
		t.Errorf("before: %+v", got)
	}
	first := exec.CommandContext(t.Context(), bin, "search", "turn the wheel")
	first.Env = env
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	<-m.stuck
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	kept := status()
	if kept.Tools == 0 || kept.Tools >= tools {
		t.Fatalf("after it was killed: %+v", kept)
	}
	close(m.over)
	asked := m.texts.Load()
	second := exec.CommandContext(t.Context(), bin, "search", "turn the wheel")
	second.Env = env
	if out, err := second.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if got := status(); got.Tools != tools || got.Dims != 3 {
		t.Errorf("afterwards: %+v", got)
	}
	const questions = 4 // what the model is, and the request itself
	if again := int(m.texts.Load() - asked); again < tools-kept.Tools || again > tools-kept.Tools+questions {
		t.Errorf("%d texts were embedded, %d were missing", again, tools-kept.Tools)
	}
}
