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

	"tooldex/cmd/tooldex/doctor"
	"tooldex/store"
)

// examined runs doctor, and returns what it says of one check.
func examined(t *testing.T, dataDir, check string, env ...string) doctor.Finding {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), builtCommand(t), "doctor", "--no-servers", "-o", "json")
	cmd.Env = append(os.Environ(), append(env, "TOOLDEX_DATA_DIR="+dataDir, "HOME="+t.TempDir(), "XDG_CONFIG_HOME=",
		"TOOLDEX_CONFIG=")...)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	runErr := cmd.Run()
	var out doctor.Diagnosis
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%v, %v: %s", runErr, err, stdout.String())
	}
	if (runErr != nil) != (out.Broken > 0) {
		t.Errorf("%d are broken, and the command ends with %v", out.Broken, runErr)
	}
	for _, f := range out.Findings {
		if (f.Status == doctor.Broken || f.Status == doctor.Warn) && f.Remedy == "" {
			t.Errorf("nothing is said of how to mend it: %+v", f)
		}
	}
	for _, f := range out.Findings {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("nothing is said of %s: %s", check, stdout.String())
	return doctor.Finding{}
}

// TestDoctorReadsHead makes a store large and then damages it: the head is read, which says nothing of the rest, and the
// finding says so. What is to be mended is read whole.
func TestDoctorReadsHead(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // else there is more to say
		t.Fatal(err)
	}
	if _, err := store.Open(dir, store.Options{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, store.FileName)
	db, err := bbolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("tools")).Put([]byte("one/spoiled"), []byte("no sealed value"))
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if f := examined(t, dir, "data"); f.Status != doctor.Broken {
		t.Errorf("a small damaged store: %+v", f)
	}
	if err := os.Truncate(file, 65<<20); err != nil { // all of the rest is holes
		t.Fatal(err)
	}
	if f := examined(t, dir, "data"); f.Status != doctor.Note || !strings.Contains(f.Message, "only the beginning") ||
		!strings.Contains(f.Remedy, "index verify") {
		t.Errorf("a large damaged store: %+v", f)
	}
	verify := exec.CommandContext(t.Context(), builtCommand(t), "index", "verify", "-d", dir)
	if out, err := verify.CombinedOutput(); err == nil {
		t.Errorf("index verify finds no damage: %s", out)
	}
	mend := exec.CommandContext(t.Context(), builtCommand(t), "doctor", "--no-servers", "--fix", "-d", dir)
	if out, _ := mend.CombinedOutput(); !strings.Contains(string(out), "fixed      data") {
		t.Errorf("doctor --fix does not mend it: %s", out)
	}
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
	if got.Status != doctor.Broken || !strings.Contains(got.Remedy, "fuser") {
		t.Errorf("while it is locked: %+v", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := examined(t, dir, "data"); got.Status != doctor.Fine {
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
	if got := examined(t, dir, "port", "TOOLDEX_LISTEN="+l.Addr().String()); got.Status != doctor.Warn || got.Remedy == "" {
		t.Errorf("taken: %+v", got)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if got := examined(t, dir, "port", "TOOLDEX_LISTEN="+l.Addr().String()); got.Status != doctor.Fine ||
		!strings.Contains(got.Message, "free") {
		t.Errorf("free: %+v", got)
	}
	ours := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer ours.Close()
	if got := examined(t, dir, "port", "TOOLDEX_LISTEN="+ours.Listener.Addr().String()); got.Status != doctor.Fine ||
		!strings.Contains(got.Message, "serves here") {
		t.Errorf("served: %+v", got)
	}
}
