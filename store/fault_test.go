package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"tooldex/embed"
	"tooldex/tool"
	"tooldex/upstream"
)

var errInjected = errors.New("injected fault")

// TestNthStepFails fails step 0, 1, 2 ... of a write until it succeeds: every fault must surface, and the file must
// show the old state or the new one and nothing else.
func TestNthStepFails(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, &Batch{Records: records(0, 3), Servers: []upstream.Server{{Name: "old"}}})
	before := load(t, s, View{})
	m := embed.Model{Name: "m", Dims: 1}
	change := &Batch{
		Records: records(2, 5), Remove: []tool.ID{record(0).Tool.ID()}, Model: m,
		Vectors:   map[TextHash]Vector{{1}: Quantize([]float32{1})},
		Knowledge: "k", Analyses: map[tool.Hash][]byte{{1}: []byte("x")}, Servers: []upstream.Server{{Name: "new"}},
		RemoveServers: []string{"old"},
		Sources:       []SourceState{{Name: "s"}}, RemoveSources: []string{"t"}, Overlays: map[string][]byte{"o": nil},
		RemoveOverlays: []string{"p"},
	}
	for n := 0; ; n++ {
		left := n
		s.fault = func(string) error {
			if left--; left == -1 {
				return errInjected
			}
			return nil
		}
		_, err := s.Write(context.Background(), change)
		s.fault = nil
		if err == nil {
			if n < 10 {
				t.Errorf("only %d steps could fail", n)
			}
			break
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("step %d: error %v, want the injected one", n, err)
		}
		if err := s.Check(context.Background()); err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		if d := diff(before, load(t, open(t, dir), View{})); d != "" {
			t.Fatalf("step %d failed and yet changed something (-want +got)\n%s", n, d)
		}
	}
	after := load(t, s, View{Model: m, Knowledge: "k"})
	if len(after.Records) != 4 || len(after.Vectors) != 1 || len(after.Analyses) != 1 || after.Servers[0].Name != "new" {
		t.Errorf("the write that succeeded is not all there: %+v", after)
	}
}

// TestTornWrite plays back a write page by page, as a power cut would leave it: bbolt writes its pages in order, syncs,
// and then writes one of the two pages that say which is the current state.
func TestTornWrite(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, &Batch{Records: records(0, 10)})
	write(t, s, &Batch{Records: records(10, 20)})
	old, oldState := image(t, dir), load(t, s, View{})
	write(t, s, &Batch{Records: records(5, 30), Remove: []tool.ID{record(1).Tool.ID()}})
	next, nextState := image(t, dir), load(t, s, View{})

	page := os.Getpagesize()
	grown := append(bytes.Clone(old), make([]byte, len(next)-len(old))...)
	var data, meta []int // pages that the write changed
	for off := 0; off < len(next); off += page {
		if bytes.Equal(grown[off:off+page], next[off:off+page]) {
			continue
		}
		if off < 2*page {
			meta = append(meta, off)
		} else {
			data = append(data, off)
		}
	}
	if len(data) < 5 || len(meta) != 1 {
		t.Fatalf("the write changed %d data pages and %d meta pages; this test expects more, and one", len(data),
			len(meta))
	}
	torn := bytes.Clone(grown)
	for i, off := range data {
		copy(torn[off:off+page/2], next[off:])
		mustBe(t, fmt.Sprintf("half of page %d", i), torn, oldState)
		copy(torn[off:off+page], next[off:])
		mustBe(t, fmt.Sprintf("page %d", i), torn, oldState)
	}
	for n := 0; n <= 128; n += 8 { // the meta page is in use to its first 80 bytes
		copy(torn[meta[0]:meta[0]+n], next[meta[0]:])
		want := oldState
		if bytes.Equal(torn[meta[0]:meta[0]+page], next[meta[0]:meta[0]+page]) {
			want = nextState
		}
		mustBe(t, fmt.Sprintf("%d bytes of the meta page", n), torn, want)
	}
}

