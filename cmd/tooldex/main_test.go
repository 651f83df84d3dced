package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(tidying{m}, map[string]func(){"upstream": upstreamMain, "package": packageMain})
}

// tidying runs the tests and removes what they built.
type tidying struct{ m *testing.M }

// buildsVariable names the environment variable that holds the folder of what the tests build.
const buildsVariable = "TOOLDEX_TEST_BUILDS"

func (t tidying) Run() int {
	dir, err := os.MkdirTemp("", "tooldex-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Setenv(buildsVariable, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return t.m.Run()
}

// TestScript runs the transcripts with the built command. In them "exits N COMMAND..." wants exactly that exit code.
func TestScript(t *testing.T) {
	if raceEnabled {
		t.Skip("the command that scripts run is built without the race detector")
	}
	bin := builtCommand(t)
	api := httptest.NewServer(http.HandlerFunc(notesAPI))
	t.Cleanup(api.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(bin)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("API", api.URL)
			env.Setenv("XDG_DATA_HOME", "")
			env.Setenv("TOOLDEX_DATA_DIR", filepath.Join(env.WorkDir, "data"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// notesAPI is the API of openapi.txtar: it answers with what it was asked, and has no note 404.
func notesAPI(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/openapi.yaml":
		script, err := os.ReadFile("testdata/script/openapi.txtar")
		if err == nil {
			_, after, _ := strings.Cut(string(script), "-- notes.yaml --\n")
			before, _, _ := strings.Cut(after, "\n-- ")
			_, err = io.WriteString(w, before)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	case "/notes/404":
		http.NotFound(w, r)
	default:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{
			"method": r.Method, "path": r.URL.Path, "auth": r.Header.Get("Authorization"), "body": string(body),
		})
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", got, want, ts.ReadFile("stdout"),
			ts.ReadFile("stderr"))
	}
}

// build makes the command once, as a user would.
var build = sync.OnceValues(func() (string, error) { return goBuild() })

// buildServing makes the command as tests of serving want it: with the race detector, if the tests have it.
var buildServing = sync.OnceValues(func() (string, error) {
	if !raceEnabled {
		return build()
	}
	return goBuild("-race")
})

func goBuild(flags ...string) (string, error) {
	dir, err := os.MkdirTemp(os.Getenv(buildsVariable), "build")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "tooldex")
	args := append([]string{"build", "-o", bin}, flags...)
	out, err := exec.Command("go", append(args, ".")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return bin, nil
}

func builtCommand(t *testing.T) string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// servingCommand starts nothing yet: it is the command to serve with, over the given data. It ends at the first data
// race.
func servingCommand(t *testing.T, dataDir string, args ...string) *exec.Cmd {
	t.Helper()
	bin, err := buildServing()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+dataDir, "GORACE=halt_on_error=1")
	return cmd
}
