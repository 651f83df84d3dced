package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/embed"
)

func TestRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		want error
	}{
		{"no such table", []string{"-eval", "-out", empty + "x"}, os.ErrNotExist},
		{"no table", []string{"-eval", "-out", empty}, embed.ErrTable},
		{"no data", []string{"-data", empty + "x", "-knowledge", empty + "x", "-out", empty}, os.ErrNotExist},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), test.args, &out); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
	if err := run(t.Context(), []string{"-steps", "many"}, &strings.Builder{}); err == nil {
		t.Error("a number of steps in words was taken")
	}
}

// TestEvaluatesTheBuiltInTable checks that the command tells the figures of docs/model-card.md; quality is not for it to judge.
func TestEvaluatesTheBuiltInTable(t *testing.T) {
	data := cmp.Or(os.Getenv("TOOLDEX_DATA"), "../../../shared/data")
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no data for training and measuring: %v", err)
	}
	knowledge := "../../knowledge/data"
	if _, err := os.Stat(filepath.Join(knowledge, "archetypes")); err != nil {
		t.Skipf("no knowledge base: %v", err)
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"-eval", "-data", data, "-knowledge", knowledge, "-out", "../../embed/table.bin"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fingerprint", "archetype utterances held out", "metatool_single tools held out", "little_known paraphrase"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line says %q:\n%s", want, &out)
		}
	}
}
