package keyring

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	system "github.com/zalando/go-keyring"

	"tooldex/tool"
)

// TestFiles keeps secrets in files, where no keyring is.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "secrets")
	r := New(Options{Dir: dir})
	if _, err := r.Get("a"); tool.CodeOf(err) != tool.NotFound || !strings.Contains(err.Error(), `no secret "a"`) {
		t.Errorf("without any: %v", err)
	}
	names := []string{"a", "server/env.TOKEN@1", "../../escape", "", strings.Repeat("long", 1000), "with\x00zero", "ä/ö"}
	for i, name := range names {
		value := strings.Repeat("s", i) + "\n "
		if where, err := r.Set(name, value); err != nil || filepath.Dir(where) != dir {
			t.Errorf("%q goes to %s: %v", name, where, err)
		}
		if got, err := New(Options{Dir: dir}).Get(name); err != nil || got != value {
			t.Errorf("%q is %q, want %q (%v)", name, got, value, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(names) {
		t.Errorf("%d files for %d secrets (%v)", len(files), len(names), err)
	}
	for _, one := range files {
		if info, err := one.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v is open (%v)", info, err)
		}
	}
	r.Remove("a")
	r.Remove("a")
	if _, err := r.Get("a"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("after it was removed: %v", err)
	}
	if _, err := r.Set("a", strings.Repeat("x", most+1)); tool.CodeOf(err) != tool.Invalid || strings.Contains(err.Error(), "xx") {
		t.Errorf("a long one: %v", err)
	}
	var none Options
	if _, err := New(none).Set("a", "b"); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("without a place: %v", err)
	}
	if _, err := New(none).Get("a"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("without a place: %v", err)
	}
}

// TestDeadBus holds that a bus which does not answer, or is none, leads to the files.
func TestDeadBus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "nothing"))
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the bus")
	}
	r := New(Options{Dir: t.TempDir(), System: true, LookupEnv: os.LookupEnv})
	if where, err := r.Set("a", "secret"); err != nil || where == "the keyring" {
		t.Errorf("it goes to %s: %v", where, err)
	}
	if got, err := r.Get("a"); err != nil || got != "secret" {
		t.Errorf("it is %q: %v", got, err)
	}
	if _, err := r.Get("b"); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("what the keyring might have: %v", err)
	}
}

// TestSystem keeps secrets in a real keyring, that of GNOME, on a bus of its own.
func TestSystem(t *testing.T) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" || os.Getenv("TOOLDEX_TEST_KEYRING") == "" {
		runInSession(t)
		return
	}
	dir := t.TempDir()
	r := New(Options{Dir: dir, System: true, LookupEnv: os.LookupEnv})
	if _, err := r.Get("a/b@1"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("without any: %v", err)
	}
	for _, value := range []string{"first", "second \x7f ä\n", strings.Repeat("x", most)} {
		if where, err := r.Set("a/b@1", value); err != nil || where != "the keyring" {
			t.Fatalf("it goes to %s: %v", where, err)
		}
		if got, err := r.Get("a/b@1"); err != nil || got != value {
			t.Errorf("it is %q, want %q (%v)", got, value, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("files beside the keyring: %v (%v)", files, err)
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			if _, err := r.Get("a/b@1"); err != nil {
				t.Errorf("at once: %v", err)
			}
		})
	}
	asking.Wait()
	r.Remove("a/b@1")
	if _, err := r.Get("a/b@1"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("after it was removed: %v", err)
	}
	t.Log("the keyring was asked")
}

// runInSession runs the calling test again in a session with a bus and an unlocked keyring.
func runInSession(t *testing.T) {
	t.Helper()
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed; Debian has it in the packages dbus and gnome-keyring", program)
		}
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "dbus-run-session", "--", "sh", "-c",
		`printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$0" "$@"`,
		os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "TOOLDEX_TEST_KEYRING=1", "HOME="+home, "XDG_RUNTIME_DIR="+home, "XDG_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	said := bufio.NewScanner(strings.NewReader(string(out)))
	asked := false
	for said.Scan() {
		asked = asked || strings.Contains(said.Text(), "the keyring was asked")
	}
	if err != nil || !asked {
		t.Errorf("in a session with a keyring: %v\n%s", err, out)
	}
}

// TestSilentKeyring holds that a keyring which waits for a person keeps nobody for ever, and is asked once at a time.
func TestSilentKeyring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Dir: t.TempDir(), System: true})
		answer := make(chan struct{})
		begun := time.Now()
		for range 3 {
			if _, err := r.ask(func() (string, error) { <-answer; return "", nil }); !errors.Is(err, errSilent) {
				t.Errorf("it answers %v", err)
			}
		}
		if took := time.Since(begun); took != 3*r.o.wait {
			t.Errorf("it took %s", took)
		}
		close(answer)
		synctest.Wait()
		if got, err := r.ask(func() (string, error) { return "later", nil }); got != "later" || err != nil {
			t.Errorf("later it answers %q, %v", got, err)
		}
	})
}

// TestErrors holds what is said when the keyring fails. The library's own stand-in plays it.
func TestErrors(t *testing.T) {
	system.MockInitWithError(errors.New("it is locked"))
	r := New(Options{Dir: t.TempDir(), System: true, LookupEnv: func(string) (string, bool) { return "unix:path=/x", true }})
	if _, err := r.Get("a"); tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(), `does not give the secret "a"`) {
		t.Errorf("a locked keyring: %v", err)
	}
	if where, err := r.Set("a", "secret"); err != nil || where == "the keyring" {
		t.Errorf("a locked keyring takes it: %s, %v", where, err)
	}
	if got, err := r.Get("a"); err != nil || got != "secret" {
		t.Errorf("the file has %q (%v)", got, err)
	}
}
