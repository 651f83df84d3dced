package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/access"
	"tooldex/config"
	"tooldex/eval"
	"tooldex/tool"
)

// laughs is a few lines of YAML that stand for 9^9 texts under a key.
func laughs(key string) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [lol]\n")
	for i := range 9 {
		b.WriteString(strings.NewReplacer("N", string(rune('1'+i)), "P",
			string(rune('0'+i))).Replace("aN: &aN [*aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP]\n"))
	}
	return b.String() + key + ": *a9\n"
}

// TestFilesThatGrow reads files that are short and stand for very much.
func TestFilesThatGrow(t *testing.T) {
	write := func(name, text string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, read := range map[string]func() error{
		"configuration": func() error {
			_, err := config.Load(config.Options{Path: write("tooldex.yaml", laughs("serve"))})
			return err
		},
		"tokens": func() error {
			_, err := access.ParseTokens([]byte(laughs("tokens")))
			return err
		},
		"profiles": func() error {
			_, err := config.Load(config.Options{NoFile: true, Flags: map[string]any{"serve.profilesFile": write("profiles.yaml", laughs("profiles"))}})
			return err
		},
		"labelled requests": func() error {
			_, err := eval.LoadCases(write("cases.yaml", laughs("queries")), tool.NewSet(nil, ""))
			return err
		},
		"configuration, deep": func() error {
			_, err := config.Load(config.Options{Path: write("tooldex.yaml", "serve: "+strings.Repeat("[", 100_000))})
			return err
		},
		"profiles, deep": func() error {
			_, err := config.Load(config.Options{NoFile: true, Flags: map[string]any{"serve.profilesFile": write("profiles.yaml", strings.Repeat("{a: ", 100_000))}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := read(); err == nil {
				t.Error("it is read")
			}
		})
	}
}

// TestFilesWithoutEnd reads what is no file that a person wrote.
func TestFilesWithoutEnd(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip("there is no endless file here")
	}
	if _, err := readSmall(endless); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("a file without end is read: %v", err)
	}
	if _, err := config.Load(config.Options{NoFile: true, Flags: map[string]any{"serve.profilesFile": endless}}); err == nil {
		t.Error("profiles without end are read")
	}
}
