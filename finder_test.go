package tooldex_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex"
	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/tool"
)

var _ tool.Searcher = (*tooldex.Finder)(nil)

const (
	notes = `{"tools": [
		{"name": "add_note", "description": "Writes a note down at the end of the notebook.", "inputSchema": {"type": "object"}},
		{"name": "drop_note", "description": "Removes a note from the notebook.", "inputSchema": {"type": "object"}}]}`
	overlay = "overlay:\n  notes/add_note:\n    synonyms: [zettel]\n  notes/drop_note:\n    enabled: false\n"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func find(t *testing.T, f *tooldex.Finder, text string) []tool.ID {
	t.Helper()
	r, err := f.Search(context.Background(), tool.Query{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	out := []tool.ID{}
	for _, h := range r.Tools {
		out = append(out, h.ID)
	}
	return out
}

func TestOpenErrors(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	file := write(t, "file", "")
	for name, c := range map[string]struct {
		ctx  context.Context
		o    tooldex.Options
		want tool.Code
		says string
	}{
		"no such file": {
			nil,
			tooldex.Options{Files: []string{"nowhere.json"}},
			tool.Invalid,
			"cannot read nowhere.json",
		},
		"no tools in it": {nil, tooldex.Options{Files: []string{file}}, tool.Invalid, "the file is empty"},
		"servers, not tools": {nil, tooldex.Options{Files: []string{write(t, "m.json",
			`{"mcpServers": {"a": {"command": "x"}}}`)}}, tool.Invalid, "holds servers"},
		"a directory that is a file": {nil, tooldex.Options{Dir: file}, tool.Internal, ""},
		"no time": {
			ended,
			tooldex.Options{Files: []string{write(t, "notes.json", notes)}},
			tool.Timeout, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			t.Setenv("TMPDIR", t.TempDir())
			f, err := tooldex.Open(c.ctx, c.o)
			if f != nil || err == nil || tool.CodeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, %v; want %v that says %q", f, err, c.want, c.says)
			}
			left, err := os.ReadDir(os.Getenv("TMPDIR"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestOwnTools has a program offer tools of its own: they are found, stay as the program wrote them, and replace those
// that were stored before.
func TestOwnTools(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	refund := &tool.Tool{Name: "refund_payment", Description: "Give a customer the money of an order back.\x00"}
	stock := &tool.Tool{Server: "shop", Name: "count_stock", Description: "Count what lies in the warehouse."}
	before := *refund
	f, err := tooldex.Open(ctx, tooldex.Options{Dir: dir, Tools: []*tool.Tool{refund, stock}})
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, f, "pay the money back"); len(got) == 0 || got[0] != "own/refund_payment" {
		t.Errorf("found: %v", got)
	}
	if got := find(t, f, "how much is in the warehouse"); len(got) == 0 || got[0] != "shop/count_stock" {
		t.Errorf("found: %v", got)
	}
	if diff := cmp.Diff(&before, refund); diff != "" {
		t.Errorf("the program's tool was changed (-want +got):\n%s", diff)
	}
	later, err := tooldex.Open(ctx, tooldex.Options{Dir: dir, Tools: []*tool.Tool{{Name: "greet", Description: "Say hello."}}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []tool.ID
	for _, one := range later.Catalog.Set().All() {
		ids = append(ids, one.ID())
	}
	if diff := cmp.Diff([]tool.ID{"own/greet", "shop/count_stock"}, ids); diff != "" {
		t.Errorf("in the next run (-want +got):\n%s", diff)
	}
	for name, bad := range map[string]*tool.Tool{"nil": nil, "without a name": {Description: "Nothing."}} {
		if _, err := tooldex.Open(ctx, tooldex.Options{Tools: []*tool.Tool{stock, bad}}); tool.CodeOf(err) != tool.Invalid ||
			!strings.Contains(err.Error(), "tool 2 of Options.Tools") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTemporary wants nothing to stay of a Finder without a directory.
func TestTemporary(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := tooldex.Open(context.Background(), tooldex.Options{Files: []string{
		write(t, "o.yaml", overlay),
		write(t, "notes.json", notes),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tool.ID{"notes/add_note"}, find(t, f, "zettel")); diff != "" {
		t.Errorf("with an overlay that was given before its tools (-want +got):\n%s", diff)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestShared has two Finders of one directory: what one stores the other finds after a Refresh, and a third one at
// once.
func TestShared(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	open := func() *tooldex.Finder {
		t.Helper()
		f, err := tooldex.Open(ctx, tooldex.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one, two := open(), open()
	content, err := sources.Parse("notes.json", []byte(notes))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Catalog.SyncAll(ctx, content.Sources); err != nil {
		t.Fatal(err)
	}
	want := []tool.ID{"notes/add_note", "notes/drop_note"}
	if diff := cmp.Diff(want, find(t, one, "write a note down")); diff != "" {
		t.Errorf("where it was stored (-want +got):\n%s", diff)
	}
	if got := find(t, two, "write a note down"); len(got) > 0 {
		t.Errorf("before a Refresh: %v", got)
	}
	if changed, err := two.Catalog.Refresh(ctx); !changed || err != nil {
		t.Errorf("Refresh: %v, %v", changed, err)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	for name, f := range map[string]*tooldex.Finder{
		"after a Refresh": two, "after Close": one,
		"opened later": open(),
	} {
		if diff := cmp.Diff(want, find(t, f, "write a note down")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWords has a model that knows nothing: words alone find the tools.
func TestWords(t *testing.T) {
	f, err := tooldex.Open(context.Background(), tooldex.Options{
		Files: []string{write(t, "notes.json", notes)},
		Model: &catalog.Model{},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if diff := cmp.Diff([]tool.ID{"notes/add_note"}, find(t, f, "writes")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAtOnce searches while tools come and go; each answer is one of a whole state.
func TestAtOnce(t *testing.T) {
	ctx := context.Background()
	f, err := tooldex.Open(ctx, tooldex.Options{Files: []string{write(t, "notes.json", notes)}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	more, err := sources.Parse("memo.json", []byte(strings.ReplaceAll(notes, "note", "memo")))
	if err != nil {
		t.Fatal(err)
	}
	var tasks sync.WaitGroup
	for range 4 {
		tasks.Go(func() {
			for range 20 {
				if r, err := f.Search(ctx, tool.Query{Text: "write it down"}); err != nil || len(r.Tools) != 2 &&
					len(r.Tools) != 4 {
					t.Errorf("%v, %v", r, err)
				}
			}
		})
	}
	for range 5 {
		if _, err := f.Catalog.SyncAll(ctx, more.Sources); err != nil {
			t.Error(err)
		}
		if _, err := f.Catalog.Remove(ctx, "memo"); err != nil {
			t.Error(err)
		}
	}
	tasks.Wait()
}
