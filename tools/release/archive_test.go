package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func some() []entry {
	return []entry{{"a/LICENSE", 0o644, []byte("do\n")}, {"a/tooldex", 0o755, bytes.Repeat([]byte("program "), 1000)}}
}

// TestArchives: what comes out again is what went in, with the time that was given.
func TestArchives(t *testing.T) {
	at := time.Unix(1_750_000_000, 0).UTC()
	for name, c := range map[string]struct {
		write func(io.Writer, []entry, time.Time) error
		read  func([]byte) ([]entry, []time.Time, error)
	}{
		"tar": {writeTar, readTar},
		"zip": {writeZip, readZip},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.write(&b, some(), at); err != nil {
				t.Fatal(err)
			}
			got, times, err := c.read(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(some(), got, cmp.AllowUnexported(entry{})); d != "" {
				t.Error(d)
			}
			for _, have := range times {
				if !have.Equal(at) {
					t.Errorf("a file is from %s, want %s", have, at)
				}
			}
			var again bytes.Buffer
			if err := c.write(&again, some(), at); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Errorf("the same files have other bytes: %v", err)
			}
		})
	}
	var b bytes.Buffer
	if err := writeZip(&b, some(), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if _, times, err := readZip(b.Bytes()); err != nil || times[0].Year() != 1980 {
		t.Errorf("before 1980: %v, %v", times, err)
	}
}

// TestArchiveBytes: the bytes are those that were published before, whatever machine writes them.
func TestArchiveBytes(t *testing.T) {
	at := time.Unix(1_750_000_000, 0).UTC()
	for name, c := range map[string]struct {
		write func(io.Writer, []entry, time.Time) error
		want  string
	}{
		"tar": {writeTar, "5d0fb6fce926cfb538e3761e760e38c1fed07724eae529937c2a6c627605691e"},
		"zip": {writeZip, "4daebedb90294b11b6f4e82eead151a86f509798f106a45222c64862eaee31bd"},
	} {
		var b bytes.Buffer
		if err := c.write(&b, some(), at); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b.Bytes())); got != c.want {
			t.Errorf("%s has the sum %s, want %s", name, got, c.want)
		}
	}
}

func readTar(b []byte) (files []entry, times []time.Time, err error) {
	zr, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files, times, nil
		}
		if err != nil {
			return nil, nil, err
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			return nil, nil, err
		}
		files, times = append(files, entry{h.Name, fs.FileMode(h.Mode), data}), append(times, h.ModTime)
	}
}

func readZip(b []byte) (files []entry, times []time.Time, err error) {
	zr, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			return nil, nil, err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, nil, err
		}
		files, times = append(files, entry{f.Name, f.Mode(), data}), append(times, f.Modified)
	}
	return files, times, nil
}