func mustBe(t *testing.T, at string, file []byte, want *Snapshot) {
	t.Helper()
	s := open(t, withImage(t, file))
	got := load(t, s, View{})
	// until the next write, below
	got.Damaged = slices.DeleteFunc(got.Damaged, func(d Damage) bool { return d.Kind == "page" })
	if d := diff(want, got); d != "" {
		t.Fatalf("torn after %s (-want +got)\n%s", at, d)
	}
	write(t, s, &Batch{Records: records(500, 501)}) // and work goes on
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	m := embed.Model{Name: "m", Dims: 64}
	s := open(t, dir)
	write(t, s, &Batch{Records: records(0, 200), Model: m, Vectors: map[TextHash]Vector{{1}: Quantize(make([]float32,
		64))}})
	good := image(t, dir)
	page := os.Getpagesize()
	for name, spoil := range map[string]func([]byte) []byte{
		"cut to its first page":        func(b []byte) []byte { return b[:page] },
		"cut to a third":               func(b []byte) []byte { return b[:len(b)/3/page*page] },
		"cut in the middle of a page":  func(b []byte) []byte { return b[:len(b)/2+100] },
		"ten bytes":                    func(b []byte) []byte { return b[:10] },
		"nothing":                      func(b []byte) []byte { return nil },
		"both meta pages overwritten":  func(b []byte) []byte { clear(b[:2*page]); return b },
		"all but meta pages zero":      func(b []byte) []byte { clear(b[2*page:]); return b },
		"all but meta pages nonsense":  func(b []byte) []byte { fill(b[2*page:]); return b },
		"text":                         func([]byte) []byte { return bytes.Repeat([]byte("not a database\n"), 3000) },
		"another program's bbolt file": func([]byte) []byte { return foreign(t) },
	} {
		t.Run(name, func(t *testing.T) {
			bad := withImage(t, spoil(bytes.Clone(good)))
			path := newStore(bad, Options{}).Location()
			var errs []error
			_, err := Open(bad, Options{})
			errs = append(errs, err)
			st := newStore(bad, Options{})
			_, err = st.Load(context.Background(), View{Model: m})
			errs = append(errs, err, st.Check(context.Background()))
			_, err = st.Write(context.Background(), &Batch{Overlays: map[string][]byte{"x": nil}})
			errs = append(errs, err)
			seen := 0
			for _, err := range errs {
				var e *tool.Error
				if err == nil {
					continue // this operation did not touch what is damaged
				}
				if seen++; !errors.As(err, &e) || !strings.Contains(e.Msg, path) ||
					!strings.Contains(e.Hint, "rebuild") {
					t.Errorf("error %v, want one that names %s and the remedy", err, path)
				}
			}
			if seen == 0 {
				t.Fatal("nobody noticed")
			}
			was := image(t, bad)
			r, err := Recover(context.Background(), bad, Options{})
			if err != nil {
				t.Fatalf("recover: %v", err)
			}
			if kept, err := os.ReadFile(r.Backup); err != nil || !bytes.Equal(kept, was) {
				t.Errorf("the backup %s does not hold what was there: %v", r.Backup, err)
			}
			fresh := open(t, bad)
			if n := len(load(t, fresh, View{}).Records); n != r.Tools {
				t.Errorf("%d tools are there, %d were reported as saved", n, r.Tools)
			}
			write(t, fresh, &Batch{Records: records(0, 10)})
		})
	}
}

// fill makes every byte of b something else than it was, and the same in each run.
func fill(b []byte) {
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
}

func TestOneDamagedValueLeavesTheOthers(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, &Batch{Records: records(0, 10), Servers: []upstream.Server{{Name: "srv", Command: "find-me"}}})
	b := image(t, dir)
	// Old copies of a page may hold the same bytes: spoil every one.
	b = bytes.ReplaceAll(b, []byte("Read file number 4."), []byte("Read file number 5."))
	b = bytes.ReplaceAll(b, []byte("find-me"), []byte("find-mf"))
	bad := withImage(t, b)
	if s, err = Open(bad, Options{}); err != nil {
		t.Fatal(err)
	}
	snap := load(t, s, View{})
	if len(snap.Records) != 9 || len(snap.Damaged) != 2 || len(snap.Servers) != 0 {
		t.Fatalf("%d records, %d servers, damaged %v; want 9, 0 and two named", len(snap.Records), len(snap.Servers),
			snap.Damaged)
	}
	if got := snap.Damaged[0].String(); !strings.Contains(got, `tool "files/read_0004"`) {
		t.Errorf("damage %s does not name the tool", got)
	}
	if err := s.Check(context.Background()); err == nil || !strings.Contains(err.Error(), "files/read_0004") {
		t.Errorf("check says %v, want the tool named", err)
	}
	// Writing the tool again repairs it; recovery keeps the rest.
	write(t, s, &Batch{Records: []Record{record(4)}})
	if snap = load(t, s, View{}); len(snap.Records) != 10 || len(snap.Damaged) != 1 {
		t.Errorf("after the repair: %d records, damaged %v", len(snap.Records), snap.Damaged)
	}
	r, err := Recover(context.Background(), bad, Options{})
	if err != nil || r.Tools != 10 || r.Servers != 0 || len(r.Damaged) != 1 {
		t.Errorf("recovery %+v, %v", r, err)
	}
	if d := diff(records(0, 10), load(t, open(t, bad), View{}).Records); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestRecoverFindsValuesWithoutTheTree spoils what leads to the values, and leaves most of those themselves.
