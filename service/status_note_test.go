package service

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tooldex/upstream"
)

func TestStatusOfSeveralProcesses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, age time.Duration, list ...upstream.Status) {
		t.Helper()
		b, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
	}
	write("1.json", 0, upstream.Status{Server: "a", State: upstream.Running}, upstream.Status{
		Server: "b", State: upstream.Failed,
		Error: "no",
	}, upstream.Status{Server: "c", State: upstream.Known})
	write("2.json", 0, upstream.Status{Server: "a", State: upstream.Failed, Error: "no"},
		upstream.Status{Server: "b", State: upstream.Configured}, upstream.Status{Server: "c", State: upstream.Configured})
	write("3.json", time.Hour, upstream.Status{Server: "b", State: upstream.Running})
	want := map[string]upstream.Status{
		"a": {Server: "a", State: upstream.Running}, "b": {Server: "b", State: upstream.Failed, Error: "no"},
		"c": {Server: "c", State: upstream.Known},
	}
	if diff := cmp.Diff(want, ReadStatusNotes(dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "3.json")); !os.IsNotExist(err) {
		t.Errorf("the old note is there: %v", err)
	}
}
