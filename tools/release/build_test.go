package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEnvironment: nothing that a machine says changes the bits.
func TestEnvironment(t *testing.T) {
	got := environment([]string{
		"PATH=/bin", "HOME=/root", "GOPROXY=off", "GOCACHE=/c", "GOMODCACHE=/m",
		"GOFLAGS=-race", "GOAMD64=v3", "GOARM64=v9.0", "GOEXPERIMENT=x", "CGO_ENABLED=1", "CGO_CFLAGS=-O0",
		"GOOS=plan9", "GOARCH=386", "GOWORK=/w", "GODEBUG=a=1",
	}, platform{"linux", "arm64"})
	for _, kept := range []string{"PATH=/bin", "HOME=/root", "GOPROXY=off", "GOCACHE=/c", "GOMODCACHE=/m"} {
		if !slices.Contains(got, kept) {
			t.Errorf("%s is gone", kept)
		}
	}
	last := map[string]string{} // what counts for a process
	for _, kv := range got {
		name, value, _ := strings.Cut(kv, "=")
		last[name] = value
	}
	for name, want := range map[string]string{
		"GOFLAGS": "", "GOAMD64": "v1", "GOARM64": "v8.0", "GOEXPERIMENT": "", "CGO_ENABLED": "0", "CGO_CFLAGS": "",
		"GOOS": "linux", "GOARCH": "arm64", "GOWORK": "off", "GODEBUG": "",
	} {
		if last[name] != want {
			t.Errorf("%s is %q, want %q", name, last[name], want)
		}
	}
}

func TestParsePlatform(t *testing.T) {
	for text, want := range map[string]platform{
		"": host(), "/": host(), "linux/arm64": {"linux", "arm64"}, "windows/": {"windows", host().arch},
		"/arm64": {host().os, "arm64"},
	} {
		if got, err := parsePlatform(text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"linux", "linux/arm/v7"} {
		if got, err := parsePlatform(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	if got := (platform{"windows", "arm64"}).program(); got != "tooldex.exe" {
		t.Errorf("the program is called %s", got)
	}
}

func TestMoment(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1750000000")
	if got, err := (source{dir: top}).moment(t.Context()); err != nil || !got.Equal(time.Unix(1_750_000_000, 0)) {
		t.Errorf("%v, %v", got, err)
	}
	for _, wrong := range []string{"-1", "today"} {
		t.Setenv("SOURCE_DATE_EPOCH", wrong)
		if got, err := (source{dir: top}).moment(t.Context()); err == nil {
			t.Errorf("%s is %v", wrong, got)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	if _, err := (source{dir: t.TempDir()}).moment(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("outside of a repository: %v", err)
	}
}

func TestDiffer(t *testing.T) {
	const a = "11  x.tar.gz\n22  y.zip\n"
	if err := differ(a, a); err != nil {
		t.Error(err)
	}
	if err := differ(a, strings.Replace(a, "22", "33", 1)); err == nil || !strings.Contains(err.Error(),
		"differs from the first: y.zip\n") {
		t.Errorf("got %v", err)
	}
}

func TestSums(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b": "2", "a": "1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, sums))
	const want = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b  a\nd4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35  b\n"
	if err != nil || string(got) != want {
		t.Errorf("%s%v", got, err)
	}
}

func TestRunRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"nothing":               nil,
		"an unknown verb":       {"rocket"},
		"two words":             {"binary", "-version", "v1 -X main.version=v2"},
		"no platform":           {"binary", "-platform", "linux"},
		"no program":            {"sbom"},
		"a program of others":   {"sbom", "/bin/true"},
		"a folder that is full": {"archives", "-o", full},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(t.Context(), io.Discard, args); err == nil {
				t.Error("was done")
			}
		})
	}
}

// TestContents: whoever unpacks an archive has the program, its licence, and those of all that is in it.
func TestContents(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("the program"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := source{dir: top}
	for p, want := range map[platform]string{
		{"linux", "amd64"}:   "CHANGELOG.md LICENSE NOTICE README.md THIRD_PARTY tooldex tooldex.service",
		{"windows", "arm64"}: "CHANGELOG.md LICENSE NOTICE README.md THIRD_PARTY tooldex.exe",
	} {
		files, err := s.contents(t.Context(), p, program)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.name)
			if strings.HasPrefix(f.name, "tooldex") && !strings.HasSuffix(f.name, ".service") &&
				(f.mode != 0o755 || !bytes.Equal(f.data, []byte("the program"))) {
				t.Errorf("%s has the mode %s", f.name, f.mode)
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("for %s: %s, want %s", p, got, want)
		}
	}
}
