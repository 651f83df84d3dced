package flatfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"unsafe"

	"tooldex/internal/atomicfile"
)

// The layout of a file: the magic, a number that shows the order of bytes, the header's checksum, the length of the
// key, the number of sections, the length of the file; for each section its offset, length and checksum; the key; and
// the sections, each at a multiple of align.
const (
	magic      = "TDXFLAT1"
	order      = 0x01020304
	headLen    = len(magic) + 4 + 4 + 4 + 4 + 8
	entryLen   = 8 + 8 + 8
	align      = 64
	mostHead   = 1 << 20
	verifyUpTo = 64 << 20 // bytes of sections that Open verifies
)

// ErrForeign is wrapped by the error of a file that is damaged, cut short, or was not written by this version on this
// kind of processor.
var ErrForeign = errors.New("not a flat file of this version, or damaged")

// Write replaces the file at path.
func Write(path string, key []byte, sections []Section) error {
	head := make([]byte, headLen+entryLen*len(sections), headLen+entryLen*len(sections)+len(key))
	at := aligned(uint64(len(head) + len(key)))
	for i, s := range sections {
		e := head[headLen+entryLen*i:]
		binary.NativeEndian.PutUint64(e, at)
		binary.NativeEndian.PutUint64(e[8:], s.size())
		binary.NativeEndian.PutUint64(e[16:], uint64(s.sum()))
		at = aligned(at + s.size())
	}
	n := copy(head, magic)
	binary.NativeEndian.PutUint32(head[n:], order)
	binary.NativeEndian.PutUint32(head[n+8:], uint32(len(key)))
	binary.NativeEndian.PutUint32(head[n+12:], uint32(len(sections)))
	binary.NativeEndian.PutUint64(head[n+16:], at)
	head = append(head, key...)
	binary.NativeEndian.PutUint32(head[n+4:], checksum(head[n+8:]))
	return atomicfile.Create(path, 0o600, func(w io.Writer) error {
		if err := writePadded(w, head); err != nil {
			return err
		}
		for _, s := range sections {
			if err := s.writeTo(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// writePadded writes b and zeros up to a multiple of align.
func writePadded(w io.Writer, b []byte) error {
	if _, err := w.Write(b); err != nil {
		return err
	}
	_, err := w.Write(make([]byte, aligned(uint64(len(b)))-uint64(len(b))))
	return err
}

func aligned(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// ReadKey returns the key of a file, and reads nothing else of it.
func ReadKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size(), mostHead))
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	key, _, err := parseHead(b, uint64(info.Size()))
	return key, err
}

// Open returns the sections of a file, in the order in which they were written. They must not be changed. Mapped asks
// for them where they lie: they are then never given back to the system, since nothing tells when the last user of a
// part of them is gone. Otherwise, and on systems without mapping, they are read into memory.
//
// A file with another key than the given one is foreign; nil stands for any. It may have been replaced since ReadKey.
//
// Open verifies the checksums of a file of up to 64 MB; of a larger one that of the header, which leaves what the disk
// has spoilt since. The error wraps ErrForeign, or is that of the system.
func Open(path string, key []byte, mapped bool) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // a mapping outlives it
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if size < int64(headLen) || size != int64(int(size)) {
		return nil, fmt.Errorf("%s: %w", path, ErrForeign)
	}
	var b []byte
	if mapped && canMap {
		b, err = mapFile(f, int(size))
	} else {
		words := make([]uint64, (size+7)/8) // aligned for every number
		b = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
		_, err = io.ReadFull(f, b)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	sections, err := split(b, key)
	if err != nil {
		if mapped && canMap {
			unmap(b) // nobody has seen it
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return sections, nil
}

// split checks a whole file and cuts it into sections. A nil key is that of every file.
func split(b, key []byte) ([][]byte, error) {
	have, entries, err := parseHead(b, uint64(len(b)))
	if err != nil {
		return nil, err
	}
	if key != nil && !bytes.Equal(have, key) {
		return nil, fmt.Errorf("the file has another key: %w", ErrForeign)
	}
	sections := make([][]byte, len(entries)/entryLen)
	for i := range sections {
		e := entries[entryLen*i:]
		at, n := binary.NativeEndian.Uint64(e), binary.NativeEndian.Uint64(e[8:])
		if at > uint64(len(b)) || n > uint64(len(b))-at || at%align != 0 {
			return nil, ErrForeign
		}
		sections[i] = b[at : at+n : at+n]
		if len(b) <= verifyUpTo && uint64(checksum(sections[i])) != binary.NativeEndian.Uint64(e[16:]) {
			return nil, ErrForeign
		}
	}
	return sections, nil
}

// parseHead checks the header of a file of this size, and returns its key and its entries.
func parseHead(b []byte, size uint64) (key, entries []byte, err error) {
	if len(b) < headLen || string(b[:len(magic)]) != magic {
		return nil, nil, ErrForeign
	}
	h := b[len(magic):]
	keyLen, sections := uint64(binary.NativeEndian.Uint32(h[8:])), uint64(binary.NativeEndian.Uint32(h[12:]))
	end := uint64(headLen) + entryLen*sections + keyLen
	if binary.NativeEndian.Uint32(h) != order || end > uint64(len(b)) || binary.NativeEndian.Uint64(h[16:]) != size ||
		checksum(b[len(magic)+8:end]) != binary.NativeEndian.Uint32(h[4:]) {
		return nil, nil, ErrForeign
	}
	entries = b[headLen : uint64(headLen)+entryLen*sections]
	return b[end-keyLen : end], entries, nil
}

// Bytes returns the memory of list. T must have no pointers.
func Bytes[T any](list []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), uintptr(len(list))*unsafe.Sizeof(one))
}

// List returns a section as the list that Bytes was given. The error wraps ErrForeign if its length is not that of such
// a list.
func List[T any](section []byte) ([]T, error) {
	var one T
	size := unsafe.Sizeof(one)
	if uintptr(len(section))%size != 0 || uintptr(unsafe.Pointer(unsafe.SliceData(section)))%unsafe.Alignof(one) != 0 {
		return nil, fmt.Errorf("a section of %d bytes: %w", len(section), ErrForeign)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(section))), uintptr(len(section))/size), nil
}

// String returns a part of a section as a string without copying it, and false if it is not inside.
func String(section []byte, at, n uint64) (string, bool) {
	if at > uint64(len(section)) || n > uint64(len(section))-at {
		return "", false
	}
	return unsafe.String(unsafe.SliceData(section[at:]), n), true
}

// BytesOf returns the bytes of a string without copying them. They must not be changed, and have no room behind them.
func BytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
