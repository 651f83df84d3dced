package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// logReader reads a log in JSON line by line.
type logReader struct {
	t     *testing.T
	lines *bufio.Scanner
}

// next returns the next record with the message, and fails for a line that is no record.
func (l *logReader) next(msg string) map[string]any {
	l.t.Helper()
	for l.lines.Scan() {
		var record map[string]any
		if err := json.Unmarshal(l.lines.Bytes(), &record); err != nil {
			l.t.Fatalf("a line of the log is not JSON: %s", l.lines.Text())
		}
		if record["msg"] == msg {
			return record
		}
	}
	l.t.Fatalf("the log ends without %q", msg)
	return nil
}

// TestLogInJSON holds that a log in JSON has nothing but records, and that it has the start, reloads, a refused reload
// and the stop at the default level.
func TestLogInJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, data := filepath.Join(dir, "tooldex.yaml"), filepath.Join(dir, "data")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("logFormat: json\nserve: {mode: search}\n")
	cmd := servingCommand(t, data, "serve", "--listen", "127.0.0.1:0", "--config", path)
	cmd.Env = append(cmd.Environ(), "TOOLDEX_TOKEN=log-0123456789abcdefgh")
	logged, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := &logReader{t, bufio.NewScanner(logged)}
	start := log.next("started")
	address, _ := start["address"].(string)
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("the address is %q", address)
	}
	for _, key := range []string{"time", "address"} {
		delete(start, key)
	}
	if d := cmp.Diff(map[string]any{
		"level": "INFO", "msg": "started", "version": version, "config": path, "data": data, "stdio": false,
		"profile": "", "tokens": "whole",
	}, start); d != "" {
		t.Errorf("start (-want +got)\n%s", d)
	}
	write("logFormat: json\nserve: {mode: full}\n")
	if again := log.next("read the configuration again"); again["config"] != path {
		t.Errorf("the reload is %v", again)
	}
	write("serve: {mode: loud}\n")
	refused := log.next("cannot read the configuration; the previous one stays in effect")
	if text, _ := refused["error"].(string); refused["level"] != "ERROR" || !strings.Contains(text, "tooldex.yaml:1") {
		t.Errorf("the refused reload is %v", refused)
	}
	write("logFormat: json\nserve: {mode: full}\n")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	log.next("read the configuration again")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log.next("stopped")
	rest, err := io.ReadAll(logged)
	if err != nil || len(rest) > 0 || log.lines.Scan() {
		t.Errorf("after the stop comes %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestFailureInJSON holds that what ends a command is a record of the log, too.
func TestFailureInJSON(t *testing.T) {
	t.Parallel()
	cmd := servingCommand(t, t.TempDir(), "serve", "--listen", "0.0.0.0:0", "--log-format", "json")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exitUsage {
		t.Errorf("without a token it ends with %v", err)
	}
	var record struct{ Level, Error, Hint string }
	if err := json.Unmarshal([]byte(stderr.String()), &record); err != nil || record.Level != "ERROR" ||
		!strings.Contains(record.Error, "there is no token") || !strings.Contains(record.Hint, "tooldex tokens add") {
		t.Errorf("it logs %q", stderr.String())
	}
}
