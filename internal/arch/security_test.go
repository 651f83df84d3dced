package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	promise = regexp.MustCompile(`^\| (.+?) \| (.+) \|$`)
	holder  = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9_]+)`")
)

// TestPromisesAreHeld reads what SECURITY.md promises: each promise names tests that hold it, and they exist.
func TestPromisesAreHeld(t *testing.T) {
	b, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(b), "| promise | held by |\n|---|---|\n")
	if !ok {
		t.Fatal("SECURITY.md has no table of promises")
	}
	promises := 0
	for line := range strings.Lines(table) {
		m := promise.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			if strings.HasPrefix(line, "|") {
				t.Errorf("not a promise and what holds it: %s", line)
			}
			continue
		}
		promises++
		tests := holder.FindAllStringSubmatch(m[2], -1)
		if len(tests) == 0 {
			t.Errorf("no test holds: %s", m[1])
		}
		for _, h := range tests {
			if !hasTest(t, h[1], h[2]) {
				t.Errorf("%q is held by %s.%s, which does not exist", m[1], h[1], h[2])
			}
		}
	}
	if promises == 0 {
		t.Error("SECURITY.md promises nothing")
	}
}

// TestThreatsAreMet reads the threat model: the tests that it names exist, and each way of an attack names one or says in
// bold that nothing stops it.
func TestThreatsAreMet(t *testing.T) {
	b, err := os.ReadFile("../../docs/reference/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	ways, inTable := 0, false
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
			continue
		case strings.HasPrefix(line, "|---"):
			continue
		case len(cells) == 3 && strings.TrimSpace(cells[2]) == "test":
			inTable = true
			continue
		case !inTable:
			continue
		}
		ways++
		tests := holder.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 && !strings.Contains(line, "**not stopped") && !strings.Contains(line, "sends nothing") {
			t.Errorf("neither a test nor what is not promised: %s", line)
		}
		for _, h := range tests {
			if !hasTest(t, h[1], h[2]) {
				t.Errorf("%s.%s does not exist", h[1], h[2])
			}
		}
	}
	if ways < 40 {
		t.Errorf("only %d ways of attacks are read", ways)
	}
}

// hasTest reports whether the package in a folder has a test of a name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
