package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/internal/faultfs"
)

// TestConnectSpoiled spoils what tooldex connect writes to a client's file and beside it: the client's file is as it
// was, or as it should be, and what it held is kept before it is touched. Connecting again then does all of it, and
// --undo brings every byte back.
func TestConnectSpoiled(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("runs the command many times")
	}
	ready := realTempDir(t)
	const was = "{\n  // mine\n  \"mcpServers\": {\"m\": {\"command\": \"x\", \"disabledTools\": [\"y\"]}},\n  \"other\": [1,  2]\n}\n"
	client := func(dir string) string { return filepath.Join(dir, ".cursor", "mcp.json") }
	if err := os.MkdirAll(filepath.Dir(client(ready)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(client(ready), []byte(was), 0o640); err != nil {
		t.Fatal(err)
	}
	command := func(dir string, args ...string) *exec.Cmd {
		cmd := exec.Command(builtCommand(t), append([]string{"connect", "cursor"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME=", "TOOLDEX_DATA_DIR="+filepath.Join(dir, "data"))
		return cmd
	}
	whole := copyOf(t, ready)
	all, err := faultfs.Run(command(whole, "--yes", "--no-import"), faultfs.Plan{Dir: whole})
	if err != nil || all.Code != exitDone {
		t.Fatalf("%+v, %v", all, err)
	}
	offset := rand.IntN(4)
	for n, op := range all.Ops {
		if *kills < 1000 && (n+offset)%4 > 0 {
			continue // one in four, others each time; make soak takes all
		}
		if !strings.Contains(op, "mcp.json") && !strings.Contains(op, "connect") && !strings.Contains(op, ".cursor") {
			continue // what is stored has tests of its own
		}
		for _, fault := range []faultfs.Fault{faultfs.Fail, faultfs.Tear} {
			t.Run(fmt.Sprintf("%s at %d %s", fault, n+1, strings.ReplaceAll(op, "/", "_")), func(t *testing.T) {
				dir := copyOf(t, ready)
				out, err := faultfs.Run(command(dir, "--yes", "--no-import"), faultfs.Plan{Dir: dir, N: n + 1, Fault: fault})
				if err != nil {
					t.Fatal(err)
				}
				now, err := os.ReadFile(client(dir))
				if err != nil {
					t.Fatal(err)
				}
				profile, _ := os.ReadFile(filepath.Join(dir, "data", "connect", "profiles.yaml"))
				done := bytes.Contains(now, []byte(`"tooldex"`)) && bytes.Contains(now, []byte("// mine"))
				kept, _ := filepath.Glob(filepath.Join(dir, "data", "connect", "cursor", "*.before"))
				switch {
				case !done && string(now) != was:
					t.Fatalf("the client's file holds neither the old text nor the new one: %s", now)
				case !done && out.Code == exitDone && !out.Killed:
					t.Error("it was acknowledged, and the client's file is as it was")
				case done && len(kept) != 1:
					t.Error("the client's file was changed, and what it held is not kept")
				case done && !bytes.Contains(profile, []byte("m/y")):
					t.Error("the client's file was changed, and its list of tools is not kept")
				}
				if text, err := command(dir, "--yes", "--no-import").CombinedOutput(); err != nil {
					t.Fatalf("again: %v\n%s", err, text)
				}
				if text, err := command(dir, "--undo").CombinedOutput(); err != nil {
					t.Fatalf("undo: %v\n%s", err, text)
				}
				if now, err := os.ReadFile(client(dir)); err != nil || string(now) != was {
					t.Errorf("after undo: %q, %v", now, err)
				}
			})
		}
	}
}
