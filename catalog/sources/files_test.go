package sources_test

import (
	"archive/zip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/catalog/sources"
	"tooldex/tool"
)

// write writes files, by their names, into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pack writes an archive of files, by their names.
func pack(t *testing.T, path string, files map[string]string) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(out)
	for name, content := range files {
		e, err := w.Create(name)
		if err == nil {
			_, err = e.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// found reads all files and returns the IDs of their tools, in order.
func found(t *testing.T, f *sources.Files) (ids []tool.ID) {
	t.Helper()
	for _, batch := range f.Batches(1<<20, 3) {
		if len(batch) > 3 {
			t.Errorf("a batch has %d files", len(batch))
		}
		for _, content := range batch {
			if content.Err != nil {
				t.Fatal(content.Err)
			}
			for _, src := range content.Sources {
				tools, err := src.Tools(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				for _, one := range tools {
					ids = append(ids, one.ID())
				}
			}
		}
	}
	return ids
}

const dump = `{"tools":[{"name":"send"},{"name":"read"}]}`

func TestOpenFiles(t *testing.T) {
	dir := write(t, map[string]string{
		"mail.json": dump, "deep/files.json": dump, "README.md": "no tools", ".hidden/x.json": dump, ".y.json": dump,
		"lines.jsonl": `{"name":"a","server":"one"}` + "\n\n" + `{"name":"b"}` + "\n" + `{"name":"c","server":"one"}`,
	})
	pack(t, filepath.Join(dir, "packed.zip"), map[string]string{
		"in/zipped.json": dump, "notes.txt": "", "b.jsonl": `{"name":"d"}`,
	})
	f, err := sources.OpenFiles([]string{filepath.Join(dir, "mail.json"), dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []tool.ID{
		"mail/send", "mail/read",
		"files/send", "files/read", "one/a", "one/c", "lines/b", "mail/send", "mail/read", "b/d", "zipped/send",
		"zipped/read",
	}
	if d := cmp.Diff(want, found(t, f)); d != "" {
		t.Error(d)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenFilesRefuses(t *testing.T) {
	dir := write(t, map[string]string{"empty/README.md": "", "torn.zip": "PK\x03\x04 and no more"})
	pack(t, filepath.Join(dir, "useless.zip"), map[string]string{"a.txt": ""})
	for _, name := range []string{"empty", "torn.zip", "useless.zip"} {
		_, err := sources.OpenFiles([]string{filepath.Join(dir, name)})
		if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error is %v, want one that names it", name, err)
		}
	}
	f, err := sources.OpenFiles([]string{filepath.Join(dir, "missing.json")})
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range f.Batches(1, 1) {
		if tool.CodeOf(batch[0].Err) != tool.Invalid {
			t.Errorf("reading a missing file gives %v", batch[0].Err)
		}
	}
}

// TestLines shows that a line that cannot be read names itself, and that the digest of a server is that of its lines.
func TestLines(t *testing.T) {
	if _, err := sources.Parse("x.jsonl", []byte(`{"name":"a"}`+"\n"+`{"name":`)); err == nil ||
		!strings.Contains(err.Error(), "2") {
		t.Errorf("the error is %v, want one that names line 2", err)
	}
	digests := func(text string) (out [][32]byte) {
		c, err := sources.Parse("x.jsonl", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, src := range c.Sources {
			out = append(out, src.(*sources.File).Digest())
		}
		return out
	}
	before := digests(`{"name":"a","server":"one"}` + "\n" + `{"name":"b","server":"two"}`)
	after := digests(`{"name":"a","server":"one"}` + "\n" + `{"name":"c","server":"two"}`)
	if before[0] != after[0] || before[1] == after[1] {
		t.Error("the digests do not follow the lines of each server")
	}
}
