package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestUnit has systemd read the unit and judge what it may do: 0 is nothing, 10 is everything.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not installed: ", err)
	}
	text, err := os.ReadFile("../../deploy/tooldex.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "tooldex.service")
	// which is there
	here := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/tooldex `).ReplaceAll(text,
		[]byte("ExecStart=/bin/true "))
	if err := os.WriteFile(unit, here, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"verify":   {"verify", "--man=no", unit},
		"security": {"security", "--offline=yes", "--threshold=15", "--no-pager", unit}, // tenths
	} {
		out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
		if err != nil || name == "verify" && len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// compose is what is looked at of a compose file.
type compose struct {
	Services map[string]struct {
		Image       string
		Environment map[string]string
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
		SecurityOpt []string `yaml:"security_opt"`
		Tmpfs       []string
		Volumes     []string
		Ports       []string
		Privileged  bool
		Healthcheck struct{ Test []string }
	}
}

// readCompose reads a compose file, and checks that its services run without powers that they do not need.
func readCompose(t *testing.T, file string) compose {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	for name, s := range c.Services {
		if s.Privileged || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt,
			"no-new-privileges:true") || len(s.Healthcheck.Test) == 0 {
			t.Errorf("%s keeps powers, or has no check: %+v", name, s)
		}
	}
	return c
}

// TestComposeReplicas checks the compose file of replicas: only the balancer can be reached, each replica has a data
// directory of its own, no password stands in the file, and the files that it mounts exist.
func TestComposeReplicas(t *testing.T) {
	const folder = "../../deploy/replicas/"
	c := readCompose(t, folder+"compose.yaml")
	own, database, balancer := c.Services["tooldex"], c.Services["postgres"], c.Services["haproxy"]
	if len(own.Ports)+len(database.Ports) > 0 || !slices.Equal(balancer.Ports, []string{"127.0.0.1:8733:8733"}) {
		t.Errorf("it is open: ports %q, %q, %q", own.Ports, database.Ports, balancer.Ports)
	}
	if !own.ReadOnly || len(own.Volumes) > 0 {
		t.Errorf("a replica: read-only %t, volumes %q; a named volume would be shared", own.ReadOnly, own.Volumes)
	}
	for _, needed := range []string{
		own.Environment["TOOLDEX_TOKEN"], own.Environment["PGPASSWORD"],
		database.Environment["POSTGRES_PASSWORD"], database.Image, balancer.Image,
	} {
		if !strings.HasPrefix(needed, "${") || !strings.Contains(needed, ":?") {
			t.Errorf("%q has to be given by the user", needed)
		}
	}
	if store := own.Environment["TOOLDEX_STORE"]; !strings.HasPrefix(store, "postgres://tooldex@postgres/tooldex") {
		t.Errorf("the database is at %q", store)
	}
	for _, volume := range slices.Concat(database.Volumes, balancer.Volumes) {
		if source, _, _ := strings.Cut(volume, ":"); strings.HasPrefix(source, "./") {
			if _, err := os.Stat(folder + source); err != nil {
				t.Error(err)
			}
		}
	}
	if same := readCompose(t, "../../deploy/compose.yaml").Services["tooldex"]; !slices.Equal(own.Healthcheck.Test, same.Healthcheck.Test) {
		t.Errorf("the health check is %q, that of the other file %q", own.Healthcheck.Test, same.Healthcheck.Test)
	}
}

// TestCompose checks that the services of the compose file run without powers that they do not need, and that the
// health check is that of the Dockerfile.
func TestCompose(t *testing.T) {
	c := readCompose(t, "../../deploy/compose.yaml")
	own := c.Services["tooldex"]
	if !own.ReadOnly || len(own.Tmpfs) != 1 || !strings.HasPrefix(own.Tmpfs[0], "/tmp:") ||
		!slices.Equal(own.Volumes, []string{"data:/data"}) {
		t.Errorf("its root: read-only %t, tmpfs %q, volumes %q", own.ReadOnly, own.Tmpfs, own.Volumes)
	}
	if !slices.Equal(own.Ports, []string{"127.0.0.1:8733:8733"}) || !strings.HasPrefix(own.Environment["TOOLDEX_TOKEN"],
		"${TOOLDEX_TOKEN:?") {
		t.Errorf("it is open: ports %q, token %q", own.Ports, own.Environment["TOOLDEX_TOKEN"])
	}
	file, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	checks := regexp.MustCompile(`(?m)^HEALTHCHECK .* CMD (\[.*\])$`).FindAllSubmatch(file, -1)
	if len(checks) != 2 { // of both images
		t.Fatalf("the Dockerfile has %d health checks, want 2", len(checks))
	}
	for _, m := range checks {
		var command []string
		if err := json.Unmarshal(m[1], &command); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(own.Healthcheck.Test, append([]string{"CMD"}, command...)) {
			t.Errorf("the health check of the compose file is %q, that of the Dockerfile %q", own.Healthcheck.Test, command)
		}
	}
}
