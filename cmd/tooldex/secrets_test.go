package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// canary is a secret that is nowhere to be seen. Where it is planted is its name.
func canary(name string) string { return "canary-" + name + "-5f1e8c" }

var canaries = regexp.MustCompile(`canary-[a-z]+-5f1e8c`)

// recorder keeps what is said to a server of the test.
type recorder struct {
	mu   sync.Mutex
	seen bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen.Write(p)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen.String()
}

// TestSecretsStayInside plants secrets wherever people put them, has things done and go wrong with them, and looks for
// them in everything that the command says or keeps. It also looks at what the servers behind it get: what they are
// configured to, and nothing of the client.
func TestSecretsStayInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the server is started by sh")
	}
	up := upstreamCommand(t)
	dir, data := t.TempDir(), t.TempDir()
	var headers, spans recorder
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newUpstream() }, nil)
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.Header.Write(&headers)
		inner.ServeHTTP(w, r)
	}))
	defer remote.Close()
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_,
			_ = io.Copy(&spans, r.Body)
	}))
	defer collector.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // which says back what it was told
		http.Error(w, r.Header.Get("Authorization")+r.URL.String(), http.StatusUnauthorized)
	}))
	defer refusing.Close()
	config := filepath.Join(dir, "tooldex.yaml")
	environment := filepath.Join(dir, "environment")
	write(t, config, fmt.Sprintf(`
servers:
  child:
    command: sh
    args: ["-c", "env > %[1]s; env >&2; echo told $1 >&2; exec %[2]s", sh, "--key=${ARGUMENT_KEY}"]
    env: {API_KEY: "${CHILD_KEY}", PLAIN_TOKEN: %[5]s}
  remote:
    url: %[3]s/mcp?key=${ADDRESS_KEY}
    headers: {Authorization: "Bearer ${HEADER_KEY}", X-Tenant: acme}
  refusing:
    url: %[4]s/?key=${ADDRESS_KEY}
    headers: {Authorization: "Bearer ${HEADER_KEY}"}
  broken:
    url: http://127.0.0.1:1/?key=${ADDRESS_KEY}
    headers: {X-Api-Key: "${HEADER_KEY}"}
  dying:
    command: sh
    args: ["-c", "echo no licence for $API_KEY >&2; exit 3"]
    env: {API_KEY: "${CHILD_KEY}"}
  written:
    command: sh
    args: ["-c", "echo got $* >&2; echo $GITHUB_PAT $DATABASE_URL >&2; exit 3", sh, "--api-key", %[6]s,
      "postgres://u:%[7]s@h/x", "PASSWORD=%[8]s"]
    env: {GITHUB_PAT: %[9]s, DATABASE_URL: "mysql://u:%[10]s@h/y"}
  asked:
    url: http://127.0.0.1:1/?apiKey=%[11]s
  told:
    url: %[4]s/?token=%[12]s
oauth: {issuers: ["http://127.0.0.1:1"], client: tooldex}
`, environment, up, remote.URL, refusing.URL, canary("literal"), canary("flag"), canary("inargs"), canary("assigned"),
		canary("pat"), canary("database"), canary("query"), canary("parameter")))
	variables := map[string]string{
		"ARGUMENT_KEY": canary("argument"), "CHILD_KEY": canary("child"), "ADDRESS_KEY": canary("address"),
		"HEADER_KEY": canary("header"), "UNRELATED_SECRET": canary("unrelated"),
		"TOOLDEX_TOKEN": canary("whole"), "TOOLDEX_OAUTH_SECRET": canary("oauth"),
		"TOOLDEX_CLIENT_SECRET": canary("client"), "OPENAI_API_KEY": canary("openai"),
		"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=" + canary("collector"),
		"TOOLDEX_CONFIG": config, "TOOLDEX_DATA_DIR": data,
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
	outputs := map[string]string{}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), builtCommand(t), append(args, "--log-level", "debug")...)
		out, _ := cmd.CombinedOutput() // some of them fail, and are to say why
		outputs["tooldex "+strings.Join(args, " ")] = string(out)
		return string(out)
	}
	login := plantLogin(t, data, refusing.URL+"/?key="+canary("address"))
	issued := strings.Fields(run("tokens", "add", "ci"))
	delete(outputs, "tooldex tokens add ci") // which prints it once, as it should
	secret := issued[slices.IndexFunc(issued, func(w string) bool { return strings.HasPrefix(w, "tdx_") })]

	log, base := startLogging(t, dir, data)
	whole := variables["TOOLDEX_TOKEN"]
	ask := func(method, path, body, token string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Cookie", "session="+canary("cookie"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		_ = res.Header.Write(&said)
		return fmt.Sprint(res.StatusCode, "\n", said.String(), string(b))
	}
	for _, server := range []string{"child", "remote", "refusing", "broken", "dying", "written", "asked", "told"} {
		outputs["start "+server] = ask("POST", "/api/servers/"+server+"/start", "", whole)
	}
	until(t, "the tools of child and remote are known", func() bool {
		list := ask("GET", "/api/tools", "", whole)
		return strings.Contains(list, "child/shout") && strings.Contains(list, "remote/shout")
	})
	for _, id := range []string{"child/shout", "remote/shout"} {
		if got := ask("POST", "/api/tools/"+id+"/call", `{"arguments":{"text":"`+canary("spoken")+`"}}`,
			whole); !strings.Contains(got, strings.ToUpper(canary("spoken"))) {
			t.Fatalf("%s answers %s", id, got)
		}
		outputs["bad call of "+id] = ask("POST", "/api/tools/"+id+"/call", `{"arguments":{"text":7}}`, whole)
		outputs["crash of "+id] = ask("POST", "/api/tools/"+strings.Replace(id, "shout", "refuse", 1)+"/call", `{}`,
			whole)
	}
	connectClient(t, &mcp.StreamableClientTransport{
		Endpoint:   base + "/mcp",
		HTTPClient: &http.Client{Transport: bearing(secret)}, MaxRetries: -1,
	}, nil).call("search_tools",
		map[string]any{"query": "capital letters"})
	for _, path := range []string{
		"/", "/panel/main.js", "/search?q=capital+letters&explain=true", "/api/tools", "/api/tools/child/shout",
		"/api/tools/categories", "/api/servers", "/api/servers/child/log", "/api/servers/dying/log", "/api/servers/written/log", "/api/servers/asked/log", "/api/servers/told/log",
		"/api/servers/refusing/log", "/api/servers/broken/log", "/api/servers/remote/log", "/api/metrics?window=all",
		"/metrics", "/openapi.json", "/healthz", "/readyz", "/api/overlays/child/shout",
		"/api/insights/child/shout",
		"/api/tools/preferences", "/nowhere", "/.well-known/oauth-protected-resource", "/api/quarantine",
	} {
		outputs["GET "+path] = ask("GET", path, "", whole)
		outputs["GET with a wrong token "+path] = ask("GET", path, "", canary("guess"))
		outputs["GET with a forged token "+path] = ask("GET", path, "", "eyJhbGciOiJSUzI1NiJ9."+canary("forged")+".x")
	}
	for _, args := range [][]string{
		{"config", "show", "-o", "json", "--origin"},
		{"doctor", "-o", "json"},
		{"servers", "list", "-o", "json"},
		{"tokens", "list", "-o", "json"},
		{"index", "status", "-o", "json"},
		{"index", "backup", filepath.Join(dir, "backup")},
		{"servers", "list"},
		{"config", "show"},
		{"doctor"},
		{"call", "refusing/x"},
		{"call", "written/x"},
		{"call", "asked/x"},
		{"call", "told/x"},
		{"servers", "login", "refusing", "--no-browser"},
		{"import", config},
		{"list", "-o", "json"},
	} {
		run(args...)
	}
	if got := outputs["tooldex doctor -o json"]; !strings.Contains(got, "secrets stand in its configuration: args[4], args[5], "+
		"args[6], env.DATABASE_URL, env.GITHUB_PAT") {
		t.Errorf("doctor does not name the places of written secrets: %s", got)
	}
	if got := ask("GET", "/api/servers/written/log", "", whole); !strings.Contains(got, "got --api-key ***") {
		t.Errorf("the server that was given secrets did not say them: %s", got)
	}
	if got := ask("GET", "/api/servers/child/log", "", whole); !strings.Contains(got, "told --key=") ||
		!strings.Contains(got, "API_KEY=") {
		t.Errorf("the server's log does not hold what it printed, so nothing was tested: %s", got)
	}
	outputs["log"] = log(syscall.SIGQUIT) // the dump of all goroutines is part of it
	if !strings.Contains(outputs["log"], "SIGQUIT") || !strings.Contains(outputs["log"], "level=DEBUG") {
		t.Errorf("there is no dump, or no debug log: %.2000s", outputs["log"])
	}
	outputs["spans"] = spans.String()
	for name, content := range filesIn(t, dir, data) {
		if name != config && name != environment && name != login { // where they were planted
			outputs[name] = content
		}
	}
	for name, text := range outputs {
		if filepath.Base(name) == "tooldex.db" { // which has a server as it was imported, with what stands in its place of ${VARIABLE}
			for _, name := range []string{
				"literal", "flag", "inargs", "assigned", "pat", "database", "query", "parameter",
			} {
				text = strings.ReplaceAll(text, canary(name), "")
			}
		}
		found := canaries.FindAllString(text, -1)
		if strings.Contains(text, secret) {
			found = append(found, secret)
		}
		slices.Sort(found)
		for _, one := range slices.Compact(found) {
			at := strings.Index(text, one)
			t.Errorf("%s is in %s:\n…%s…", one, name, text[max(0, at-200):min(len(text), at+100)])
		}
	}
	checkUpstreams(t, environment, headers.String())
}

