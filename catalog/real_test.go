package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/store"
	"tooldex/tool"
)

// realFiles returns the dumps of real servers, or skips where they are absent.
func realFiles(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv("TOOLDEX_DATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	files, err := filepath.Glob(filepath.Join(dir, "catalogue", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("no real catalogue: set TOOLDEX_DATA to the folder that holds catalogue/*.json")
	}
	return files
}

func readAll(t testing.TB, files []string) []sources.Source {
	t.Helper()
	var out []sources.Source
	for _, f := range files {
		c, err := sources.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.Sources...)
	}
	return out
}

func TestRealDumps(t *testing.T) {
	files := realFiles(t)
	ctx := context.Background()
	dir := t.TempDir()
	c := openCatalog(t, dir, newTextIndex())
	added := 0
	for _, r := range mustSync(t, c, readAll(t, files)...) {
		added += len(r.Added)
		for _, f := range r.Findings {
			if f.Refused {
				t.Errorf("a real tool is refused: %s", f)
			}
		}
	}
	if len(files) != 33 || added != 1165 {
		t.Errorf("%d tools of %d servers, want 1165 of 33", added, len(files))
	}
	// The same through encoding/json, which keeps the bytes of a RawMessage that it decodes.
	stored := openCatalog(t, dir, newTextIndex()).Set()
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var dump struct{ Tools []*tool.Tool }
		if err := json.Unmarshal(data, &dump); err != nil {
			t.Fatal(err)
		}
		for _, want := range dump.Tools {
			got, ok := stored.Get(tool.MakeID(strings.TrimSuffix(filepath.Base(f), ".json"), want.Name))
			if !ok {
				t.Fatalf("%s of %s is missing", want.Name, f)
			}
			if !bytes.Equal(got.InputSchema, want.InputSchema) || !bytes.Equal(got.OutputSchema, want.OutputSchema) ||
				!bytes.Equal(got.Meta, want.Meta) {
				t.Errorf("%s: a schema changed its bytes", got.ID())
			}
			if got.Title != want.Title || diff(want.Annotations, got.Annotations) != "" {
				t.Errorf("%s: read otherwise than encoding/json reads it", got.ID())
			}
			if err := sanitize.CheckSummary(got.ID(), got.Summary); err != nil || want.Description != "" &&
				got.Summary == "" {
				t.Errorf("%s: summary %q, %v", got.ID(), got.Summary, err)
			}
		}
	}
	gen, err := c.o.Store.Generation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	unchanged := 0
	for _, r := range mustSync(t, c, readAll(t, files)...) {
		unchanged += r.Unchanged
	}
	if now, err := c.o.Store.Generation(ctx); err != nil || now != gen || unchanged != 1165 {
		t.Errorf("imported again: %d unchanged, generation %d after %d, %v", unchanged, now, gen, err)
	}
	// Without digests, as from a live server, every tool is compared, and nothing is written either.
	var live []sources.Source
	for _, s := range readAll(t, files) {
		tools, err := s.Tools(ctx)
		if err != nil {
			t.Fatal(err)
		}
		live = append(live, &fake{name: s.Name(), tools: tools})
	}
	unchanged = 0
	for _, r := range mustSync(t, c, live...) {
		unchanged += r.Unchanged
	}
	if unchanged != 1165 {
		t.Errorf("compared one by one: %d unchanged", unchanged)
	}
}

// BenchmarkImportCold reads the real dumps and stores them, without an index.
func BenchmarkImportCold(b *testing.B) {
	files := realFiles(b)
	b.ReportAllocs()
	for b.Loop() {
		s, err := store.Open(b.TempDir(), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		c, err := Open(context.Background(), Options{Store: s})
		if err != nil {
			b.Fatal(err)
		}
		mustSync(b, c, readAll(b, files)...)
	}
}

// BenchmarkImportUnchanged reads the real dumps again, in a process of its own each time.
func BenchmarkImportUnchanged(b *testing.B) {
	files := realFiles(b)
	dir := b.TempDir()
	mustSync(b, openCatalog(b, dir, noIndex{}), readAll(b, files)...)
	b.ReportAllocs()
	for b.Loop() {
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		c, err := Open(context.Background(), Options{Store: s})
		if err != nil {
			b.Fatal(err)
		}
		mustSync(b, c, readAll(b, files)...)
	}
}

// BenchmarkOpen makes the stored real catalogue ready, without an index.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	mustSync(b, openCatalog(b, dir, noIndex{}), readAll(b, realFiles(b))...)
	b.ReportAllocs()
	for b.Loop() {
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Open(context.Background(), Options{Store: s}); err != nil {
			b.Fatal(err)
		}
	}
}
