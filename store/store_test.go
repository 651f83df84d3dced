package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"tooldex/embed"
	"tooldex/tool"
	"tooldex/upstream"
)

func TestWriteThenLoad(t *testing.T) {
	dir := t.TempDir()
	m := embed.Model{Name: "table", Fingerprint: "abc", Dims: 3}
	other := embed.Model{Name: "table", Fingerprint: "abd", Dims: 3}
	h := HashText("name", "text")
	v := Quantize([]float32{1, -0.5, 0})
	first := open(t, dir)
	gen := write(t, first, &Batch{
		Records: records(0, 3), Model: m, Vectors: map[TextHash]Vector{h: v},
		Knowledge: "k1", Analyses: map[tool.Hash][]byte{record(0).Hash: []byte("lent"), record(1).Hash: nil},
		Servers: []upstream.Server{{
			Name: "files", Command: "npx", Env: map[string]string{"TOKEN": "${TOKEN}"},
			Timeout: time.Second,
		}},
		Sources: []SourceState{{
			Name: "files", Digest: [32]byte{1}, Synced: record(0).First, Stale: true,
			Note: []byte("n"),
		}},
		Overlays: map[string][]byte{"mine": []byte("{}")},
	})

	got := load(t, open(t, dir), View{Model: m, Knowledge: "k1"})
	want := &Snapshot{
		Generation: gen, Records: records(0, 3), Vectors: map[TextHash]Vector{h: v},
		Analyses: map[tool.Hash][]byte{record(0).Hash: []byte("lent"), record(1).Hash: {}},
		Servers: []upstream.Server{{
			Name: "files", Command: "npx", Env: map[string]string{"TOKEN": "${TOKEN}"},
			Timeout: time.Second,
		}},
		Sources: map[string]SourceState{"files": {
			Name: "files", Digest: [32]byte{1}, Synced: record(0).First,
			Stale: true, Note: []byte("n"),
		}},
		Overlays: map[string][]byte{"mine": []byte("{}")},
	}
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for i, r := range got.Records {
		if r.Tool.Hash() != record(i).Hash {
			t.Errorf("%s: the content hash changed on the way through the file", r.Tool.ID())
		}
	}
	if got := load(t, first, View{Model: other, Knowledge: "k2"}); len(got.Vectors)+len(got.Analyses) != 0 {
		t.Errorf("another model and version see %d vectors and %d lent", len(got.Vectors), len(got.Analyses))
	}
}

func TestRemoveAndReplace(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, &Batch{
		Records: records(0, 4), Servers: []upstream.Server{{Name: "a"}, {Name: "b"}},
		Sources: []SourceState{{Name: "a"}, {Name: "b"}}, Overlays: map[string][]byte{
			"x": []byte("1"),
			"y": []byte("2"),
		},
	})
	changed := record(1)
	changed.Tool.Description = "changed"
	changed.Hash = changed.Tool.Hash()
	write(t, s, &Batch{
		Records: []Record{changed}, Remove: []tool.ID{record(2).Tool.ID(), "files/never_was"},
		RemoveServers: []string{"a"}, RemoveSources: []string{"b"}, RemoveOverlays: []string{"x"},
	})
	got := load(t, s, View{})
	want := []Record{record(0), changed, record(3)}
	if d := diff(want, got.Records); d != "" {
		t.Errorf("records (-want +got)\n%s", d)
	}
	if d := diff([]upstream.Server{{Name: "b"}}, got.Servers); d != "" {
		t.Errorf("servers (-want +got)\n%s", d)
	}
	if _, ok := got.Sources["b"]; ok || len(got.Sources) != 1 || len(got.Overlays) != 1 {
		t.Errorf("sources %v, overlays %v", got.Sources, got.Overlays)
	}
}

func TestWriteRefuses(t *testing.T) {
	long := make([]byte, maxKey)
	for name, b := range map[string]*Batch{
		"record without a tool":  {Records: []Record{{}}},
		"tool without a name":    {Records: []Record{{Tool: &tool.Tool{Server: "s"}}}},
		"name too long to key":   {Records: []Record{{Tool: &tool.Tool{Server: "s", Name: string(long)}}}},
		"server without a name":  {Servers: []upstream.Server{{}}},
		"source without a name":  {Sources: []SourceState{{}}},
		"overlay without a name": {Overlays: map[string][]byte{"": nil}},
		"vector of other length": {Model: embed.Model{Dims: 2}, Vectors: map[TextHash]Vector{{}: {Data: make([]int8, 3)}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			before := load(t, s, View{}).Generation
			b.Overlays = withKey(b.Overlays, "fine")
			if _, err := s.Write(context.Background(), b); tool.CodeOf(err) != tool.Invalid {
				t.Errorf("error %v, want Invalid", err)
			}
			if got := load(t, s, View{}); got.Generation != before || len(got.Overlays) != 0 {
				t.Error("a refused batch was written in part")
			}
		})
	}
}

func withKey(m map[string][]byte, k string) map[string][]byte {
	if m == nil {
		m = map[string][]byte{}
	}
	m[k] = []byte("v")
	return m
}

func TestBaseRefusesWhatWasDecidedOnOldData(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	base := load(t, a, View{}).Generation
	write(t, b, &Batch{Base: base, Records: records(0, 1)})
	_, err := a.Write(context.Background(), &Batch{Base: base, Remove: []tool.ID{record(0).Tool.ID()}})
	if !errors.Is(err, ErrChanged) || tool.CodeOf(err) != tool.Unavailable {
		t.Fatalf("error %v, want ErrChanged with code Unavailable", err)
	}
	if got := load(t, a, View{}).Records; len(got) != 1 {
		t.Errorf("%d records, want the one that the other store wrote", len(got))
	}
}

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
	if err := os.Chtimes(a.Path(), old, old); err != nil {
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
	db, err := bolt.Open(s.Path(), 0o600, nil)
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

func TestManyGoroutinesAndStores(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	const writers, each = 4, 15
	for w := range writers {
		s := open(t, dir)
		wg.Go(func() {
			for i := range each {
				if _, err := s.Write(context.Background(), &Batch{Records: records(w*each+i, w*each+i+1)}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			last := 0
			for range each {
				snap, err := s.Load(context.Background(), View{})
				if err != nil || len(snap.Records) < last {
					t.Errorf("%v, or records went from %d to fewer", err, last)
					return
				}
				last = len(snap.Records)
			}
		})
	}
	wg.Wait()
	if d := diff(records(0, writers*each), load(t, open(t, dir), View{}).Records); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestOpenMakesWhatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	s := open(t, dir)
	if info, err := os.Stat(s.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v, %v; want 0600, since servers may carry private arguments", info.Mode(), err)
	}
	write(t, s, &Batch{Records: records(0, 1)})
	if err := os.Remove(s.Path()); err != nil {
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