func TestRecoverFindsValuesWithoutTheTree(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, &Batch{Records: records(0, 60)})
	writeFixture(t, s)
	good, page := image(t, dir), os.Getpagesize()
	for name, c := range map[string]struct {
		spoil func([]byte) []byte
		tools int // at least
	}{
		"both meta pages":       {func(b []byte) []byte { clear(b[:2*page]); return b }, 60},
		"the last two thirds":   {func(b []byte) []byte { return b[:len(b)/3/page*page] }, 10},
		"every page that leads": {func(b []byte) []byte { return withoutBranches(b, page) }, 60},
	} {
		t.Run(name, func(t *testing.T) {
			bad := withImage(t, c.spoil(bytes.Clone(good)))
			r, err := Recover(context.Background(), bad, Options{})
			if err != nil || r.Tools < c.tools {
				t.Fatalf("%+v, %v; want at least %d tools", r, err, c.tools)
			}
			got := load(t, open(t, bad), View{})
			for _, have := range got.Records {
				n := 0
				if _, err := fmt.Sscanf(have.Tool.Name, "read_%d", &n); err != nil {
					t.Fatal(err)
				}
				if d := diff(record(n), have); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
			}
			t.Logf("%d tools and %d servers saved", r.Tools, r.Servers)
		})
	}
}

// withoutBranches clears the pages that only lead to others.
func withoutBranches(b []byte, page int) []byte {
	for at := 2 * page; at < len(b); at += page {
		if b[at+8]&0x01 != 0 { // its flags say so
			clear(b[at : at+page])
		}
	}
	return b
}

func TestRecoverWithoutAFile(t *testing.T) {
	r, err := Recover(context.Background(), t.TempDir(), Options{})
	if err != nil || r.Backup != "" || r.Tools != 0 {
		t.Errorf("recovery %+v, %v; want an empty store and no backup", r, err)
	}
}

// TestAnyFlippedBit flips bits all over the file: whatever it hits, nothing panics, and what is read is all that was
// written, or it is said that something is damaged. What can be made again may be missing.
func TestAnyFlippedBit(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, &Batch{Records: records(100, 130)}) // so that there are older pages in the file
	writeFixture(t, s)
	write(t, s, &Batch{Records: records(5, 25), Remove: []tool.ID{record(110).Tool.ID()}})
	good, want := image(t, dir), readEverything(t, s)
	noticed := 0
	for off := 0; off < len(good); off += 257 {
		b := bytes.Clone(good)
		b[off] ^= 1 << (off % 8)
		st, err := Open(withImage(t, b), Options{})
		if err != nil {
			noticed++
			continue
		}
		snap, err := st.Load(context.Background(), View{Model: fixtureModel, Knowledge: "7"})
		outline, errOutline := st.Outline(context.Background(), View{Model: fixtureModel, Knowledge: "7"})
		if (err != nil || len(snap.Damaged) > 0) != (errOutline != nil || outline.Damaged) {
			t.Fatalf("bit flipped in byte %d: Load says %v, Outline %v", off, err, errOutline)
		}
		if err != nil || len(snap.Damaged) > 0 {
			noticed++
			continue
		}
		got := readEverything(t, st)
		for _, made := range []*everything{&want, &got} {
			made.Snapshot.Vectors, made.Snapshot.Analyses = nil, nil
		}
		if !reflect.DeepEqual(want, got) {
			d := diff(want, got)
			t.Fatalf("bit flipped in byte %d, unnoticed (-want +got)\n%s", off, d)
		}
	}
	if noticed == 0 {
		t.Error("no flip was noticed: the test hit nothing")
	}
	t.Logf("%d of %d flips noticed; the others hit nothing that is in use", noticed, len(good)/257+1)
}

// TestLostValuesShow takes a value away, and puts an older one back, as a page that was lost does: each value that is
// left has a valid checksum, and the loss shows all the same.
func TestLostValuesShow(t *testing.T) {
	key := []byte(record(4).Tool.ID())
	for name, change := range map[string]func(b *bolt.Bucket, older []byte) error{
		"lost":      func(b *bolt.Bucket, _ []byte) error { return b.Delete(key) },
		"older":     func(b *bolt.Bucket, older []byte) error { return b.Put(key, older) },
		"unchanged": func(*bolt.Bucket, []byte) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.TempDir(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			write(t, s, &Batch{Records: records(0, 10)})
			var older []byte
			if err := s.readTx(t.Context(), func(tx *bolt.Tx) error {
				older = bytes.Clone(tx.Bucket([]byte(bucketTools)).Get(key))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			newer := record(4)
			newer.Tool.Description = "newer"
			newer.Hash = newer.Tool.Hash()
			write(t, s, &Batch{Records: []Record{newer}})
			if err := s.writeTx(t.Context(), func(tx *bolt.Tx) error {
				return change(tx.Bucket([]byte(bucketTools)), older)
			}); err != nil {
				t.Fatal(err)
			}
			damaged := load(t, s, View{}).Damaged
			if name == "unchanged" {
				if len(damaged) > 0 || s.Check(t.Context()) != nil {
					t.Errorf("a sound store is said to be damaged: %v", damaged)
				}
				return
			}
			if len(damaged) != 1 || damaged[0].Kind != "bucket" || damaged[0].Key != bucketTools ||
				!errors.Is(s.Check(t.Context()), ErrDamaged) {
				t.Errorf("damaged: %v, want the bucket of tools", damaged)
			}
		})
	}
}
