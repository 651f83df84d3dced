package catalog

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/store"
	"tooldex/tool"
)

// TestTextMover moves tools out of memory: they stay equal, to their hash. Where no file can be made they stay where they
// are, with a line in the log.
func TestTextMover(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	a := textMover{path: filepath.Join(dir, "x"), log: slog.New(slog.NewTextHandler(&log, nil))}
	broken := textMover{path: filepath.Join(dir, "none", "x"), log: a.log}
	for _, one := range []*textMover{&a, &a, &broken} {
		var records []store.Record
		for _, full := range fullTools("s") {
			records = append(records, store.Record{Tool: full, Hash: full.Hash()})
		}
		one.moveTools(records)
		for i, full := range fullTools("s") {
			if d := diff(full, records[i].Tool); d != "" || records[i].Tool.Hash() != records[i].Hash {
				t.Errorf("a moved tool (-want +got):\n%s", d)
			}
		}
		if one != &broken && log.Len() > 0 {
			t.Error(log.String())
		}
	}
	if log.Len() == 0 || !broken.off {
		t.Error("nothing says that tools stay in memory")
	}
}

// TestMovedTextsImport imports in several steps, and again with changes, as a program that only imports: what others then
// load is what the sources offer.
func TestMovedTextsImport(t *testing.T) {
	dir := t.TempDir()
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	offer := func(round int) (steps [][]sources.Source) {
		for s := range 3 {
			name := fmt.Sprintf("s%d", s)
			tools := fullTools(name)
			tools[0].Description += fmt.Sprint(round * s)
			steps = append(steps, []sources.Source{&fake{name: name, tools: tools}})
		}
		return steps
	}
	for round := range 2 {
		c, err := Open(context.Background(), Options{Store: openStore(t, dir), Model: m, Slim: true, Images: true})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Import(context.Background(), func(yield func([]sources.Source) bool) {
			for _, step := range offer(round) {
				if !yield(step) {
					return
				}
			}
		}, func(r []Report, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SaveImage(context.Background()); err != nil {
			t.Fatal(err)
		}
		got := imaged(t, dir, c.trust)
		if !got.st.Load().partial {
			t.Error("the image was not used")
		}
		for _, step := range offer(round) {
			for _, want := range step[0].(*fake).tools {
				have, ok := got.Set().Get(want.ID())
				if !ok || have.Description != want.Description || have.Hash() == (tool.Hash{}) {
					t.Errorf("%s is %+v", want.ID(), have)
				}
			}
		}
		for _, path := range images(t, dir) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		sameCatalogue(t, imaged(t, dir, c.trust), got)
	}
}
