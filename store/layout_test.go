package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

const fixture = "testdata/layout1.db.gz"

// writeLayout1 makes a file as the first layout had it: values without checksums.
func writeLayout1(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	server, err := json.Marshal(tool.Server{Name: "files", Command: "npx"})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		put := func(b *bolt.Bucket, key string, v []byte) {
			if err := b.Put([]byte(key), v); err != nil {
				t.Fatal(err)
			}
		}
		bucket := func(name string) *bolt.Bucket {
			b, err := tx.CreateBucket([]byte(name))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		meta := bucket(bucketMeta)
		put(meta, keyLayout, []byte{1})
		put(meta, keyGeneration, []byte{0, 0, 0, 0, 0, 0, 0, 41})
		tools := bucket(bucketTools)
		for _, r := range records(0, 5) {
			put(tools, string(r.Tool.ID()), encodeRecord(&r))
		}
		put(bucket(bucketServers), "files", server)
		m := Model{Name: "table", Fingerprint: "f", Dims: 4}
		vectors, err := bucket(bucketVectors).CreateBucket(m.key())
		h := HashText("text")
		put(vectors, string(h[:]), encodeVector(Quantize([]float32{1, 0, -1, 0.5})))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func layout1(t *testing.T) string {
	t.Helper()
	if *update {
		path := filepath.Join(t.TempDir(), FileName)
		writeLayout1(t, path)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		z := gzip.NewWriter(&b)
		_, err = z.Write(raw)
		if err := errors.Join(err, z.Close(), os.MkdirAll("testdata", 0o755), os.WriteFile(fixture, []byte(b.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
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

func TestMigrateLayout1(t *testing.T) {
	s := open(t, layout1(t))
	m := Model{Name: "table", Fingerprint: "f", Dims: 4}
	got := load(t, s, View{Model: m})
	if len(got.Damaged) != 0 || got.Generation != 42 {
		t.Errorf("generation %d, damaged %v; want 42 and none", got.Generation, got.Damaged)
	}
	if d := diff(records(0, 5), got.Records); d != "" {
		t.Errorf("records (-want +got)\n%s", d)
	}
	if d := diff([]tool.Server{{Name: "files", Command: "npx"}}, got.Servers); d != "" {
		t.Errorf("servers (-want +got)\n%s", d)
	}
	if d := diff(map[TextHash]Vector{HashText("text"): Quantize([]float32{1, 0, -1, 0.5})}, got.Vectors); d != "" {
		t.Errorf("vectors (-want +got)\n%s", d)
	}
	write(t, s, &Batch{Records: records(5, 6), Sources: []SourceState{{Name: "files"}}})
}

func TestMigrationThatFailsLeavesTheOldFile(t *testing.T) {
	dir := layout1(t)
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
	dir := layout1(t)
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
		return db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucketMeta)).Put([]byte(keyLayout), v) })
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
