package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

func TestGenerationNoticesEveryWrite(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	last, err := a.Generation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 { // faster than the clock of the file system ticks
		want := write(t, b, &Batch{Overlays: map[string][]byte{"x": {byte(i)}}})
		got, err := a.Generation(ctx)
		if err != nil || got != want || got <= last {
			t.Fatalf("write %d: generation %d, %v; want %d, more than %d", i, got, err, want, last)
		}
		last = got
	}
	if gen, err := a.Write(ctx, &Batch{}); err != nil || gen != last {
		t.Errorf("an empty batch made generation %d, %v; want %d as before", gen, err, last)
	}
	// A file that has rested is not opened again, and a later write is still seen.
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(a.Location(), old, old); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Generation(ctx); err != nil || got != last {
		t.Fatalf("generation %d, %v; want %d", got, err, last)
	}
	opened := 0
	a.fault = func(string) error { opened++; return nil }
	if got, err := a.Generation(ctx); err != nil || got != last || opened != 0 {
		t.Errorf("generation %d, %v, file opened %d times; want %d without opening it", got, err, opened, last)
	}
	want := write(t, b, &Batch{Overlays: map[string][]byte{"y": nil}})
	if got, err := a.Generation(ctx); err != nil || got != want {
		t.Errorf("generation %d, %v; want %d", got, err, want)
	}
}

func TestLockedByAnother(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, &Batch{Records: records(0, 1)})
	db, err := bolt.Open(s.Location(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	short := newStore(dir, Options{LockTimeout: time.Millisecond})
	for name, op := range map[string]func(context.Context) error{
		"load": func(ctx context.Context) error { _, err := short.Load(ctx, View{}); return err },
		"write": func(ctx context.Context) error {
			_, err := short.Write(ctx, &Batch{Records: records(0, 1)})
			return err
		},
		"open": func(context.Context) error { _, err := Open(dir, Options{LockTimeout: time.Millisecond}); return err },
		"recover": func(ctx context.Context) error {
			_, err := Recover(ctx, dir, Options{LockTimeout: time.Millisecond})
			return err
		},
		"cancelled": func(context.Context) error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := s.Load(ctx, View{})
			return err
		},
	} {
		if err := op(context.Background()); tool.CodeOf(err) != tool.Timeout {
			t.Errorf("%s: error %v, want Timeout", name, err)
		}
	}
	// A writer that waits gets its turn once the lock is free.
	done := make(chan error)
	waiting := make(chan struct{}, 1000)
	s.fault = func(step string) error {
		if step == "open" {
			waiting <- struct{}{}
		}
		return nil
	}
	go func() {
		_, err := s.Write(context.Background(), &Batch{Records: records(1, 2)})
		done <- err
	}()
	<-waiting
	<-waiting // it has tried at least once in vain
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("write after the wait: %v", err)
	}
	if n := len(load(t, s, View{}).Records); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
}

func TestOpenMakesWhatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	s := open(t, dir)
	if info, err := os.Stat(s.Location()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v, %v; want 0600, since servers may carry private arguments", info.Mode(), err)
	}
	write(t, s, &Batch{Records: records(0, 1)})
	if err := os.Remove(s.Location()); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s, View{}); len(got.Records) != 0 {
		t.Errorf("a file that was taken away still has %d records", len(got.Records))
	}
	write(t, s, &Batch{Records: records(0, 1)})
}

func TestOpenWhereNoDirectoryCanBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(filepath.Join(file, "dir"), Options{})
	var e *tool.Error
	if !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("error %v, want one with a hint", err)
	}
}

func ExampleStore() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()

	s, err := Open(dir, Options{})
	if err != nil {
		panic(err)
	}
	t := &tool.Tool{Server: "github", Name: "create_issue"}
	if _, err := s.Write(ctx, &Batch{Records: []Record{{Tool: t, Source: "github", Hash: t.Hash()}}}); err != nil {
		panic(err)
	}
	snap, err := s.Load(ctx, View{})
	if err != nil {
		panic(err)
	}
	for _, r := range snap.Records {
		fmt.Println(r.Tool.ID())
	}
	// Output: github/create_issue
}
