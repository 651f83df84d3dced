package postgres

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/internal/pgtest"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/upstream"
)

// TestBeginsWithoutDatabase opens a Store while the server is away. It answers with the head and the preferences of an
// earlier run, refuses the rest, and goes on by itself when the server is back. Without a file that fits it fails.
func TestBeginsWithoutDatabase(t *testing.T) {
	ctx := context.Background()
	server := pgtest.Start(t)
	file := filepath.Join(t.TempDir(), "kept")
	first, err := OpenRemembering(ctx, server.URL("t"), file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Write(ctx, &store.Batch{Servers: []upstream.Server{{Name: "s", Command: "run"}}}); err != nil {
		t.Fatal(err)
	}
	head, err := first.ReadHead(ctx)
	if err != nil {
		t.Fatal(err)
	}
	first.Remember(head)
	if _, err := os.Stat(file); err == nil {
		t.Error("a file without preferences would show what is hidden")
	}
	if _, err := first.SetPreferences(ctx, "p", 0, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	preferences, version, err := first.Preferences(ctx, 0)
	if err != nil || len(preferences) != 1 || first.Unreached() != nil {
		t.Fatalf("%v, %v, %v", preferences, err, first.Unreached())
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()

	for name, c := range map[string]struct {
		address string
		content []byte
	}{
		"another tenant": {server.URL("other"), good}, "a damaged file": {server.URL("t"), good[:len(good)/2]},
		"an empty file": {server.URL("t"), nil}, "another content": {server.URL("t"), []byte(`{"Location": 3}`)},
	} {
		if err := os.WriteFile(file, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenRemembering(ctx, c.address, file); tool.CodeOf(err) != tool.Unavailable {
			t.Errorf("%s: %v, want Unavailable", name, err)
		}
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := OpenRemembering(ctx, server.URL("t"), file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	}()
	got, err := second.ReadHead(ctx)
	if d := cmp.Diff(head, got); err != nil || d != "" || second.Unreached() == nil {
		t.Errorf("the head: %v, unreached %v (-want +got)\n%s", err, second.Unreached(), d)
	}
	all, now, err := second.Preferences(ctx, 0)
	if d := cmp.Diff(preferences, all, cmpopts.EquateEmpty()); err != nil || d != "" || now != version {
		t.Errorf("preferences: %v, version %d, want %d (-want +got)\n%s", err, now, version, d)
	}
	for what, try := range map[string]func() error{
		"generation": func() error { _, err := second.Generation(ctx); return err },
		"load":       func() error { _, err := second.Load(ctx, store.View{}); return err },
		"write":      func() error { _, err := second.Write(ctx, &store.Batch{RemoveServers: []string{"s"}}); return err },
	} {
		if err := try(); tool.CodeOf(err) != tool.Unavailable {
			t.Errorf("%s: %v, want Unavailable", what, err)
		}
	}
	server.Restart()
	waitFor(t, "the database", second.Changed())
	if gen, err := second.Generation(ctx); err != nil || gen != head.Generation || second.Unreached() != nil {
		t.Errorf("generation %d, %v, unreached %v", gen, err, second.Unreached())
	}
}

// TestUnboundRoleIsRefusedLater has a Store begin without the database, as a role that would see every tenant: it reads
// nothing when the database is back.
func TestUnboundRoleIsRefusedLater(t *testing.T) {
	ctx := context.Background()
	server := pgtest.Start(t)
	address := server.Address("postgres", "tooldex")
	file := filepath.Join(t.TempDir(), "kept")
	s, err := newStore(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	s.memory.path = file
	s.Remember(store.Head{Generation: 3})
	s.rememberPreferences(nil, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if s, err = OpenRemembering(ctx, address, file); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it reached nothing
	server.Restart()
	if _, err := s.Load(ctx, store.View{}); tool.CodeOf(err) != tool.Invalid || s.Unreached() == nil {
		t.Errorf("loaded as a superuser: %v, unreached %v; want Invalid", err, s.Unreached())
	}
}
