package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tooldex/metrics"
	"tooldex/selection"
)

// mortal is a server that is going to be killed.
type mortal struct {
	*exec.Cmd
	base string

	mu  sync.Mutex
	log strings.Builder // what it said; guarded by mu
}

// said counts the lines of the log that hold a text.
func (m *mortal) said(text string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for l := range strings.Lines(m.log.String()) {
		if strings.Contains(l, text) {
			n++
		}
	}
	return n
}

func startMortal(t *testing.T, data string) *mortal {
	t.Helper()
	cmd := servingCommand(t, data, "serve", "--listen", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	m := &mortal{Cmd: cmd}
	lines := bufio.NewScanner(stderr)
	next := func() bool {
		more := lines.Scan()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.log.WriteString(lines.Text() + "\n")
		return more
	}
	for m.base == "" {
		if !next() {
			t.Fatalf("serve does not say where it listens: %s", m.log.String())
		}
		m.base = address.FindString(lines.Text())
	}
	go func() {
		for next() { // until it is dead
		}
	}()
	return m
}

// prefer asks for n to be preferred, and reports whether that was acknowledged.
func (m *mortal) prefer(t *testing.T, version string, n int) (next string, ok bool) {
	req, err := http.NewRequest(http.MethodPut, m.base+"/api/tools/preferences",
		strings.NewReader(fmt.Sprintf(`{"tokenThreshold": %d}`, n)))
	if err != nil {
		return "", false
	}
	req.Header.Set("Content-Type", "application/json")
	if version != "" {
		req.Header.Set("If-Match", version)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, b)
	}
	return res.Header.Get("ETag"), err == nil
}

// preferred asks what is preferred.
func (m *mortal) preferred(t *testing.T) (version string, n int) {
	t.Helper()
	res, err := http.Get(m.base + "/api/tools/preferences")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var p selection.Preferences
	if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	return res.Header.Get("ETag"), p.TokenThreshold
}

// TestKilledServing kills servers while preferences are stored over HTTP, and while they store what they counted: what
// was acknowledged is there, nothing is there that nobody asked for, and searches were counted all or none in each
// life.
func TestKilledServing(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the command many times")
	}
	data := filepath.Join(realTempDir(t), "data")
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	lives, ended, asked := max(6, *kills/25), 0, 0
	const searches = 7 // in each life
	for life := range lives {
		m := startMortal(t, data)
		version, at := m.preferred(t)
		if at > asked || at < ended {
			t.Fatalf("life %d: %d is preferred; %d was acknowledged, and %d the last that was asked for", life, at,
				ended, asked)
		}
		delay := time.Duration(random.IntN(20_000)) * time.Microsecond // after the first
		timer := time.AfterFunc(time.Hour, func() { _ = m.Process.Kill() })
		for n := at + 1; ; n++ {
			asked = n
			next, ok := m.prefer(t, version, n)
			if !ok {
				break
			}
			if version, ended = next, n; n == at+1 {
				timer.Reset(delay)
			}
		}
		if err := m.Wait(); err == nil {
			t.Fatal("it ended by itself")
		}
		timer.Stop()
		runCommand(t, data, "index", "verify")
	}
	counted := 0
	for range lives {
		m := startMortal(t, data)
		for range searches {
			fetched(t, m.base+"/search?q=anything")
		}
		if err := m.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.IntN(60_000))*time.Microsecond, func() { _ = m.Process.Kill() })
		if err := m.Wait(); err == nil {
			counted += searches
		}
		timer.Stop()
	}
	runCommand(t, data, "index", "verify")
	m := startMortal(t, data)
	var got metrics.Metrics
	if err := json.Unmarshal(fetched(t, m.base+"/api/metrics?window=1h"), &got); err != nil {
		t.Fatal(err)
	}
	if err := m.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = m.Wait() // killed
	if n := int(got.Searches); n%searches != 0 || n < counted || n > lives*searches {
		t.Errorf("%d searches are counted in %d lives of %d, and at least %d were stored", n, lives, searches, counted)
	}
	t.Logf("%s preferences stored, %d of %d lives ended well", strconv.Itoa(ended), counted/searches, lives)
}
