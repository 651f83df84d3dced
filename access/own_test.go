package access

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// TestOwnToken holds that processes which ask at once get one token, and that no token is used which others could read
// or guess.
func TestOwnToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "token")
	var asking sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		asking.Go(func() {
			var err error
			if got[i], err = OwnToken(path); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	for _, one := range got {
		if one != got[0] || len(one) < minSecret {
			t.Fatalf("the tokens are %q", got)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", info, err)
	}
	last := got[0]
	for name, spoil := range map[string]func() error{
		"empty":   func() error { return os.WriteFile(path, []byte("\n"), 0o600) },
		"short":   func() error { return os.WriteFile(path, []byte("tdx_1234\n"), 0o600) },
		"removed": func() error { return os.Remove(path) },
		"open":    func() error { return os.Chmod(path, 0o644) },
	} {
		if name == "open" && runtime.GOOS == "windows" {
			continue
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		next, err := OwnToken(path)
		if err != nil || next == last || len(next) < minSecret {
			t.Errorf("%s: %q after %q (%v)", name, next, last, err)
		}
		if again, err := OwnToken(path); err != nil || again != next {
			t.Errorf("%s: %q does not stay: %q (%v)", name, next, again, err)
		}
		last = next
	}
	if _, err := OwnToken(filepath.Join(path, "below")); err == nil {
		t.Error("a token is kept below a file")
	}
}

// TestOptionalToken holds that an optional token shows who sends it, and that no request needs it.
func TestOptionalToken(t *testing.T) {
	g, err := New(Options{Whole: "whole", Optional: true})
	if err != nil {
		t.Fatal(err)
	}
	if g.Guarded() || g.Grants() || len(g.Kinds()) > 0 {
		t.Errorf("guarded %v, grants %v, kinds %q", g.Guarded(), g.Grants(), g.Kinds())
	}
	if grant, err := g.Identify(t.Context(), "whole", "/mcp"); err != nil || grant.Principal.Key == "" {
		t.Errorf("it is of %+v (%v)", grant, err)
	}
	for _, other := range []string{"", "other"} {
		if _, err := g.Identify(t.Context(), other, "/mcp"); err == nil {
			t.Errorf("%q is accepted", other)
		}
	}
}
