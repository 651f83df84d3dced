package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func TestParseTokens(t *testing.T) {
	digest := func(s string) string { return fmt.Sprintf("%x", Digest(s)) }
	for name, c := range map[string]struct {
		text  string
		want  []Token
		fails string
	}{
		"one": {
			"tokens: [{name: a, sha256: " + digest("a") + ", profile: files, readOnly: true}]",
			[]Token{{Name: "a", Digest: Digest("a"), View: View{Profile: "files", ReadOnly: true}}},
			"",
		},
		"JSON": {
			`{"tokens": [{"sha256": "` + strings.ToUpper(digest("a")) + `"}]}`,
			[]Token{{Name: "number 1", Digest: Digest("a")}},
			"",
		},
		"until a day": {
			"tokens: [{name: a, sha256: " + digest("a") + ", expires: 2027-01-31}]",
			[]Token{{Name: "a", Digest: Digest("a"), Expires: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)}},
			"",
		},
		"until a time elsewhere": {
			"tokens: [{name: a, sha256: " + digest("a") + ", expires: 2027-01-31T12:00:00+02:00}]",
			[]Token{{Name: "a", Digest: Digest("a"), Expires: time.Date(2027, 1, 31, 10, 0, 0, 0, time.UTC)}},
			"",
		},
		"nothing":           {"", []Token{}, ""},
		"an empty list":     {"tokens: []", []Token{}, ""},
		"no YAML":           {"{", nil, "cannot be read"},
		"unknown field":     {"tokens: [{secret: a}]", nil, "secret"},
		"secret for a hash": {"tokens: [{name: a, sha256: hunter2}]", nil, `token "a": sha256 is not`},
		"short":             {"tokens: [{sha256: abcd}]", nil, `token "number 1": sha256 is not`},
		"twice": {"tokens: [{name: a, sha256: " + digest("a") + "}, {name: b, sha256: " + digest("a") +
			"}]", nil, `token "b": its sha256 is that of token "a"`},
		"of no secret": {"tokens: [{name: a, sha256: " + digest("") + "}]", nil, "that of no secret"},
		"until some time": {
			"tokens: [{name: a, sha256: " + digest("a") + ", expires: soon}]", nil,
			"neither a date nor a time",
		},
		"until a bad day": {
			"tokens: [{name: a, sha256: " + digest("a") + ", expires: 2027-02-30}]", nil,
			"neither a date nor a time",
		},
		"two lines": {"tokens: [{name: \"a\\nlevel=ERROR\", sha256: abcd}]", nil, `token "a\nlevel=ERROR"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseTokens([]byte(c.text))
			if c.fails != "" {
				var own *tool.Error
				if !errors.As(err, &own) || own.Code != tool.Invalid || own.Hint == "" ||
					!strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				return
			}
			if d := cmp.Diff(c.want, got); err != nil || d != "" {
				t.Errorf("%v (-want +got)\n%s", err, d)
			}
		})
	}
}

// FuzzParseTokens holds that whatever is read can be told apart, and that what the file becomes by adding to it can be
// read again.
func FuzzParseTokens(f *testing.F) {
	f.Add([]byte("# ours\ntokens: [{name: a, sha256: " + strings.Repeat("ab", 32) +
		", profile: files, readOnly: true}]"))
	f.Add([]byte(`{"tokens": [{}]}`))
	f.Add([]byte("tokens:\n- &a {name: x, sha256: " + strings.Repeat("cd", 32) + ", expires: 2027-01-31}\n"))
	f.Add([]byte("tokens: null # none"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tokens, err := ParseTokens(b)
		if err != nil {
			return
		}
		seen := map[[32]byte]bool{Digest(""): true}
		for _, one := range tokens {
			if seen[one.Digest] {
				t.Errorf("%+v", one)
			}
			seen[one.Digest] = true
		}
		file := File{filepath.Join(t.TempDir(), "tokens.yaml")}
		if err := os.WriteFile(file.Path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := file.Add(Token{Name: "fuzz", Digest: Digest("fuzz")}); err != nil {
			return // it may be that it cannot be added to, but then nothing is written
		}
		after, err := file.Read()
		if err != nil || len(after) != len(tokens)+1 {
			t.Errorf("%d tokens and one more are %d, %v", len(tokens), len(after), err)
		}
	})
}

func TestFile(t *testing.T) {
	file := File{filepath.Join(t.TempDir(), "new", "tokens.yaml")}
	if _, err := file.Read(); !errors.Is(err, fs.ErrNotExist) || tool.CodeOf(err) != tool.Invalid {
		t.Errorf("a file that is not there gives %v", err)
	}
	a := Token{Name: "a", Digest: Digest("a"), View: View{Profile: "files", ReadOnly: true}, Expires: time.Date(2027, 1, 2, 3, 4, 5, 0,
		time.UTC)}
	b := Token{Name: "b", Digest: Digest("b")}
	for _, one := range []Token{a, b} {
		if err := file.Add(one); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(file.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got, err := file.Read(); err != nil || cmp.Diff([]Token{a, b}, got) != "" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, err := range map[string]error{
		"a name twice":   file.Add(Token{Name: "a", Digest: Digest("c")}),
		"a secret twice": file.Add(Token{Name: "c", Digest: Digest("a")}),
		"a bad name":     file.Add(Token{Name: "c\n", Digest: Digest("c")}),
		"no name":        file.Add(Token{Digest: Digest("c")}),
	} {
		if tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := file.Revoke("c"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("revoke nobody: %v", err)
	}
	for _, name := range []string{"a", "b"} {
		if err := file.Revoke(name); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := file.Read(); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	left, err := os.ReadDir(filepath.Dir(file.Path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestFileOfMany has many add at once: nobody's token is lost.
func TestFileOfMany(t *testing.T) {
	file := File{filepath.Join(t.TempDir(), "tokens.yaml")}
	const many = 20
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			name := fmt.Sprintf("t%d", i)
			if err := file.Add(Token{Name: name, Digest: Digest(name)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := file.Read(); err != nil || len(got) != many {
		t.Errorf("%d tokens, %v", len(got), err)
	}
}

// TestFileThatCannotBeWritten holds that what was there stays, and nothing else is left behind.
func TestFileThatCannotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		dir := t.TempDir()
		file := File{filepath.Join(dir, "tokens.yaml")}
		if err := os.Mkdir(file.Path, 0o700); err != nil { // which nothing can replace, not even for root
			t.Fatal(err)
		}
		if err := file.Add(Token{Name: "a", Digest: Digest("a")}); err == nil {
			t.Error("a folder was written to")
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%v is left, %v", left, err)
		}
		return
	}
	dir := t.TempDir()
	file := File{filepath.Join(dir, "tokens.yaml")}
	if err := file.Add(Token{Name: "a", Digest: Digest("a")}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := file.Revoke("a"); err == nil || tool.CodeOf(err) != tool.Internal {
		t.Errorf("%v", err)
	}
	if got, err := file.Read(); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil { // for the cleanup
		t.Fatal(err)
	}
}

func TestNewSecret(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		s := NewSecret()
		if !strings.HasPrefix(s, "tdx_") || len(s) != 4+26 || seen[s] {
			t.Fatal(s)
		}
		seen[s] = true
	}
}
