package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// fixture is the path of a file as it was written by the last version that had a layout. None is ever written anew:
// -update makes that of the current layout where it is missing.
func fixture(n int) string { return fmt.Sprintf("testdata/layout%d.db.gz", n) }

// fixtureModel made the vectors of the fixtures.
var fixtureModel = Model{Name: "table", Fingerprint: "f", Dims: 4}

// writeFixture writes something of everything.
func writeFixture(t *testing.T, s *Store) {
	t.Helper()
	ctx := context.Background()
	at := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	write(t, s, &Batch{
		Records: records(0, 5), Servers: []tool.Server{{
			Name: "files", Command: "npx", Args: []string{"-y", "a b"},
			Env: map[string]string{"K": "${K}"},
		}, {Name: "far", URL: "https://a.example/mcp", Disabled: true}},
		Sources: []SourceState{
			{Name: "files", Digest: [32]byte{1, 2}, Synced: at, Note: []byte("note")},
			{Name: "old", Stale: true},
		},
		Overlays: map[string][]byte{"mine": []byte(`{"tools":{}}`)},
		Model:    fixtureModel, Vectors: map[TextHash]Vector{HashText("text"): Quantize([]float32{1, 0, -1, 0.5})},
		Knowledge: "7", Lent: map[tool.Hash][]byte{{9}: []byte("analysis")},
		Trust: map[tool.ID][]byte{record(1).Tool.ID(): []byte("held")}, // since layout 3
	})
	_, err := s.SetPreferences(ctx, "", 0, []byte(`{"hide":["a"]}`))
	_, err2 := s.SetPreferences(ctx, "work", 0, []byte(`{}`))
	_, _, err3 := s.ChangeLearned(ctx, nil, func(map[string][]byte) map[string][]byte {
		return map[string][]byte{"use/1": []byte("learned")}
	})
	_, _, err4 := s.ChangeCounts(ctx, nil, func(map[string][]byte) map[string][]byte {
		return map[string][]byte{"m/1": []byte("counted")}
	})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
}

// everything is all that can be read of a store.
type everything struct {
	Snapshot    *Snapshot
	Preferences map[string]Preference
	Learned     map[string][]byte
	Counts      map[string][]byte
}

func readEverything(t *testing.T, s *Store) everything {
	t.Helper()
	ctx := context.Background()
	out := everything{Snapshot: load(t, s, View{Model: fixtureModel, Knowledge: "7"})}
	out.Snapshot.Generation = 0 // a migration raises it
	var err, err2, err3 error
	out.Preferences, _, err = s.Preferences(ctx, 0)
	out.Learned, _, err2 = s.Learned(ctx, 0)
	out.Counts, _, err3 = s.Counts(ctx, 0)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	return out
}

// withLayout makes a directory with the fixture of a layout.
func withLayout(t *testing.T, n int) string {
	t.Helper()
	packed, err := os.ReadFile(fixture(n))
	if errors.Is(err, fs.ErrNotExist) && n == layout && *update {
		packed = packedFixture(t)
		err = os.WriteFile(fixture(n), packed, 0o644)
	}
	if err != nil {
		t.Fatalf("%v; a layout that was raised comes with its fixture: go test ./store -update makes it", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return withImage(t, raw)
}

func packedFixture(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	writeFixture(t, open(t, dir))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(image(t, dir))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEveryLayoutOpens opens a file of each layout that there ever was, and reads all that was written to it then.
func TestEveryLayoutOpens(t *testing.T) {
	want := everything{
		Snapshot: &Snapshot{
			Records: records(0, 5), Vectors: map[TextHash]Vector{HashText("text"): Quantize([]float32{1, 0, -1, 0.5})},
			Servers: []tool.Server{{Name: "files", Command: "npx"}},
		},
	}
	for n := 1; n <= layout; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if n == 2 { // the first that held all of what is held now
				fresh := open(t, t.TempDir())
				writeFixture(t, fresh)
				want = readEverything(t, fresh)
			}
			want := want
			if n == 2 {
				early := *want.Snapshot
				want.Snapshot, early.Trust = &early, nil
			}
			s := open(t, withLayout(t, n))
			if d := diff(want, readEverything(t, s)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			write(t, s, &Batch{Records: records(5, 6), Sources: []SourceState{{Name: "files"}}})
		})
	}
}

func TestMigrationThatFailsLeavesTheOldFile(t *testing.T) {
	dir := withLayout(t, 1)
	was := image(t, dir)
	for n := 0; ; n++ {
		s := newStore(dir, Options{})
		left := n
		s.fault = func(string) error {
			if left--; left == -1 {
				return errInjected
			}
			return nil
		}
		err := s.prepare(context.Background())
		if err == nil {
			if n < 3 {
				t.Errorf("only %d steps could fail", n)
			}
			break
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("step %d: %v", n, err)
		}
		if string(image(t, dir)) != string(was) {
			t.Fatalf("step %d failed and changed the file", n)
		}
	}
	open(t, dir)
}

func TestMigrateOnlyOnce(t *testing.T) {
	dir := withLayout(t, 1)
	a, b := newStore(dir, Options{}), newStore(dir, Options{})
	errs := make(chan error, 2)
	for _, s := range []*Store{a, b} {
		go func() { errs <- s.prepare(context.Background()) }()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	if n := len(load(t, open(t, dir), View{}).Records); n != 5 {
		t.Errorf("%d records, want 5", n)
	}
}

func TestNewerLayoutIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	setLayout(t, s, []byte{layout + 1})
	was := image(t, dir)
	_, openErr := Open(dir, Options{})
	_, loadErr := s.Load(context.Background(), View{})
	_, writeErr := s.Write(context.Background(), &Batch{Records: records(0, 1)})
	for _, err := range []error{openErr, loadErr, writeErr} {
		if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), "upgrade") {
			t.Errorf("error %v, want Invalid with the advice to upgrade", err)
		}
	}
	if string(image(t, dir)) != string(was) {
		t.Error("the file was changed")
	}
	setLayout(t, s, []byte("nonsense"))
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "rebuild") {
		t.Errorf("error %v, want one that names the remedy", err)
	}
}

func setLayout(t *testing.T, s *Store, v []byte) {
	t.Helper()
	err := s.section(context.Background(), false, func(db *bolt.DB) error {
		return db.Update(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(bucketMeta))
			return errors.Join(b.Put([]byte(keyLayout), v), b.Put([]byte(keyLayoutNot), []byte{v[0] ^ 0xff}))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func foreign(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	db, err := bolt.Open(filepath.Join(dir, FileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("theirs"))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return image(t, dir)
}
