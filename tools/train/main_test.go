package main

import (
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

// TestTellsTheTable evaluates without data, so that it ends after telling which table it is.
func TestTellsTheTable(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"-eval", "-knowledge", t.TempDir(), "-out", "../../embed/table.bin"}, &out)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	s, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if want := "fingerprint " + s.Model().Fingerprint; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in %q", want, &out)
	}
}
