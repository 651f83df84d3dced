package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadLoad(t *testing.T) {
	l, err := readLoad([]byte("Running 1s test @ http://x\n  1 threads\n{\"requests\":300,\"failed\":2,\"seconds\":1.5,\"p50\":250,\"p99\":5800}\n"))
	if want := (throughput{300, 2, 1.5, 250, 5800}); err != nil || l != want || l.rate() != 200 {
		t.Errorf("%+v %v", l, err)
	}
	r := loadRow("it", l, throughput{Requests: 400, Seconds: 1})
	if r.met || r.got != "200 requests/s (50 % of the ceiling), p50 0.25 ms, p99 5.80 ms, 2 failed" {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{"", "Running\n", "{\"requests\":"} {
		if _, err := readLoad([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a measurement", bad)
		}
	}
}

func TestLua(t *testing.T) {
	for in, want := range map[string]string{
		"plain /?": `"plain /?"`, "a\"b\\": `"a\034b\092"`,
		"é\n1": `"\195\169\0101"`,
	} {
		if got := lua(in); got != want {
			t.Errorf("%q is written %s, want %s", in, got, want)
		}
	}
}

// TestWrk has wrk ask the fixed route with a script as it is made for searches: every request must be one that is
// answered.
func TestWrk(t *testing.T) {
	if _, err := exec.LookPath("wrk"); err != nil {
		t.Skip("wrk is not installed")
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	base := make(chan string, 1)
	go func() { served <- serveFixed(ctx, func(at string) { base <- at }) }()
	script := filepath.Join(t.TempDir(), "s.lua")
	requests := []string{`wrk.format("GET", "/fixed")`, `wrk.format("GET", ` + lua("/fixed?q=%22é\"") + `)`}
	if err := os.WriteFile(script, []byte(wrkScript(requests)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := runLoad(t.Context(), <-base, script, time.Second)
	if err != nil || l.Requests == 0 || l.Failed != 0 || l.P99 < l.P50 || l.Seconds <= 0 {
		t.Errorf("%+v %v", l, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if s := searches([]string{"a b&c"}); !strings.Contains(s[0], "q=a+b%26c") {
		t.Errorf("a search is %s", s[0])
	}
}
