package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"tooldex/store"
	"tooldex/tool"
)

// examined runs doctor, and returns what it says of one check.
func examined(t *testing.T, dataDir, check string, env ...string) finding {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), builtCommand(t), "doctor", "--no-servers", "-o", "json")
	cmd.Env = append(os.Environ(), append(env, "TOOLDEX_DATA_DIR="+dataDir, "HOME="+t.TempDir(), "XDG_CONFIG_HOME=",
		"TOOLDEX_CONFIG=")...)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	runErr := cmd.Run()
	var out diagnosis
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%v, %v: %s", runErr, err, stdout.String())
	}
	if (runErr != nil) != (out.Broken > 0) {
		t.Errorf("%d are broken, and the command ends with %v", out.Broken, runErr)
	}
	for _, f := range out.Findings {
		if (f.Status == isBroken || f.Status == isWarn) && f.Remedy == "" {
			t.Errorf("nothing is said of how to mend it: %+v", f)
		}
	}
	for _, f := range out.Findings {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("nothing is said of %s: %s", check, stdout.String())
	return finding{}
}

// TestDoctorSeesLock keeps the file locked as another process would.
func TestDoctorSeesLock(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // else there is more to say
		t.Fatal(err)
	}
	if _, err := store.Open(dir, store.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(filepath.Join(dir, store.FileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := examined(t, dir, "data")
	if got.Status != isBroken || !strings.Contains(got.Remedy, "fuser") {
		t.Errorf("while it is locked: %+v", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := examined(t, dir, "data"); got.Status != isFine {
		t.Errorf("afterwards: %+v", got)
	}
}

// TestDoctorSeesPort has the address free, taken by another program, and by one that answers as tooldex does.
func TestDoctorSeesPort(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = server.Serve(l) }()
	dir := t.TempDir()
	if got := examined(t, dir, "port", "TOOLDEX_LISTEN="+l.Addr().String()); got.Status != isWarn || got.Remedy == "" {
		t.Errorf("taken: %+v", got)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if got := examined(t, dir, "port", "TOOLDEX_LISTEN="+l.Addr().String()); got.Status != isFine ||
		!strings.Contains(got.Message, "free") {
		t.Errorf("free: %+v", got)
	}
	ours := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer ours.Close()
	if got := examined(t, dir, "port", "TOOLDEX_LISTEN="+ours.Listener.Addr().String()); got.Status != isFine ||
		!strings.Contains(got.Message, "serves here") {
		t.Errorf("served: %+v", got)
	}
}

func TestEveryFew(t *testing.T) {
	all := make([]*tool.Tool, 10)
	for i := range all {
		all[i] = &tool.Tool{Name: string(rune('a' + i)), Disabled: i == 1}
	}
	names := func(list []*tool.Tool) (out string) {
		for _, one := range list {
			out += one.Name
		}
		return out
	}
	for n, want := range map[int]string{1: "a", 3: "adg", 9: "abcdefghi", 10: "abcdefghij", 99: "abcdefghij"} {
		if got := names(everyFew(all, n)); got != want {
			t.Errorf("%d of ten are %s, want %s", n, got, want)
		}
	}
	if got := names(enabledTools(tool.NewSet(all, ""))); got != "acdefghij" {
		t.Errorf("enabled are %s", got)
	}
}

func TestSchemaFaults(t *testing.T) {
	tests := map[string]struct {
		schema string
		faults int
	}{
		"fine":           {`{"type":"object","properties":{"a":{"type":"string"}}}`, 0},
		"no object":      {`[]`, 2},
		"no type":        {`{"type":"object","properties":{"a":{"type":5}}}`, 1},
		"dangling $ref":  {`{"type":"object","properties":{"a":{"$ref":"#/definitions/none"}}}`, 1},
		"circle of refs": {`{"type":"object","properties":{"a":{"$ref":"#"}}}`, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := schemaFaults(&tool.Tool{
				Server: "s", Name: "n", Description: "Do what is asked for",
				InputSchema: json.RawMessage(tt.schema),
			})
			if len(got) != tt.faults {
				t.Errorf("%d faults, want %d: %q", len(got), tt.faults, got)
			}
		})
	}
}
