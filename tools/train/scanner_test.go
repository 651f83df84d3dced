package main

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestScannerWeightsAreCurrent wants the weights that the examples and the data give.
func TestScannerWeightsAreCurrent(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" { // other processors round sums of products otherwise
		t.Skip("trains four models")
	}
	data := cmp.Or(os.Getenv("TOOLDEX_DATA"), filepath.Join("..", "..", "..", "shared", "data"))
	if _, err := os.Stat(data); err != nil {
		t.Skip("no data: set TOOLDEX_DATA")
	}
	file := filepath.Join(t.TempDir(), "weights.bin")
	var out strings.Builder
	if err := run(t.Context(), []string{
		"-data", data, "-examples", "../../scan/examples", "-knowledge",
		"../../knowledge/data", "-scanner", file,
	}, &out); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../scan/weights.bin")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, have) {
		t.Error(`scan/weights.bin is old: "make train-scanner" makes it anew`)
	}
	if n := strings.Count(out.String(), "%"); n < 10 {
		t.Errorf("it tells too little of what the weights find:\n%s", out.String())
	}
}

// TestScannerRefuses names what is missing or wrong.
func TestScannerRefuses(t *testing.T) {
	empty, bad := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bad, "a.jsonl"), []byte("{\"text\":\"a\"}\nno JSON\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ examples, says string }{
		"no examples":      {empty, "no examples in"},
		"a broken one":     {bad, "a.jsonl:2"},
		"no tools in data": {"../../scan/examples", "no tools in"},
		"no such folder":   {filepath.Join(empty, "none"), "no examples in"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "weights.bin")
			err := run(t.Context(), []string{"-data", empty, "-examples", c.examples, "-scanner", file},
				&strings.Builder{})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a file was written: %v", err)
			}
		})
	}
}
