package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The official conformance suite, in the version for each generation of the protocol.
var suites = []struct {
	name, pkg string
	args      []string
	stateless bool // how the fixtures are to be served for this suite
}{
	{"2025-11-25", "@modelcontextprotocol/conformance@0.1.16", []string{"--spec-version", "2025-11-25"}, false},
	{"2026-07-28", "@modelcontextprotocol/conformance@0.2.0-alpha.12", []string{"--requirements", "2026-07-28"}, true},
}

// conformanceModes lists for each mode what may fail that does not fail when the suite tests the server behind
// directly, and why.
var conformanceModes = map[string]map[string]string{
	"full":    {},
	"auto":    {}, // the fixtures are few enough to be listed in full
	"search":  {schemaScenario: notListed, headerScenario: notShown},
	"dynamic": {schemaScenario: notListed, headerScenario: notShown}, // there are no sessions that could enable them
	"lazy": {
		schemaScenario: "the fixture's tool is listed as a stub, whose schema tools/describe tells",
		headerScenario: notShown,
	},
}

const (
	schemaScenario = "json-schema-2020-12"
	notListed      = "it looks for the fixture's tool in tools/list, which does not hold it"
	headerScenario = "http-custom-header-server-validation"
	notShown       = "it calls a tool whose schema was not listed: who has not seen that cannot know of its headers"
)

// TestConformance runs the suites against the command in front of the SDK's own server for them. What that server fails
// by itself may fail, and so may what the mode's line allows, and nothing else.
func TestConformance(t *testing.T) {
	t.Parallel()
	withNpx(t)
	fixtures := buildFixtures(t)
	for _, suite := range suites {
		t.Run(suite.name, func(t *testing.T) {
			t.Parallel()
			directly := conform(t, suite.pkg, serveFixtures(t, fixtures, suite.stateless), suite.args...)
			for _, mode := range slices.Sorted(maps.Keys(conformanceModes)) {
				t.Run(mode, func(t *testing.T) {
					data := t.TempDir()
					runCommand(t, data, "import",
						writeServers(t, map[string]any{"fixtures": map[string]any{"command": fixtures, "roots": true}}))
					got := conform(t, suite.pkg, serveHTTP(t, data, "--mode", mode)+"/mcp", suite.args...)
					for scenario, line := range got {
						if !failed(line) || failed(directly[scenario]) || conformanceModes[mode][scenario] != "" {
							continue
						}
						t.Errorf("%s: %s; directly: %s", scenario, line, directly[scenario])
					}
					if len(got) < len(directly) {
						t.Errorf("%d scenarios were run, and %d directly", len(got), len(directly))
					}
				})
			}
		})
	}
}

func failed(line string) bool { return !strings.HasSuffix(line, " 0 failed") }

// resultLine is how the suites sum up a scenario: "✓ ping: 1 passed, 0 failed".
var resultLine = regexp.MustCompile(`(?m)^[✓✗] ([a-z0-9-]+): (\d+ passed, \d+ failed)`)

// conform runs a suite and returns what it says of each scenario.
func conform(t *testing.T, pkg, url string, args ...string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*wait)
	defer cancel()
	cmd := modernNode(t, ctx, pkg, "conformance", append([]string{"server", "--url", url}, args...)...)
	cmd.Dir = t.TempDir() // where it leaves files
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run the suite: %v", err)
	}
	results := map[string]string{}
	for _, m := range resultLine.FindAllStringSubmatch(string(out), -1) {
		results[m[1]] = m[2]
	}
	if len(results) < 20 {
		t.Fatalf("the suite says\n%s", out)
	}
	return results
}

// buildFixtures builds the server that the SDK has for the suites.
func buildFixtures(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "fixtures")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin,
		"github.com/modelcontextprotocol/go-sdk/conformance/everything-server").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// serveFixtures runs that server by itself, and returns its address.
func serveFixtures(t *testing.T, bin string, stateless bool) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String() // it wants to be told an address, and does not tell which it took
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-http", addr, fmt.Sprintf("-stateless=%v", stateless))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // with the error of having been killed
	})
	url := "http://" + addr
	for deadline := time.Now().Add(wait); ; {
		res, err := http.Get(url)
		if err == nil {
			_ = res.Body.Close()
			return url
		}
		if time.Now().After(deadline) {
			t.Fatalf("the fixtures are not served: %v", err)
		}
	}
}
