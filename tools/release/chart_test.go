package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is what is looked at of what the chart makes.
type manifest struct {
	Kind string
	Spec struct {
		Replicas int
		Template struct {
			Spec struct {
				SecurityContext struct {
					RunAsNonRoot bool `yaml:"runAsNonRoot"`
				} `yaml:"securityContext"`
				Token      *bool `yaml:"automountServiceAccountToken"`
				Containers []struct {
					Image           string
					Env             []map[string]any
					SecurityContext struct {
						Escalation   *bool `yaml:"allowPrivilegeEscalation"`
						ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
						Capabilities struct{ Drop []string }
					} `yaml:"securityContext"`
				}
			}
		}
	}
}

// TestChart has Helm check the chart and make manifests of it: they run without powers that they do not need, have no
// secret in them, and lack nothing that only the user knows without saying so.
func TestChart(t *testing.T) {
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("Helm is not installed: make chart installs it")
	}
	const chart = "../../deploy/helm/tooldex"
	values := []string{"--set", "image=tooldex@sha256:0", "--set", "store=postgres://h/d?tenant=a", "--set", "secret=mine", "--set", "replicas=3"}
	run := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), helm, args...).CombinedOutput()
		return string(out), err
	}
	if out, err := run(append([]string{"lint", "--strict", chart}, values...)...); err != nil {
		t.Errorf("lint: %v\n%s", err, out)
	}
	for i := 0; i < 6; i += 2 { // each of the first three is required
		if out, err := run(append([]string{"template", "t", chart}, slices.Delete(slices.Clone(values), i, i+2)...)...); err == nil ||
			!strings.Contains(out, "give ") {
			t.Errorf("without %s: %v\n%s", values[i+1], err, out)
		}
	}
	out, err := run(append([]string{"template", "t", chart}, values...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkSchemas(t, out)
	var kinds []string
	for all := yaml.NewDecoder(bytes.NewReader([]byte(out))); ; {
		var m manifest
		if err := all.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		kinds = append(kinds, m.Kind)
		if m.Kind != "StatefulSet" {
			continue
		}
		pod := m.Spec.Template.Spec
		if m.Spec.Replicas != 3 || !pod.SecurityContext.RunAsNonRoot || pod.Token == nil || *pod.Token || len(pod.Containers) != 1 {
			t.Errorf("the pods: %+v", m.Spec)
			continue
		}
		c := pod.Containers[0]
		if s := c.SecurityContext; s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
			t.Errorf("the container keeps powers: %+v", s)
		}
		for _, e := range c.Env {
			if secret := e["name"] == "TOOLDEX_TOKEN" || e["name"] == "PGPASSWORD"; secret && (e["value"] != nil || e["valueFrom"] == nil) {
				t.Errorf("a secret stands in the manifest: %v", e)
			}
		}
	}
	slices.Sort(kinds)
	if want := []string{"PodDisruptionBudget", "Service", "Service", "StatefulSet"}; !slices.Equal(kinds, want) {
		t.Errorf("made %q, want %q", kinds, want)
	}
}

// checkSchemas has kubectl-validate check manifests by the schemas of two releases of Kubernetes that it carries. A
// field that does not exist must be refused.
func checkSchemas(t *testing.T, manifests string) {
	t.Helper()
	validate, err := exec.LookPath("kubectl-validate")
	if err != nil {
		t.Fatal("kubectl-validate is not installed: make chart installs it")
	}
	for name, m := range map[string]struct {
		text string
		bad  bool
	}{
		"as made":       {manifests, false},
		"unknown field": {strings.Replace(manifests, "replicas:", "replicants:", 1), true},
	} {
		file := filepath.Join(t.TempDir(), "all.yaml")
		if err := os.WriteFile(file, []byte(m.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, version := range []string{"1.27", "1.30"} {
			out, err := exec.CommandContext(t.Context(), validate, "--version", version, file).CombinedOutput()
			if (err != nil) != m.bad {
				t.Errorf("%s, Kubernetes %s: %v\n%s", name, version, err, out)
			}
		}
	}
}
