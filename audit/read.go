package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Reader reads the records of a directory in the order in which they were written. It is not safe for concurrent use.
type Reader struct {
	dir    string
	number int   // of the file that is read; 0 before the first
	at     int64 // offset in that file
}

// NewReader returns a Reader that begins with the first record that is kept.
func NewReader(dir string) *Reader { return &Reader{dir: dir} }

// Read calls do with each record that was written since the last Read. It skips lines that are no records; [Verify]
// reports those. An error of do ends the reading and is returned; the next Read continues after that record.
func (r *Reader) Read(do func(Record) error) error {
	numbers, err := listFiles(r.dir)
	if err != nil {
		return fmt.Errorf("read audit log: %w", err)
	}
	for _, number := range numbers {
		if number < r.number {
			continue
		}
		if number > r.number {
			r.number, r.at = number, 0
		}
		if err := r.readFile(do); err != nil && !errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
			return err
		}
	}
	return nil
}

// readFile reads the rest of the current file, up to its last whole line.
func (r *Reader) readFile(do func(Record) error) error {
	_, err := eachLine(filepath.Join(r.dir, fileName(r.number)), r.at, -1, func(l line) error {
		if !l.hasEnd() {
			return nil // it may still be being written
		}
		r.at = l.at + int64(len(l.text))
		rec, err := Decode(l.text)
		if err != nil {
			return nil
		}
		return do(rec)
	})
	return err
}
