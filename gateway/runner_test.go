package gateway

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// installer returns a server that a package runner called npx installs for a while and then runs, and the file that is
// there once the installation is complete.
func installer(t *testing.T, name, pause, server string) (s upstream.Server, installed string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the processes of other systems are not listed with their environment")
	}
	s = self(t, name, "")
	npx := filepath.Join(t.TempDir(), "npx")
	if err := os.Symlink(s.Command, npx); err != nil {
		t.Fatal(err)
	}
	installed = filepath.Join(t.TempDir(), "installed")
	s.Command, s.Args = npx, []string{"-y", "some-server"}
	s.Env[serverVariable] = "install:" + pause + ":" + installed + ":" + server
	return s, installed
}

// The time of an installation does not count as that of a start, and the state says what goes on.
func TestInstallationIsAwaited(t *testing.T) {
	s, _ := installer(t, "s", "4s", "sdk")
	g := startGateway(t, Options{StartTimeout: 2 * time.Second}, s)
	called := make(chan string)
	go func() { called <- call(t, g, "s/echo", `{"a":1}`) }()
	waitUntil(t, "the state says that it is being installed", func() bool {
		return g.Status()[0].State == upstream.Installing
	})
	if got := <-called; got != `{"a":1}` {
		t.Errorf("echo is %s", got)
	}
}

// A server that a package runner has started is given the time for a start, and no more.
func TestInstalledServerThatHangs(t *testing.T) {
	s, installed := installer(t, "s", "10ms", "hang")
	s.StartTimeout = 2 * time.Second
	g := startGateway(t, Options{stopGrace: 100 * time.Millisecond}, s)
	e := callError(t, g, t.Context(), "s/echo", tool.Timeout)
	if !strings.Contains(e.Error(), "waiting for a database") {
		t.Errorf("error is %v", e)
	}
	if _, err := os.Stat(installed); err != nil {
		t.Error(err)
	}
}

// A gateway that is closed leaves an installation to finish, since a half of one would fail in every client.
func TestInstallationOutlivesTheGateway(t *testing.T) {
	s, installed := installer(t, "s", "2s", "sdk")
	g := New(Options{LookupEnv: os.LookupEnv, stopGrace: 50 * time.Millisecond})
	g.Set([]upstream.Server{s})
	u, _ := g.Upstream("s")
	go func() { _, _ = u.Tools(t.Context()) }()
	waitUntil(t, "it is being installed", func() bool { return g.Status()[0].State == upstream.Installing })
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "it is installed", func() bool { _, err := os.Stat(installed); return err == nil })
	// The pipes of the runner are read until it has ended.
	waitUntil(t, "the runner has ended", func() bool { return len(runningInstallers(t, installed)) == 0 })
}

// waitUntil returns when something that other processes do has happened.
func waitUntil(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); !happened(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// runningInstallers returns the processes that have a file in their environment.
func runningInstallers(t *testing.T, file string) []string {
	t.Helper()
	var out []string
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if b, err := os.ReadFile(one); err == nil && strings.Contains(string(b), file) {
			out = append(out, one)
		}
	}
	return out
}

// Programs that are started for listings are started a few at a time; one that a client calls does not wait.
func TestFewStartAtOnce(t *testing.T) {
	servers := []upstream.Server{self(t, "called", "sdk")}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		servers = append(servers, self(t, name, "hang"))
	}
	g := startGateway(t, Options{stopGrace: 50 * time.Millisecond}, servers...)
	for _, s := range servers[1:] {
		u, _ := g.Upstream(s.Name)
		go func() { _, _ = u.Tools(t.Context()) }()
	}
	lines := func() (n int) {
		for _, s := range servers[1:] {
			log, err := g.Log(s.Name)
			if err != nil {
				t.Fatal(err)
			}
			n += len(log)
		}
		return n
	}
	waitUntil(t, "some are started", func() bool { return lines() >= startsAtOnce })
	if got := call(t, g, "called/echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("echo is %s", got)
	}
	if n := lines(); n != startsAtOnce {
		t.Errorf("%d programs were started at once", n)
	}
	for _, st := range g.Status() {
		if st.Server != "called" && st.State != upstream.Starting {
			t.Errorf("the state is %+v", st)
		}
	}
}

func TestPackageRunners(t *testing.T) {
	for _, tt := range []struct {
		line string
		want bool
	}{
		{"npx -y x", true},
		{"/usr/bin/npx x", true},
		{`C:\Program_Files\nodejs\npx.CMD -y x`, true},
		{"cmd /c npx -y x", true},
		{"cmd.exe /C uvx x", true},
		{"npm exec x", true},
		{"npm run x", false},
		{"uvx x", true},
		{"uv tool run x", true},
		{"bunx x", true},
		{"pnpm dlx x", true},
		{"node x.js", false},
		{"docker run x", false},
		{"cmd /c node x", false},
		{"cmd", false},
	} {
		words := strings.Fields(tt.line)
		if got := isPackageRunner(words[0], words[1:]); got != tt.want {
			t.Errorf("%s: %v", tt.line, got)
		}
	}
}

