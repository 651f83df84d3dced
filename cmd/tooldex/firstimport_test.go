package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFirstImport imports six real servers with an empty cache of npm: it is interrupted while npx installs them, run
// again, and run once more after an installation was damaged.
func TestFirstImport(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the processes of other systems are not listed with their environment")
	}
	npx, folder, cache := withNpx(t), repository(t), t.TempDir()
	all, servers := tenServers(folder), map[string]any{}
	for _, name := range []string{"filesystem", "memory", "everything", "sequential-thinking", "pdf", "system"} {
		s := all[name]
		env := map[string]string{"npm_config_cache": cache}
		for key, value := range s.env {
			env[key] = value
		}
		servers[name] = map[string]any{"command": npx, "args": append([]string{"-y", s.pkg}, s.args...), "env": env}
	}
	config, data := writeServers(t, servers), t.TempDir()
	importAll := func() (*exec.Cmd, *bytes.Buffer) {
		cmd := servingCommand(t, data, "import", config)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, &out
	}
	cmd, out := importAll()
	for deadline := time.Now().Add(wait); ; { // until npx has begun to install the first
		if found, _ := filepath.Glob(filepath.Join(cache, "_npx", "*", "node_modules", "*")); len(found) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("npx installs nothing:\n%s", out)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it ends with an error, or had ended well just before
	cmd, out = importAll()
	if err := cmd.Wait(); err != nil {
		t.Errorf("import after an interruption: %v\n%s", err, out)
	}
	for name := range servers {
		if !strings.Contains(out.String(), name+": ") {
			t.Errorf("import does not tell of %s:\n%s", name, out)
		}
	}
	damaged, _ := filepath.Glob(filepath.Join(cache, "_npx", "*", "node_modules", "zod"))
	if len(damaged) == 0 {
		t.Fatal("no server has the module zod")
	}
	for _, one := range damaged {
		if err := os.RemoveAll(one); err != nil {
			t.Fatal(err)
		}
	}
	cmd, out = importAll()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	if cmd.Wait() == nil {
		t.Error("damaged installations are no failure")
	}
	named := 0 // a server may bundle the module, and start all the same
	for _, one := range damaged {
		if strings.Contains(out.String(), "delete the folder "+filepath.Dir(filepath.Dir(one))) {
			named++
		}
	}
	if broken := strings.Count(out.String(), "ERR_MODULE_NOT_FOUND"); named == 0 || named != broken {
		t.Errorf("%d servers are broken, and the folders of %d are named:\n%s", broken, named, out)
	}
}
