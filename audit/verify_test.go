package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tooldex/tool"
)

// forged writes a record again as somebody would who knows how the hash is made.
func forged(t *testing.T, text []byte, change func(*Record)) []byte {
	t.Helper()
	r, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	change(&r)
	out, err := r.encodeLine()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTamperingIsNamed(t *testing.T) {
	base := t.TempDir()
	l := New(Options{Dir: base, MaxSize: 3500, MaxFiles: 100})
	fill(t, l, 30)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	clean := verified(t, base)
	if clean.Files < 3 {
		t.Fatalf("%d files, want several", clean.Files)
	}
	first := bytes.Count(read(t, base, 1), []byte("\n")) // records in the first file
	other := New(Options{Dir: t.TempDir()})
	fill(t, other, 3)
	stranger := bytes.SplitAfter(read(t, other.o.Dir, 1), []byte("\n"))
	_ = other.Close()

	type lines = [][]byte
	for name, c := range map[string]struct {
		file int
		do   func(lines) lines
		want []string // "file:line: fault", in order
	}{
		"a byte": {
			1, func(l lines) lines { l[2] = bytes.Replace(l[2], []byte("s/t"), []byte("s/u"), 1); return l },
			[]string{"1:3: altered"},
		},
		"a record with its own hash": {1, func(l lines) lines {
			l[2] = forged(t, l[2], func(r *Record) { r.Tool = "s/u" })
			return l
		}, []string{"1:3: altered"}},
		"the last of a file, with its hash": {1, func(l lines) lines {
			l[first-1] = forged(t, l[first-1], func(r *Record) { r.Outcome = Denied })
			return l
		}, []string{fmt.Sprintf("1:%d: altered", first)}},
		"two next to each other": {
			1, func(l lines) lines { l[2][5], l[3][5] = 'x', 'x'; return l },
			[]string{"1:3: altered", "1:4: altered"},
		},
		"a line is gone":         {1, func(l lines) lines { return slices.Delete(l, 2, 3) }, []string{"1:3: deleted"}},
		"the first line is gone": {1, func(l lines) lines { return l[1:] }, []string{"1:1: deleted"}},
		"three lines are gone":   {1, func(l lines) lines { return slices.Delete(l, 1, 4) }, []string{"1:2: deleted"}},
		"all of a file is gone":  {2, func(lines) lines { return nil }, []string{"3:1: deleted"}},
		"nonsense is put in": {
			1, func(l lines) lines { return slices.Insert(l, 2, []byte("{}\n")) },
			[]string{"1:3: inserted"},
		},
		"a line twice": {
			1, func(l lines) lines { return slices.Insert(l, 4, bytes.Clone(l[1])) },
			[]string{"1:5: inserted"},
		},
		"a line of another log": {
			1, func(l lines) lines { return slices.Insert(l, 4, stranger[1]) },
			[]string{"1:5: inserted"},
		},
		"two lines change places": {
			1, func(l lines) lines { l[2], l[3] = l[3], l[2]; return l },
			[]string{"1:3: reordered", "1:4: reordered"},
		},
		"a line moves down": {1, func(l lines) lines {
			moved := l[1]
			return slices.Insert(slices.Delete(l, 1, 2), 4, moved)
		}, []string{"1:2: reordered", "1:5: reordered"}},
		"cut in the middle of a line": {1, func(l lines) lines {
			l[2] = append(bytes.Clone(l[2][:20]), '\n')
			return l
		}, []string{"1:3: altered"}},
		"a file ends too early": {1, func(l lines) lines { return l[:3] }, []string{"2:1: deleted"}},
		"the last file ends too early": {clean.Files, func(l lines) lines { return l[:1] }, []string{
			fmt.Sprintf("%d:0: shortened", clean.Files),
		}},
		"the last record, with its hash": {clean.Files, func(l lines) lines {
			n := len(l) - 1
			l[n] = forged(t, l[n], func(r *Record) { r.Tool = "s/u" })
			return l
		}, []string{fmt.Sprintf("%d:%d: altered", clean.Files, bytes.Count(read(t, base, clean.Files), []byte("\n")))}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, base)
			all := bytes.SplitAfter(bytes.TrimSuffix(read(t, dir, c.file), []byte("\n")), []byte("\n"))
			all[len(all)-1] = append(bytes.Clone(all[len(all)-1]), '\n')
			put(t, filepath.Join(dir, fileName(c.file)), bytes.Join(c.do(all), nil))
			r, err := Verify(context.Background(), dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range r.Breaks {
				n, _ := fileNumber(b.File)
				got = append(got, fmt.Sprintf("%d:%d: %s", n, b.Line, b.Fault))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("breaks %v, want %v\n%v", got, c.want, r.Breaks)
			}
			// The log goes on, and what was done stays visible.
			k := New(Options{Dir: dir, MaxSize: 3500, MaxFiles: 100})
			fill(t, k, 3)
			_ = k.Close()
			if r, err := Verify(context.Background(), dir); err != nil || r.OK() {
				t.Errorf("after three more records nothing is wrong: %v", err)
			}
		})
	}
}