// nodeStack is what Node prints about a module that is missing in a broken installation.
const nodeStack = `node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /home/u/.npm/_npx/15b07286cbcc3329/node_modules/x/dist/index.js
    at Object.getPackageJSONURL (node:internal/modules/package_json_reader:316:9)
    at packageResolve (node:internal/modules/esm/resolve:768:81) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v22.21.0`

func TestReasonLine(t *testing.T) {
	for _, tt := range []struct{ name, printed, want string }{
		{"nothing", "", ""},
		{"one line", "no licence found", "no licence found"},
		{
			"a stack of Node", nodeStack,
			"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from " +
				"/home/u/.npm/_npx/15b07286cbcc3329/node_modules/x/dist/index.js",
		},
		{
			"a thrown error", "/srv/x.js:3\n    throw new Error(m)\n    ^\n\nError: API_KEY is required\n" +
				"    at main (/srv/x.js:3:1)\n\nNode.js v22.21.0",
			"Error: API_KEY is required",
		},
		{
			"a traceback of Python", "Traceback (most recent call last):\n  File \"/x.py\", line 1, in <module>\n" +
				"    import nope\nModuleNotFoundError: No module named 'nope'",
			"ModuleNotFoundError: No module named 'nope'",
		},
		{
			"npm", "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/nope - Not found\n" +
				"npm error 404\nnpm error A complete log of this run can be found in: /root/.npm/_logs/x.log",
			"npm error 404 Not Found - GET https://registry.npmjs.org/nope - Not found",
		},
		{"usage", "Usage: x [options]\nerror: missing required argument 'path'\n\n  --help", "error: missing required argument 'path'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tail lineTail
			for _, line := range strings.Split(tt.printed, "\n") {
				if strings.TrimSpace(line) != "" { // as readStderr does
					tail.addLine(line)
				}
			}
			if got := tail.reason(); got != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// The hint after a broken installation names the folder to delete.
func TestBrokenInstallation(t *testing.T) {
	cache := t.TempDir()
	folder := filepath.Join(cache, "_npx", "0123456789abcdef")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	noted := `{"_npx":{"packages":["@scope/mcp@1.0.0"]}}`
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte(noted), 0o600); err != nil {
		t.Fatal(err)
	}
	x := &expandedServer{args: []string{"-y", "@scope/mcp@1.0.0"}, env: map[string]string{"npm_config_cache": cache}}
	none := func(string) (string, bool) { return "", false }
	for _, tt := range []struct{ name, printed, want string }{
		{"a missing module", nodeStack, "/home/u/.npm/_npx/15b07286cbcc3329"},
		{"a missing program", "sh: 1: mcp: not found", folder},
		{"something else", "Error: API_KEY is required", ""},
		{"a module that its own code misses", "Error: Cannot find module '/srv/app/x.js'", ""},
	} {
		if got := brokenInstallation(x, none, strings.Split(tt.printed, "\n")); got != filepath.FromSlash(tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	if s, err := os.Executable(); err == nil { // and so does the error of a start
		server := upstream.Server{
			Name: "s", Command: s, Args: []string{"@scope/mcp@1.0.0"},
			Env: map[string]string{serverVariable: "broken", "npm_config_cache": cache},
		}
		g := startGateway(t, Options{}, server)
		if e := callError(t, g, t.Context(), "s/x", tool.Unavailable); !strings.Contains(e.Hint, folder) {
			t.Errorf("the hint is %q", e.Hint)
		}
	}
}

// Programs inherit the settings of proxies and installers, and their passwords are not shown.
func TestInheritedSettings(t *testing.T) {
	ours := map[string]string{
		"https_proxy": "http://u:hunter22@proxy:1", "npm_config_registry": "https://r/", "UV_INDEX_X_PASSWORD": "sesame99",
		"NVM_DIR": "/nvm", "AWS_SECRET": "no", "NPM_TOKEN": "no",
	}
	o := Options{
		LookupEnv: func(name string) (string, bool) { v, ok := ours[name]; return v, ok },
		EnvNames: func() (names []string) {
			for name := range ours {
				names = append(names, name)
			}
			return names
		},
	}
	scrub := &redactor{}
	got := strings.Join(childEnvironment(&expandedServer{env: map[string]string{"NVM_DIR": "/mine"}, redact: scrub}, o), " ")
	want := "UV_INDEX_X_PASSWORD=sesame99 https_proxy=http://u:hunter22@proxy:1 npm_config_registry=https://r/ NVM_DIR=/mine"
	if got != want {
		t.Errorf("environment is %s", got)
	}
	if got := scrub.redactText("hunter22 and sesame99"); got != "*** and ***" {
		t.Errorf("shown as %q", got)
	}
}
