package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestIsolatedServer takes a server that runs in bubblewrap through the commands that a person would use.
func TestIsolatedServer(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc",
		"true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap does not run here: %v %s", err, out)
	}
	data := t.TempDir()
	runCommand(t, data, "servers", "add", "--isolate", "nothing", "boxed", "--", upstreamCommand(t))
	if got := runCommand(t, data, "call", "boxed/shout", "text=hey"); got != "HEY\n" {
		t.Errorf("a call gives %q", got)
	}
	if got := runCommand(t, data, "servers", "list"); !strings.Contains(got, "(isolated: bwrap; no network)") {
		t.Errorf("servers list prints %s", got)
	}
	doctor := exec.CommandContext(t.Context(), builtCommand(t), "doctor")
	doctor.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+data, "HOME="+t.TempDir(), "XDG_CONFIG_HOME=")
	if out, err := doctor.CombinedOutput(); err != nil || !strings.Contains(string(out), "runs isolated (bwrap; no network)") {
		t.Errorf("doctor ends with %v and prints %s", err, out)
	}
	home := filepath.Join(data, "upstreams", "homes", "boxed")
	if _, err := os.Stat(home); err != nil {
		t.Error(err)
	}
	runCommand(t, data, "servers", "remove", "boxed")
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("the home of a removed server is still there: %v", err)
	}

	// Where it cannot be isolated, the server is not started, and doctor says what to do.
	doctor = exec.CommandContext(t.Context(), builtCommand(t), "doctor")
	doctor.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+data, "HOME="+t.TempDir(), "XDG_CONFIG_HOME=", "PATH="+t.TempDir())
	runCommand(t, data, "servers", "add", "--no-import", "--isolate", "nothing", "boxed", "--", upstreamCommand(t))
	if out, err := doctor.CombinedOutput(); err == nil || !strings.Contains(string(out), "install bubblewrap") {
		t.Errorf("without bubblewrap doctor ends with %v and prints %s", err, out)
	}
}
