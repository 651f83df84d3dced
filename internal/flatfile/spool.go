package flatfile

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"unsafe"

	"tooldex/internal/atomicfile"
)

// Section is what a section of a file is made of: bytes in memory, or a Spool. The zero Section is empty.
type Section struct {
	bytes []byte
	spool *Spool
}

// Part returns a section of bytes, which it does not copy.
func Part(b []byte) Section { return Section{bytes: b} }

// Parts returns a section for each of some bytes.
func Parts(list ...[]byte) []Section {
	out := make([]Section, len(list))
	for i, b := range list {
		out[i] = Part(b)
	}
	return out
}

func (s Section) size() uint64 {
	if s.spool != nil {
		return s.spool.n
	}
	return uint64(len(s.bytes))
}

func (s Section) sum() uint32 {
	if s.spool != nil {
		return s.spool.sum
	}
	return checksum(s.bytes)
}

// writeTo writes the section and zeros up to a multiple of align.
func (s Section) writeTo(w io.Writer) error {
	if s.spool == nil {
		return writePadded(w, s.bytes)
	}
	if err := s.spool.rewind(); err != nil {
		return err
	}
	if _, err := io.CopyN(w, s.spool.f, int64(s.spool.n)); err != nil {
		return err
	}
	_, err := w.Write(make([]byte, aligned(s.spool.n)-s.spool.n))
	return err
}

// spoolBuffer is how many bytes of a Spool are in memory while it is written or read.
const spoolBuffer = 1 << 20

// Spool collects what becomes a section and is too long for memory, in a file that no other process sees. It is not
// safe for concurrent use. Close it after use.
type Spool struct {
	f    *os.File
	w    *bufio.Writer
	path string // "" once the file has no name any more
	n    uint64
	sum  uint32
}

// NewSpool returns an empty Spool beside the file that it will be a section of.
func NewSpool(path string) (*Spool, error) {
	s := &Spool{path: atomicfile.Beside(path)}
	var err error
	if s.f, err = os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	if os.Remove(s.path) == nil { // not on Windows, where Close removes it
		s.path = ""
	}
	s.w = bufio.NewWriterSize(s.f, spoolBuffer)
	return s, nil
}

// Append adds bytes.
func (s *Spool) Append(b []byte) error {
	s.n += uint64(len(b))
	s.sum = crc32.Update(s.sum, crc32.MakeTable(crc32.Castagnoli), b)
	_, err := s.w.Write(b)
	return err
}

// Len returns the number of bytes.
func (s *Spool) Len() uint64 { return s.n }

// Section returns all that was appended as a section.
func (s *Spool) Section() Section { return Section{spool: s} }

// rewind makes the file complete and goes to its beginning.
func (s *Spool) rewind() error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	_, err := s.f.Seek(0, io.SeekStart)
	return err
}

// Each calls fn with all that was appended, in order, in parts of a multiple of unit bytes that are aligned for every
// number. A part is valid until fn returns. Nothing can be appended afterwards.
func (s *Spool) Each(unit int, fn func(part []byte) error) error {
	if err := s.rewind(); err != nil {
		return err
	}
	words := make([]uint64, max(unit, spoolBuffer/unit*unit)/8+1)
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), max(unit, spoolBuffer/unit*unit))
	for left := s.n; left > 0; {
		part := buffer[:min(uint64(len(buffer)), left)]
		if _, err := io.ReadFull(s.f, part); err != nil {
			return fmt.Errorf("read what was written before: %w", err)
		}
		left -= uint64(len(part))
		if err := fn(part); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the file.
func (s *Spool) Close() error {
	err := s.f.Close()
	if s.path != "" {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}
