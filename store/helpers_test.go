package store

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/tool"
)

var update = flag.Bool("update", false, "write the fixtures under testdata anew")

// open opens a store that is checked for consistency when the test ends.
func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		s.fault = nil
		if err := s.Check(context.Background()); err != nil {
			t.Errorf("the store is not consistent at the end of the test: %v", err)
		}
	})
	return s
}

func load(t testing.TB, s *Store, v View) *Snapshot {
	t.Helper()
	snap, err := s.Load(context.Background(), v)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return snap
}

func write(t testing.TB, s *Store, b *Batch) uint64 {
	t.Helper()
	gen, err := s.Write(context.Background(), b)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return gen
}

// record makes a record all of whose fields are set, different for each n.
func record(n int) Record {
	yes, no := true, false
	t := &tool.Tool{
		Server: "files", Name: fmt.Sprintf("read_%04d", n), Title: "Read", Summary: "Read a file",
		Description: fmt.Sprintf("Read file number %d.\n\nWith <tags> & \"quotes\".", n), Category: "disk",
		Keywords: []string{"file", ""}, Synonyms: []string{"cat"},
		Examples: []tool.Example{{
			Description: "one", Invocation: json.RawMessage(`{ "path":  "/a<b>" }`),
			Output: "text",
		}, {}},
		Utterances: []tool.Utterance{{Text: "show me the file", From: tool.Learned}, {Text: "open it"}},
		// Blanks, escapes and numbers that json.Marshal would not give back as they are.
		InputSchema:  json.RawMessage("{ \"type\" : \"object\",\n\t\"a<b>&\": 1.0e2, \"big\": 123456789012345678901234567890 }"),
		OutputSchema: json.RawMessage(`{"type":"object"} `),
		Annotations:  &tool.Annotations{Title: "T", ReadOnlyHint: &yes, DestructiveHint: &no},
		Meta:         json.RawMessage(`{"k": [1, 2]}`), Icons: json.RawMessage(`[]`),
		Related: []tool.ID{"files/write"}, Disabled: n%2 == 0, Deprecated: "use other", Always: n%3 == 0,
	}
	at := time.Date(2026, 11, 5, 10, 0, 0, n%1000*1e6, time.UTC)
	return Record{Tool: t, Source: "files", Hash: t.Hash(), First: at, Changed: at.Add(time.Hour)}
}

func records(from, to int) []Record {
	var out []Record
	for n := from; n < to; n++ {
		out = append(out, record(n))
	}
	return out
}

func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

// image returns the file's bytes.
func image(t testing.TB, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withImage makes a directory whose store file has these bytes.
func withImage(t testing.TB, b []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), bytes.Clone(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
