package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"tooldex/config"
)

var update = flag.Bool("update", false, "write the golden files")

// TestSchemaIsPublished holds the schema in the documents to the one of the program.
func TestSchemaIsPublished(t *testing.T) {
	var b bytes.Buffer
	if err := writeJSON(&b, config.Schema()); err != nil {
		t.Fatal(err)
	}
	const file = "../../docs/reference/tooldex.schema.json"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("go test ./cmd/tooldex -run Schema -update writes it anew (-published +now):\n%s", diff)
	}
}

// TestSettingsAreComplete wants every flag that configures something, and every variable of the environment that is
// read, among the settings, so that the file can say the same.
func TestSettingsAreComplete(t *testing.T) {
	flags, variables := map[string]bool{}, map[string]bool{config.Variable: true}
	for _, s := range config.Settings() {
		flags[s.Flag], variables[s.Env] = true, true
	}
	a := &app{getenv: func(string) string { return "" }}
	root := newRoot(a)
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	only := []string{"config", "demo", "stdio", "listen"} // what to do now, not how things are
	for _, set := range []*pflag.FlagSet{root.PersistentFlags(), serve.Flags()} {
		set.VisitAll(func(f *pflag.Flag) {
			if !flags[f.Name] && !slices.Contains(only, f.Name) && f.Name != "help" {
				t.Errorf("the flag --%s is no setting", f.Name)
			}
		})
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := regexp.MustCompile(`"(TOOLDEX_[A-Z_]+)"`)
	for _, source := range sources {
		b, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range read.FindAllStringSubmatch(string(b), -1) {
			if !variables[m[1]] && !strings.HasSuffix(source, "_test.go") {
				t.Errorf("%s: the variable %s is no setting", source, m[1])
			}
		}
	}
}
