package service

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
	"tooldex/tool"

	"github.com/google/go-cmp/cmp"
)

func TestStatusOfSeveralProcesses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, age time.Duration, list ...tool.Status) {
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
	write("1.json", 0, tool.Status{Server: "a", State: tool.Running}, tool.Status{
		Server: "b", State: tool.Failed,
		Error: "no",
	}, tool.Status{Server: "c", State: tool.Known})
	write("2.json", 0, tool.Status{Server: "a", State: tool.Failed, Error: "no"},
		tool.Status{Server: "b", State: tool.Configured}, tool.Status{Server: "c", State: tool.Configured})
	write("3.json", time.Hour, tool.Status{Server: "b", State: tool.Running})
	want := map[string]tool.Status{
		"a": {Server: "a", State: tool.Running}, "b": {Server: "b", State: tool.Failed, Error: "no"},
		"c": {Server: "c", State: tool.Known},
	}
	if diff := cmp.Diff(want, ReadStatusNotes(dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "3.json")); !os.IsNotExist(err) {
		t.Errorf("the old note is there: %v", err)
	}
}
