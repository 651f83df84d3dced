package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names of the files of records. The number grows, so that their order is that of their names.
const (
	filePrefix = "audit-"
	fileSuffix = ".jsonl"
)

// fileName returns the name of the file of that number.
func fileName(number int) string { return fmt.Sprintf("%s%06d%s", filePrefix, number, fileSuffix) }

// fileNumber returns the number in a file's name.
func fileNumber(name string) (int, bool) {
	text, ok := strings.CutPrefix(name, filePrefix)
	text, ok2 := strings.CutSuffix(text, fileSuffix)
	n, err := strconv.Atoi(text)
	return n, ok && ok2 && err == nil && n > 0
}

// listFiles returns the numbers of the files in a directory, in order. A directory that does not exist has none.
func listFiles(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	var out []int
	for _, e := range entries {
		if n, ok := fileNumber(e.Name()); ok && e.Type().IsRegular() {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// line is a line of a file.
type line struct {
	text   []byte // with its line feed, if it has one
	at     int64  // offset in the file
	number int    // 1 for the first
}

// hasEnd reports whether the line has its line feed.
func (l line) hasEnd() bool { return bytes.HasSuffix(l.text, []byte("\n")) }

// eachLine calls do with the lines of a file between two offsets; a negative to means the end. The text is valid until
// do returns. It returns the offset after the last line.
func eachLine(path string, from, to int64, do func(line) error) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return from, err
	}
	defer func() { _ = f.Close() }() // only read
	var in io.Reader = io.NewSectionReader(f, from, max(to-from, 0))
	if to < 0 {
		if _, err := f.Seek(from, io.SeekStart); err != nil {
			return from, err
		}
		in = f
	}
	r := bufio.NewReaderSize(in, 64<<10)
	at := from
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if len(text) > 0 {
			if err := do(line{text, at, n}); err != nil {
				return at, err
			}
			at += int64(len(text))
		}
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil {
			return at, fmt.Errorf("read %s: %w", filepath.Base(path), err)
		}
	}
}

// firstRecord returns the first record of a file, after torn lines if there are any. The error is errNoRecord if the
// file holds none.
func firstRecord(path string) (Record, error) {
	var out Record
	found := errors.New("found")
	_, err := eachLine(path, 0, -1, func(l line) error {
		r, err := Decode(l.text)
		if err != nil {
			return nil // a torn line
		}
		out = r
		return found
	})
	if errors.Is(err, found) {
		return out, nil
	}
	if err == nil {
		err = errNoRecord
	}
	return Record{}, err
}
