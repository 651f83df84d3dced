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

	"tooldex/embed"
	"tooldex/tool"
	"tooldex/upstream"
)

// fixtureModel made the vectors of the fixtures.
var fixtureModel = embed.Model{Name: "table", Fingerprint: "f", Dims: 4}

// writeFixture writes something of everything.
func writeFixture(t *testing.T, s *Store) {
	t.Helper()
	ctx := context.Background()
	at := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	write(t, s, &Batch{
		Records: records(0, 5), Servers: []upstream.Server{{
			Name: "files", Command: "npx", Args: []string{"-y", "a b"},
			Env: map[string]string{"K": "${K}"},
		}, {Name: "far", URL: "https://a.example/mcp", Disabled: true}},
		Sources: []SourceState{
			{Name: "files", Digest: [32]byte{1, 2}, Synced: at, Note: []byte("note")},
			{Name: "old", Stale: true},
		},
		Overlays: map[string][]byte{"mine": []byte(`{"tools":{}}`)},
		Model:    fixtureModel, Vectors: map[TextHash]Vector{HashText("text"): Quantize([]float32{1, 0, -1, 0.5})},
		Knowledge: "7", Analyses: map[tool.Hash][]byte{{9}: []byte("analysis")},
		Trust: map[tool.ID][]byte{record(1).Tool.ID(): []byte("held")},
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

// fixture returns a file as this version of the layout was first written. -update writes it where it is missing.
func fixture(t *testing.T, n int) []byte {
	t.Helper()
	name := fmt.Sprintf("testdata/layout%d.db.gz", n)
	packed, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && n == layout && *update {
		packed = packedFixture(t)
		err = os.WriteFile(name, packed, 0o644)
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
	return raw
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

// TestLayoutIsStable opens a file that was written when the layout was raised, and reads all that was written then.
func TestLayoutIsStable(t *testing.T) {
	fresh := open(t, t.TempDir())
	writeFixture(t, fresh)
	s := open(t, withImage(t, fixture(t, layout)))
	if d := diff(readEverything(t, fresh), readEverything(t, s)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	write(t, s, &Batch{Records: records(5, 6), Sources: []SourceState{{Name: "files"}}})
}

// TestOlderFileIsSaved refuses a real file of an older layout, and saves its tools and servers on request.
func TestOlderFileIsSaved(t *testing.T) {
	dir := withImage(t, fixture(t, 3))
	_, err := Open(dir, Options{})
	var te *tool.Error
	if tool.CodeOf(err) != tool.Invalid || !errors.As(err, &te) || !strings.Contains(te.Hint, "index rebuild") {
		t.Fatalf("error %v, want Invalid with the remedy", err)
	}
	r, err := Recover(t.Context(), dir, Options{})
	if err != nil || r.Tools != 5 || r.Servers != 2 || r.Backup == "" {
		t.Errorf("recovered %+v, %v", r, err)
	}
	if n := len(load(t, open(t, dir), View{}).Records); n != 5 {
		t.Errorf("%d records, want 5", n)
	}
}

func TestOtherLayoutIsLeftAlone(t *testing.T) {
	for have, remedy := range map[byte]string{1: "rebuild", 2: "rebuild", 3: "rebuild", layout + 1: "upgrade"} {
		dir := t.TempDir()
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		setLayout(t, s, []byte{have})
		was := image(t, dir)
		_, openErr := Open(dir, Options{})
		_, loadErr := s.Load(context.Background(), View{})
		_, writeErr := s.Write(context.Background(), &Batch{Records: records(0, 1)})
		for _, err := range []error{openErr, loadErr, writeErr} {
			var te *tool.Error
			if tool.CodeOf(err) != tool.Invalid || !errors.As(err, &te) || !strings.Contains(te.Hint, remedy) {
				t.Errorf("layout %d: error %v, want Invalid with the advice to %s", have, err, remedy)
			}
		}
		if string(image(t, dir)) != string(was) {
			t.Errorf("layout %d: the file was changed", have)
		}
		setLayout(t, s, []byte("nonsense"))
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "rebuild") {
			t.Errorf("error %v, want one that names the remedy", err)
		}
	}
}

func setLayout(t *testing.T, s *Store, v []byte) {
	t.Helper()
	err := s.withFile(context.Background(), false, func(db *bolt.DB) error {
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
