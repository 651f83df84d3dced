package credential

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tooldex/tool"
)

var (
	ana  = User{"token:a", "token ana"}
	ben  = User{"token:b", "token ben"}
	shop = Server{"shop", "https://shop.example/mcp"}
)

func testKey(b byte) []byte { return bytes.Repeat([]byte{b}, keySize) }

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := New(filepath.Join(t.TempDir(), "sub", "credentials.json"), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Store) mustSet(t *testing.T, u User, at Server, name, value string) {
	t.Helper()
	if err := s.Set(u, at, name, value); err != nil {
		t.Fatal(err)
	}
}

func (s *Store) mustHave(t *testing.T, user string, at Server, name, want string) {
	t.Helper()
	got, ok, err := s.Value(user, at, name)
	if err != nil || ok != (want != "") || got != want {
		t.Errorf("%s at %v has %s = %q, %v, %v, want %q", user, at, name, got, ok, err, want)
	}
}

// TestOwnersAlone wants a value for its owner, server, address and name, and for nobody and nothing else.
func TestOwnersAlone(t *testing.T) {
	s := newStore(t)
	s.mustHave(t, ana.Key, shop, "KEY", "")
	s.mustSet(t, ana, shop, "KEY", "of ana")
	s.mustSet(t, ben, shop, "KEY", "of ben")
	s.mustSet(t, User{}, shop, "KEY", "of the operator")
	s.mustHave(t, ana.Key, shop, "KEY", "of ana")
	s.mustHave(t, ben.Key, shop, "KEY", "of ben")
	s.mustHave(t, "", shop, "KEY", "of the operator")
	s.mustHave(t, "token:c", shop, "KEY", "")
	s.mustHave(t, ana.Key, Server{"shop", "https://evil.example/mcp"}, "KEY", "")
	s.mustHave(t, ana.Key, Server{"shop2", shop.At}, "KEY", "")
	s.mustHave(t, ana.Key, shop, "KEY2", "")
	s.mustSet(t, ana, shop, "KEY", "new")
	s.mustHave(t, ana.Key, shop, "KEY", "new")
	if list, err := s.List(ana.Key); err != nil || len(list) != 1 || list[0].Who != "token ana" || list[0].Set.IsZero() {
		t.Errorf("ana's are %v, %v", list, err)
	}
	if n, err := s.Remove(ana.Key, "", ""); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	s.mustHave(t, ana.Key, shop, "KEY", "")
	s.mustHave(t, ben.Key, shop, "KEY", "of ben")
	if all, err := s.All(); err != nil || len(all) != 2 {
		t.Errorf("all are %v, %v", all, err)
	}
}

