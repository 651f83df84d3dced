package flatfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSpool(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.flat")
	s, err := NewSpool(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for i := range 300_000 { // more than one buffer
		b := bytes.Repeat([]byte{byte(i)}, i%13)
		want = append(want, b...)
		if err := s.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		var got []byte
		parts := 0
		err := s.Each(7, func(part []byte) error {
			parts++
			if len(got)+len(part) < len(want) && len(part)%7 != 0 {
				t.Errorf("a part of %d bytes", len(part))
			}
			got = append(got, part...)
			return nil
		})
		if err != nil || !bytes.Equal(got, want) || parts < 2 {
			t.Fatalf("%d of %d bytes in %d parts, %v", len(got), len(want), parts, err)
		}
	}
	stop := errors.New("enough")
	if err := s.Each(1, func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of the function is %v", err)
	}
	if err := Write(path, []byte("key"), []Section{Part([]byte("first")), s.Section(), {}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Open(path, nil, false)
	if err != nil || len(got) != 3 || string(got[0]) != "first" || !bytes.Equal(got[1], want) || len(got[2]) != 0 {
		t.Errorf("%d sections, %v", len(got), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

// TestSpoolCut loses a part of what was written: nothing is made of the rest.
func TestSpoolCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.flat")
	s, err := NewSpool(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Append(make([]byte, 3*spoolBuffer)); err != nil {
		t.Fatal(err)
	}
	if err := s.f.Truncate(spoolBuffer); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, nil, []Section{s.Section()}); err == nil {
		t.Error("a section was written that is cut short")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}
