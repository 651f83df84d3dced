package flatfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

type pair struct {
	a int32
	b float32
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.flat")
	pairs := []pair{{1, .5}, {-2, 7}, {3, 0}}
	long := bytes.Repeat([]byte("text "), 1000)
	if err := Write(path, []byte("key"), Parts(Bytes(pairs), nil, long)); err != nil {
		t.Fatal(err)
	}
	if key, err := ReadKey(path); err != nil || string(key) != "key" {
		t.Errorf("the key is %q, %v", key, err)
	}
	for _, mapped := range []bool{true, false} {
		got, err := Open(path, nil, mapped)
		if err != nil {
			t.Fatal(err)
		}
		list, err := List[pair](got[0])
		if err != nil || !slices.Equal(list, pairs) || len(got[1]) != 0 || !bytes.Equal(got[2], long) {
			t.Errorf("mapped %v: %v, %v, %d bytes", mapped, list, err, len(got[2]))
		}
		if _, err := Open(path, []byte("other"), mapped); !errors.Is(err, ErrForeign) {
			t.Errorf("a file with another key is opened: %v", err)
		}
		if _, err := Open(path, []byte("key"), mapped); err != nil {
			t.Error(err)
		}
		if _, err := List[pair](got[2][:9]); !errors.Is(err, ErrForeign) {
			t.Errorf("nine bytes are read as pairs: %v", err)
		}
		if s, ok := String(got[2], 5, 4); !ok || s != "text" {
			t.Errorf("a part is %q", s)
		}
		if _, ok := String(got[2], 4999, 2); ok {
			t.Error("a part beyond the end is given")
		}
	}
}

// TestReplace shows that what was opened stays as it was when another file takes the place.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.flat")
	if err := Write(path, nil, Parts([]byte("before"))); err != nil {
		t.Fatal(err)
	}
	before, err := Open(path, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path, nil, Parts([]byte("after"))); err != nil {
		t.Fatal(err)
	}
	after, err := Open(path, nil, true)
	if err != nil || string(before[0]) != "before" || string(after[0]) != "after" {
		t.Errorf("%q, then %q, %v", before[0], after[0], err)
	}
}

// TestDamaged flips each byte of a file, and cuts it everywhere: no other content than what was written is ever given.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.flat")
	if err := Write(path, []byte("key"), Parts([]byte("first"), []byte("second"))); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, at int, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, mapped := range []bool{true, false} {
			got, err := Open(path, nil, mapped)
			if err == nil && (string(got[0]) != "first" || string(got[1]) != "second" || len(got) != 2) {
				t.Errorf("%s at %d gives %q", what, at, got)
			}
			if err != nil && !errors.Is(err, ErrForeign) {
				t.Errorf("%s at %d: %v", what, at, err)
			}
		}
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x41
		check("a flipped byte", i, b)
		check("a cut", i, whole[:i])
	}
	check("a longer file", 0, append(bytes.Clone(whole), 0))
}

func FuzzParse(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x.flat")
	if err := Write(path, []byte("key"), Parts([]byte("first"), []byte("second"))); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		sections, err := split(b, nil)
		if err != nil && !errors.Is(err, ErrForeign) {
			t.Error(err)
		}
		for _, s := range sections {
			_ = bytes.Clone(s)
		}
	})
}
