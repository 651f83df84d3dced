package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/config"
	"tooldex/tool"
	"tooldex/upstream"
)

// openForSecrets opens a service that keeps secrets in files.
func openForSecrets(t *testing.T, dir string) *Service {
	t.Helper()
	loader, err := config.Load(config.Options{NoFile: true, Getenv: func(name string) string {
		return map[string]string{"TOOLDEX_KEYRING": "false"}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Dir: dir, Use: ToChange, Config: loader.Config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestMoveSecrets moves secrets from every place of a server, and holds that what is started is what was given.
func TestMoveSecrets(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ"
	for name, c := range map[string]struct {
		server  upstream.Server
		secrets int
	}{
		"none": {upstream.Server{Command: "x", Args: []string{"--port", "8080"}, Env: map[string]string{"HOME": "/home"}}, 0},
		"references": {upstream.Server{
			Command: "x", Args: []string{"--token", "${TOKEN}"}, Env: map[string]string{"API_KEY": "${KEY}"},
		}, 0},
		"environment": {upstream.Server{Command: "x", Env: map[string]string{
			"API_TOKEN": "abc-def-ghi", "DATABASE_URL": "postgres://me:pa55word@db/x", "MODE": "fast",
		}}, 2},
		"headers": {upstream.Server{URL: "https://a.example/mcp", Headers: map[string]string{
			"Authorization": "Bearer " + token, "X-Api-Key": "0123456789", "Accept": "text/plain",
		}}, 2},
		"a flag":       {upstream.Server{Command: "x", Args: []string{"-y", "--api-key", "k3y-k3y-k3y", "--fast"}}, 1},
		"a long flag":  {upstream.Server{Command: "x", Args: []string{"--api-key=k3y-k3y-k3y", "run"}}, 1},
		"an address":   {upstream.Server{Command: "x", Args: []string{"postgres://me:pa55word@db/x"}}, 1},
		"a parameter":  {upstream.Server{URL: "https://a.example/mcp?apiKey=s3cr3t-s3cr3t&x=1"}, 1},
		"two the same": {upstream.Server{Command: "x", Args: []string{"--key=" + token, "--token", token}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openForSecrets(t, dir)
			c.server.Name = "far.away-1"
			moved, where, err := s.MoveSecrets(c.server, false)
			if err != nil {
				t.Fatal(err)
			}
			if names := secretsOf(moved); len(names) != c.secrets || (len(where) > 0) != (c.secrets > 0) {
				t.Errorf("%d secrets are moved to %q: %+v", len(names), where, moved)
			}
			if left := PlainSecrets(moved); len(left) > 0 {
				t.Errorf("%q stay in %+v", left, moved)
			}
			filled := func(text string) string {
				for _, name := range secretsOf(moved) {
					value, err := s.secrets.Get(name)
					if err != nil {
						t.Fatal(err)
					}
					text = strings.ReplaceAll(text, "${keyring:"+name+"}", value)
				}
				return text
			}
			back := moved
			back.URL, back.Args = filled(back.URL), nil
			for _, arg := range moved.Args {
				back.Args = append(back.Args, filled(arg))
			}
			for _, values := range []map[string]string{back.Env, back.Headers} {
				for key := range values {
					values[key] = filled(values[key])
				}
			}
			if diff := gocmp.Diff(c.server, back); diff != "" {
				t.Errorf("what is started differs from what was given: %s", diff)
			}
		})
	}
}

// TestMovedSecretsEnd holds that secrets end with the last server that refers to them, and that a refused server
// changes none.
func TestMovedSecretsEnd(t *testing.T) {
	dir := t.TempDir()
	s := openForSecrets(t, dir)
	count := func(want int) {
		t.Helper()
		files, err := os.ReadDir(filepath.Join(dir, "secrets"))
		if err != nil || len(files) != want {
			t.Errorf("%d secrets are kept, want %d (%v)", len(files), want, err)
		}
	}
	put := func(server upstream.Server, replace bool) upstream.Server {
		t.Helper()
		moved, _, err := s.MoveSecrets(server, replace)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.PutServer(t.Context(), moved, replace); err != nil {
			t.Fatal(err)
		}
		return moved
	}
	two := upstream.Server{Name: "a", Command: "x", Env: map[string]string{"A_TOKEN": "first-1", "B_TOKEN": "first-2"}}
	moved := put(two, false)
	count(2)
	put(two, false) // the same again
	count(2)
	other := upstream.Server{Name: "a", Command: "y", Env: map[string]string{"A_TOKEN": "second-1"}}
	if _, _, err := s.MoveSecrets(other, false); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("another server of the name: %v", err)
	}
	if got, err := s.secrets.Get(secretsOf(moved)[0]); err != nil || !strings.HasPrefix(got, "first-") {
		t.Errorf("a refused server changes a secret to %q (%v)", got, err)
	}
	b := upstream.Server{Name: "b", Command: "x", Env: map[string]string{"A_TOKEN": moved.Env["A_TOKEN"]}}
	put(b, false)
	put(other, true)
	count(1) // B_TOKEN is gone
	if err := s.RemoveServer(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	count(1) // b still refers to it
	if err := s.RemoveServer(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	count(0)
}
