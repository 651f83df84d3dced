package access

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestGate follows a file through the life of its tokens.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		file := File{filepath.Join(dir, "tokens.yaml")}
		add := func(name string, v View, ends time.Duration) {
			t.Helper()
			one := Token{Name: name, Digest: Digest("secret of " + name), View: v}
			if ends > 0 {
				one.Expires = time.Now().Add(ends)
			}
			if err := file.Add(one); err != nil {
				t.Fatal(err)
			}
		}
		var ended []string
		var log bytes.Buffer
		g, err := New(Options{
			Whole: "whole", File: file, HasProfile: func(name string) bool { return name == "files" },
			Ended: func(key string) { ended = append(ended, key) }, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { g.Watch(ctx); close(done) }()
		defer func() { stop(); <-done }()
		look := func() { <-time.After(lookEvery + time.Millisecond) }
		is := func(secret string, want string) Grant {
			t.Helper()
			grant, err := g.Identify(t.Context(), secret, "/mcp")
			switch {
			case err == nil && grant.Principal.Name != want:
				t.Errorf("%s is of %q, want %q", secret, grant.Principal.Name, want)
			case err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, ErrToken) || want == ""):
				t.Errorf("%s is of nobody: %v, want %q", secret, err, want)
			case err != nil && strings.Contains(err.Error(), secret) && secret != "":
				t.Errorf("the secret is in the error: %v", err)
			}
			return grant
		}
		is("whole", "the token for everything")
		is("secret of a", "unknown or revoked token")
		is("", "no token was sent")

		add("a", View{Profile: "files", ReadOnly: true}, 0)
		add("b", View{}, time.Hour)
		look()
		a, b := is("secret of a", "token a"), is("secret of b", "token b")
		if a.View != (View{Profile: "files", ReadOnly: true}) || a.Alive.Err() != nil || a.Principal.Key == b.Principal.Key ||
			b.Expires.IsZero() {
			t.Errorf("%+v %+v", a, b)
		}

		if err := file.Revoke("a"); err != nil {
			t.Fatal(err)
		}
		look()
		is("secret of a", "unknown or revoked token")
		if a.Alive.Err() == nil || b.Alive.Err() != nil || !slices.Equal(ended, []string{a.Principal.Key}) {
			t.Errorf("after the revocation of a: %v, %v, %v", a.Alive.Err(), b.Alive.Err(), ended)
		}
		add("a", View{Profile: "files", ReadOnly: false}, 0) // the same secret, for more
		look()
		again := is("secret of a", "token a")
		if again.Principal.Key == a.Principal.Key || again.Alive.Err() != nil {
			t.Error("who may do more goes on with the sessions of who could do less")
		}

		<-time.After(time.Hour)
		is("secret of b", "has expired")
		look()
		if b.Alive.Err() == nil || !slices.Contains(ended, b.Principal.Key) {
			t.Error("nothing ends with the token that has expired")
		}

		// A mistake changes nothing, and is told once.
		good, err := os.ReadFile(file.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"tokens: [", "tokens: [{name: c, sha256: " + strings.Repeat("ab", 32) +
			", profile: nothing}]"} {
			log.Reset()
			if err := os.WriteFile(file.Path, []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				look()
			}
			is("secret of a", "token a")
			if n := strings.Count(log.String(), "file of tokens cannot be read"); n != 1 {
				t.Errorf("it was told %d times\n%s", n, &log)
			}
		}
		if err := os.WriteFile(file.Path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		look()

		// Without its file no token is good; taken away for a moment it changes nothing.
		if err := os.Remove(file.Path); err != nil {
			t.Fatal(err)
		}
		look()
		is("secret of a", "token a")
		look()
		is("secret of a", "unknown or revoked token")
		if !g.Guarded() || again.Alive.Err() == nil {
			t.Error("without its file everybody is let in")
		}
	})
}

func TestGuarded(t *testing.T) {
	dir := t.TempDir()
	empty := File{filepath.Join(dir, "tokens.yaml")}
	if err := os.WriteFile(empty.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := NewOAuth(OAuthOptions{
		Issuers:  []string{"https://login.example.com"},
		Resource: "https://tools.example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o               Options
		guarded, grants bool
	}{
		"nothing":        {Options{}, false, false},
		"a token":        {Options{Whole: "t"}, true, true},
		"no file":        {Options{File: File{filepath.Join(dir, "no")}}, false, false},
		"an empty file":  {Options{File: empty}, true, false},
		"OAuth":          {Options{OAuth: o}, true, true},
		"all but a file": {Options{Whole: "t", OAuth: o, File: File{filepath.Join(dir, "no")}}, true, true},
	} {
		g, err := New(c.o)
		if err != nil || g.Guarded() != c.guarded || g.Grants() != c.grants {
			t.Errorf("%s: guarded %v, grants %v, %v", name, g.Guarded(), g.Grants(), err)
		}
	}
}
