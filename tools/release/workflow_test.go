package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestReleaseWorkflow wants a release to be checked for known vulnerabilities, and its files to be signed before they are
// published.
func TestReleaseWorkflow(t *testing.T) {
	b, err := os.ReadFile("../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Permissions map[string]string
			Steps       []struct {
				Uses, Run string
				With, Env map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(b, &workflow); err != nil {
		t.Fatal(err)
	}
	job := workflow.Jobs["build"]
	for _, may := range []string{"id-token", "attestations"} {
		if job.Permissions[may] != "write" {
			t.Errorf("the job may not write %s, so nothing can be signed", may)
		}
	}
	var did []string
	for _, step := range job.Steps {
		switch {
		case strings.HasPrefix(step.Run, "make vuln release ") && step.Env["VULN_REQUIRED"] != "":
			did = append(did, "checked and built")
		case strings.HasPrefix(step.Uses, "actions/attest-build-provenance@") && step.With["subject-checksums"] == "dist/"+sums:
			did = append(did, "signed")
		case strings.HasPrefix(step.Run, "gh release create "):
			did = append(did, "published")
		}
	}
	if got, want := strings.Join(did, ", "), "checked and built, signed, published"; got != want {
		t.Errorf("a release is %q, and not %q", got, want)
	}
}

// TestUncheckedRelease has the database of vulnerabilities out of reach: make vuln says that nothing was checked, and
// fails where VULN_REQUIRED is set.
func TestUncheckedRelease(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell: ", err)
	}
	command := func(says string) string {
		file := filepath.Join(t.TempDir(), "go")
		if err := os.WriteFile(file, []byte("#!/bin/sh\necho '"+says+"'\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	away := `govulncheck: fetching vulnerabilities: Get "https://vuln.go.dev/index/modules.json.gz": dial tcp: lookup vuln.go.dev: no such host`
	for _, tt := range []struct {
		name, says, required, want string
		fails                      bool
	}{
		{"out of reach", away, "", "SKIPPED", false},
		{"out of reach in a release", away, "1", "FAILED", true},
		{"a vulnerability", "Vulnerability #1: GO-2026-0001", "", "GO-2026-0001", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "sh", "../vuln.sh")
			cmd.Env = append(os.Environ(), "GO="+command(tt.says), "VULN_REQUIRED="+tt.required)
			out, err := cmd.CombinedOutput()
			if (err != nil) != tt.fails || !strings.Contains(string(out), tt.want) {
				t.Errorf("it ends with %v and prints %s", err, out)
			}
		})
	}
}