// checkUpstreams holds that servers got what they are configured to, and nothing else.
func checkUpstreams(t *testing.T, environment, headers string) {
	t.Helper()
	b, err := os.ReadFile(environment)
	if err != nil {
		t.Fatal(err)
	}
	documented := []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE",
		"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
		// the last four are the shell's own
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "API_KEY", "PLAIN_TOKEN", "PWD", "OLDPWD", "SHLVL", "_",
	}
	for line := range strings.Lines(string(b)) {
		if name, _, ok := strings.Cut(line, "="); ok && !slices.Contains(documented, name) {
			t.Errorf("the child has the variable %s", name)
		}
	}
	if !strings.Contains(string(b), "API_KEY="+canary("child")) {
		t.Error("the child does not have its own secret")
	}
	want := map[string]bool{canary("header"): true}
	for _, one := range canaries.FindAllString(headers, -1) {
		if !want[one] {
			t.Errorf("%s goes to the server: that of a client, not its own", one)
		}
	}
	if strings.Contains(headers, "Cookie") || !strings.Contains(headers, "Bearer "+canary("header")) {
		t.Errorf("the server has other headers than it is configured to:\n%s", headers)
	}
}

// plantLogin stores what a login would have brought, and returns the file.
func plantLogin(t *testing.T, data, url string) string {
	t.Helper()
	file := filepath.Join(data, "upstreams", "tokens", "refusing.json")
	b, err := json.Marshal(map[string]any{
		"url": url, "clientId": "id", "clientSecret": canary("registered"), "tokenUrl": "http://127.0.0.1:1/token",
		"token": map[string]any{
			"access_token": canary("access"), "refresh_token": canary("refresh"),
			"expiry": time.Now().Add(-time.Hour),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, file, string(b))
	return file
}

// startLogging serves with a log of everything. The function that it returns ends it by a signal and returns the log.
func startLogging(t *testing.T, dir, data string) (end func(os.Signal) string, base string) {
	t.Helper()
	path := filepath.Join(dir, "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := servingCommand(t, data, "serve", "--listen", "127.0.0.1:0", "--log-level", "debug")
	cmd.Stderr = file
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = file.Close() })
	read := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	address := regexp.MustCompile(`serving on (http://127\.0\.0\.1:\d+)`)
	until(t, "it serves", func() bool { return address.MatchString(read()) })
	return func(s os.Signal) string {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		return read()
	}, address.FindStringSubmatch(read())[1]
}

// until waits for something that another process does.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("it does not come that %s", what)
		case <-tick.C:
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// filesIn reads all files below folders.
func filesIn(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			out[path] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestRevocation revokes a token while a server runs and clients are connected: the sessions of its bearers end, and no
// others.
func TestRevocation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	add := func(name string, more ...string) string {
		return strings.TrimSpace(runCommand(t, data, append([]string{"tokens", "add", name}, more...)...))
	}
	stays := add("stays")
	base := serveHTTP(t, data)
	goes := add("goes") // while it runs
	brief := add("brief", "--expires", "6s")
	connect := func(token string) *mcp.ClientSession {
		t.Helper()
		var session *mcp.ClientSession
		until(t, "a token is taken over", func() bool {
			var err error
			session, err = mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, nil).Connect(t.Context(),
				&mcp.StreamableClientTransport{
					Endpoint: base + "/mcp", HTTPClient: &http.Client{Transport: bearing(token)}, MaxRetries: -1,
				}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
			return err == nil
		})
		t.Cleanup(func() { _ = session.Close() })
		return session
	}
	one, other, third := connect(stays), connect(goes), connect(brief)
	works := func(s *mcp.ClientSession) bool { return s.Ping(t.Context(), nil) == nil }
	for name, s := range map[string]*mcp.ClientSession{"stays": one, "goes": other} {
		if !works(s) {
			t.Errorf("%s does not work", name)
		}
	}
	closed := make(chan struct{})
	go func() { _ = other.Wait(); close(closed) }()
	runCommand(t, data, "tokens", "revoke", "goes")
	until(t, "the session of a revoked token ends", func() bool {
		select {
		case <-closed:
			return true
		default:
			return !works(other)
		}
	})
	until(t, "the session of an expired token ends", func() bool { return !works(third) })
	if !works(one) {
		t.Error("a session of another token ended")
	}
	// With the ID of a session that is open, another token has none.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, base+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Session-Id", one.ID())
	res, err := (&http.Client{Transport: bearing(add("late"))}).Do(req)
	for err == nil && res.StatusCode == http.StatusUnauthorized { // until it is taken over
		_ = res.Body.Close()
		res, err = (&http.Client{Transport: bearing(strings.TrimPrefix(res.Request.Header.Get("Authorization"),
			"Bearer "))}).Do(req)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound || !works(one) {
		t.Errorf("with another's session it is answered %d", res.StatusCode)
	}
}
