package main

import (
	"bytes"
	"os"
	"testing"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/knowledge"
)

// TestCompiledIsCurrent fails when the texts or the table have changed since knowledge/base.bin was made.
func TestCompiledIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	src, err := knowledge.ReadSource(os.DirFS("../../knowledge/data"))
	if err != nil {
		t.Fatal(err)
	}
	static, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	want, err := knowledge.Compile(src, catalog.Encoder(static))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../knowledge/base.bin")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("knowledge/base.bin is not what knowledge/data and embed/table.bin give: run make knowledge")
	}
}

func TestRunNamesWhatIsWrong(t *testing.T) {
	if err := run(t.TempDir(), t.TempDir()+"/out.bin"); err == nil {
		t.Error("an empty folder was compiled")
	}
}