// TestAtRest reads the file as somebody who has stolen it, and edits it as somebody who can write it.
func TestAtRest(t *testing.T) {
	s := newStore(t)
	s.mustSet(t, ana, shop, "KEY", "the secret of ana")
	s.mustSet(t, ben, shop, "KEY", "the secret of ben")
	raw, err := os.ReadFile(s.path)
	if err != nil || bytes.Contains(raw, []byte("secret")) ||
		bytes.Contains(raw, []byte(base64.StdEncoding.EncodeToString([]byte("the secret of ana"))[:12])) {
		t.Fatalf("%s, %v", raw, err)
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	other, err := New(s.path, testKey(2))
	if err != nil {
		t.Fatal(err)
	}
	other.mustHave(t, ana.Key, shop, "KEY", "") // another key
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	forge := func(edit func(f *file)) {
		t.Helper()
		var g file
		_ = json.Unmarshal(raw, &g)
		edit(&g)
		b, _ := json.Marshal(g)
		if err := os.Remove(s.path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	forge(func(f *file) { f.Entries[0].User, f.Entries[1].User = f.Entries[1].User, f.Entries[0].User })
	s.mustHave(t, ana.Key, shop, "KEY", "") // whose entries were exchanged
	s.mustHave(t, ben.Key, shop, "KEY", "")
	forge(func(f *file) { f.Entries[0].Server = "mail" })
	s.mustHave(t, ana.Key, Server{"mail", shop.At}, "KEY", "")
	forge(func(f *file) { f.Entries[0].Name = "OTHER" })
	s.mustHave(t, ana.Key, shop, "OTHER", "")
	forge(func(f *file) { f.Entries[0].Sealed[20] ^= 1 })
	s.mustHave(t, ana.Key, shop, "KEY", "")
	forge(func(f *file) { f.Entries[0].Sealed = f.Entries[0].Sealed[:3] })
	s.mustHave(t, ana.Key, shop, "KEY", "")
	forge(func(f *file) { f.Version = 2 })
	if _, ok, err := s.Value(ana.Key, shop, "KEY"); ok || err == nil || tool.CodeOf(err) != tool.Internal {
		t.Errorf("a file of another version: %v, %v", ok, err)
	}
	if err := s.Set(ana, shop, "KEY", "x"); err == nil {
		t.Error("a file that cannot be read is replaced")
	}
}

// TestSameValueDiffers wants two seals of one value to differ, so that equal secrets do not show.
func TestSameValueDiffers(t *testing.T) {
	s := newStore(t)
	a, b := seal(s.aead, "x", []byte("a")), seal(s.aead, "x", []byte("a"))
	if bytes.Equal(a, b) || bytes.Equal(a[12:], b[12:]) {
		t.Errorf("%x\n%x", a, b)
	}
	// What is bound cannot be shifted from one part to the next.
	if bytes.Equal(boundTo("a", Server{"b", "c"}, "d"), boundTo("a\x001:b", Server{"", "c"}, "d")) {
		t.Error("two bindings are the same")
	}
}

func TestNonsense(t *testing.T) {
	s := newStore(t)
	for _, c := range [][2]string{
		{"", "v"},
		{"1A", "v"},
		{"A-B", "v"},
		{strings.Repeat("A", 65), "v"},
		{"KEY", ""},
		{"KEY", "a\r\nX: b"},
		{"KEY", "a\x00b"},
		{"KEY", "a\x7fb"},
		{"KEY", strings.Repeat("v", maxValue+1)},
	} {
		if err := s.Set(ana, shop, c[0], c[1]); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%.20q = %.20q is stored: %v", c[0], c[1], err)
		} else if c[1] != "" && c[1] != "v" && strings.Contains(err.Error(), c[1]) {
			t.Errorf("the error shows the value: %v", err)
		}
	}
	for _, text := range []string{"", "short", strings.Repeat("A", 44), base64.StdEncoding.EncodeToString(make([]byte, 31))} {
		if _, err := ParseKey(text); tool.CodeOf(err) != tool.Invalid || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q is a key: %v", text, err)
		}
	}
	if key, err := ParseKey(base64.StdEncoding.EncodeToString(testKey(1)) + "\n"); err != nil || !bytes.Equal(key, testKey(1)) {
		t.Errorf("%v, %v", key, err)
	}
	for i := range maxPerUser {
		s.mustSet(t, ana, shop, fmt.Sprintf("KEY_%d", i), "v")
	}
	if err := s.Set(ana, shop, "ONE_MORE", "v"); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("no bound: %v", err)
	}
	s.mustSet(t, ana, shop, "KEY_7", "new") // a change needs no room
	s.mustSet(t, ben, shop, "KEY", "v")
}

// TestReplace wants a value to be replaced only while it is the expected one, so that nothing that was removed or
// replaced meanwhile comes back, and that of no other user.
func TestReplace(t *testing.T) {
	s := newStore(t)
	s.mustSet(t, ana, shop, "oauth login", "one")
	s.mustSet(t, ben, shop, "oauth login", "one")
	for _, c := range []struct {
		server             Server
		name, before, next string
		want               bool
		now                string
	}{
		{shop, "oauth login", "other", "two", false, "one"},
		{shop, "KEY", "one", "two", false, "one"},
		{Server{"shop", "https://evil.example/mcp"}, "oauth login", "one", "two", false, "one"},
		{Server{"shop2", shop.At}, "oauth login", "one", "two", false, "one"},
		{shop, "oauth login", "one", "two", true, "two"},
		{shop, "oauth login", "one", "three", false, "two"},
		{shop, "oauth login", "two", "", true, ""},
		{shop, "oauth login", "two", "four", false, ""},
		{shop, "oauth login", "", "four", false, ""},
	} {
		got, err := s.Replace(ana.Key, c.server, c.name, c.before, c.next)
		if err != nil || got != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
		s.mustHave(t, ana.Key, shop, "oauth login", c.now)
	}
	s.mustHave(t, ben.Key, shop, "oauth login", "one")
	if _, err := s.Replace(ben.Key, shop, "oauth login", "one", "a\nb"); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("a value with a line break: %v", err)
	}
	if list, err := s.List(ben.Key); err != nil || len(list) != 1 || list[0].Who != "token ben" {
		t.Errorf("%v, %v", list, err)
	}
}

// TestSeveralProcesses changes one file from several stores at once, and wants no change lost.
func TestSeveralProcesses(t *testing.T) {
	first := newStore(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			s, err := New(first.path, testKey(1))
			if err != nil {
				t.Error(err)
				return
			}
			for j := range 5 {
				if err := s.Set(User{Key: fmt.Sprintf("u%d", i)}, shop, fmt.Sprintf("K%d", j), "v"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if all, err := first.All(); err != nil || len(all) != 40 {
		t.Errorf("%d of 40 are there: %v", len(all), err)
	}
	first.mustHave(t, "u3", shop, "K4", "v")
}