func read(t *testing.T, dir string, number int) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, fileName(number)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestEveryByteCounts changes each byte of a small log in turn.
func TestEveryByteCounts(t *testing.T) {
	dir := t.TempDir()
	l := New(Options{Dir: dir})
	fill(t, l, 2)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole := read(t, dir, 1)
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		put(t, filepath.Join(dir, fileName(1)), b)
		if r, err := Verify(context.Background(), dir); err != nil || r.OK() {
			t.Errorf("nobody notices that byte %d is another: %v", i, err)
		}
	}
	for n := 0; n < len(whole); n += 5 {
		put(t, filepath.Join(dir, fileName(1)), whole[:n])
		if r, err := Verify(context.Background(), dir); err != nil || r.OK() {
			t.Errorf("nobody notices that only %d bytes are left: %v", n, err)
		}
	}
}

func TestFilesThatAreGone(t *testing.T) {
	dir := t.TempDir()
	l := New(Options{Dir: dir, MaxSize: 2000, MaxFiles: 4})
	fill(t, l, 40)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	numbers, err := listFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		gone int
		want Fault
	}{"the oldest": {0, Deleted}, "one in the middle": {1, Deleted}, "the last": {3, Shortened}} {
		t.Run(name, func(t *testing.T) {
			d := copied(t, dir)
			if err := os.Remove(filepath.Join(d, fileName(numbers[c.gone]))); err != nil {
				t.Fatal(err)
			}
			r, err := Verify(context.Background(), d)
			if err != nil || len(r.Breaks) != 1 || r.Breaks[0].Fault != c.want {
				t.Errorf("%v, %v; want one that is %s", r.Breaks, err, c.want)
			}
		})
	}
	for _, n := range numbers {
		if err := os.Remove(filepath.Join(dir, fileName(n))); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := Verify(context.Background(), dir); err != nil || len(r.Breaks) == 0 {
		t.Errorf("all files are gone: %v, %v", r.Breaks, err)
	}
	if r, err := Verify(context.Background(), filepath.Join(dir, "missing")); err != nil || !r.OK() || r.Head != nil {
		t.Errorf("no directory: %+v, %v", r, err)
	}
}

// TestAnchors wants a chain that was written anew from the beginning, as the files alone cannot show, to be found out.
func TestAnchors(t *testing.T) {
	dir := t.TempDir()
	l := New(Options{Dir: dir})
	fill(t, l, 5)
	_ = l.Close()
	noted := *verified(t, dir).Head
	back, err := ParseAnchor(noted.String())
	if err != nil || back != noted {
		t.Fatalf("%v, %v", back, err)
	}
	if r, err := Verify(context.Background(), dir, noted); err != nil || !r.OK() {
		t.Errorf("%v, %v", r.Breaks, err)
	}
	again := t.TempDir()
	k := New(Options{Dir: again})
	fill(t, k, 7)
	_ = k.Close()
	for name, c := range map[string]struct {
		anchor Anchor
		want   Fault
	}{"another chain": {noted, Foreign}, "a longer one": {Anchor{100, noted.Hash}, Shortened}} {
		if r, err := Verify(context.Background(), again, c.anchor); err != nil || len(r.Breaks) != 1 ||
			r.Breaks[0].Fault != c.want {
			t.Errorf("%s: %v, %v", name, r.Breaks, err)
		}
	}
	for _, bad := range []string{
		"", "5", "5:", "x:" + zeroHash, "5:" + strings.ToUpper(noted.Hash) + "g",
		"-1:" + zeroHash,
	} {
		if _, err := ParseAnchor(bad); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := Record{Seq: 7, Kind: Call, Tool: "s/t", Outcome: OK, Prev: zeroHash, Given: json.RawMessage(`{"a":[1,2]}`)}
	b, err := r.encodeLine()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(hashMember + zeroHash + lineEnd))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := Decode(line)
		if err != nil {
			return
		}
		// What is taken for a record is one under its own hash, byte for byte.
		text := bytes.TrimSuffix(line, []byte("\n"))
		if hashOf(text[:len(text)-tailLength]) != got.Hash {
			t.Fatalf("%q has the hash %s", line, got.Hash)
		}
		again, err := got.encodeLine()
		if err != nil {
			return // a Given that JSON takes and encoding refuses
		}
		if _, err := Decode(again); err != nil {
			t.Fatalf("%q written again is no record: %v", again, err)
		}
	})
}

func FuzzDecodeHead(f *testing.F) {
	b, err := checkpoint{Anchor: Anchor{3, zeroHash}, Base: Anchor{Hash: zeroHash}, File: 1, Size: 10}.encodeHead()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeCheckpoint(b)
		if err == nil && (h.File < 1 || h.Size < 0) {
			t.Fatalf("%+v", h)
		}
	})
}
