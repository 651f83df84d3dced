package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
)

// Dims is the width of a static table's rows.
const Dims = 256

// The layout of a table, little endian, made so that it is used where it lies:
//
//	header   64 bytes: magic, rows, slots, buckets, length of the strings, 3 float32 field weights, sha256 prefix (16 bytes)
//	slots    u32 each: row in the low half, tag of the hash in the high half; open addressing, a power of two of them
//	offsets  u32 × (rows+1): where each string begins
//	weights  u16 × 2 × rows: of the row in a document, of the row in a query
//	strings  a piece that continues a word begins with '#', a bucket with NUL
//	padding  to a multiple of 64
//	rows     256 bytes each, every component plus 128
//
// A row stands for its bytes times its weight; since every bag of rows is brought to unit length, the unit of the
// weights does not matter and none is kept.
const (
	tableMagic  = "TDXTAB01"
	headerSize  = 64
	freeSlot    = 0xffffffff
	maxRows     = 0xfff0
	maxPiece    = 48 // bytes of the longest string of a table
	fields      = 3
	continues   = '#'
	bucketMark  = 0
	maxBuckets  = 4096
	rowAlign    = 64
	digestBytes = 16
)

// Static is a table of rows for words and pieces. It is immutable and safe for concurrent use. Make one with [Builtin]
// or [Open]; the zero Static is not usable.
type Static struct {
	// sections of whole, as the layout above lists them
	slots, offsets, weights, texts, rows []byte

	// number of slots less one
	mask uint32
	// number of rows, buckets included
	count   int
	buckets uint32 // this many rows at the end stand for characters that no row spells, by hash
	mix     [fields]float64
	model   Model
	whole   []byte
}

// ErrTable is wrapped by every error of [Open] and [Static.Verify]: the bytes are not a whole, consistent table.
var ErrTable = errors.New("not a usable embedding table")

// corruptTable returns the error of a table that is damaged.
func corruptTable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTable, fmt.Sprintf(format, args...))
}

// Open reads a table that lies in data, which must not change afterwards. It checks the header and the vocabulary, not
// the rows, so it is quick and keeps no copy. Whatever the bytes, it returns either a table that is safe to use or an
// error that wraps [ErrTable]; use [Static.Verify] to check that the rows are the ones that were written.
func Open(data []byte) (*Static, error) {
	if len(data) < headerSize || string(data[:8]) != tableMagic {
		return nil, corruptTable("it does not begin with %s", tableMagic)
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	// Every number is checked before it is used as a size or an index: a table may come from a file.
	rows, slots, buckets, texts := u32(8), u32(12), u32(16), u32(20)
	if rows == 0 || rows > maxRows || buckets == 0 || buckets > min(rows, maxBuckets) {
		return nil, corruptTable("%d rows with %d buckets", rows, buckets)
	}
	if slots&(slots-1) != 0 || slots <= rows || slots > 1<<20 || texts > rows*maxPiece {
		return nil, corruptTable("%d slots and %d bytes of strings for %d rows", slots, texts, rows)
	}
	s := &Static{mask: slots - 1, count: int(rows), buckets: buckets, whole: data}
	at := headerSize
	// Once a section exceeds the data, at lies behind its end and no further section is cut.
	section := func(size int) []byte {
		if size > len(data)-at {
			at = len(data) + 1
			return nil
		}
		b := data[at : at+size : at+size]
		at += size
		return b
	}
	s.slots = section(int(slots) * 4)
	if at <= len(data) {
		s.offsets = section((int(rows) + 1) * 4)
	}
	if at <= len(data) {
		s.weights = section(int(rows) * 4)
	}
	if at <= len(data) {
		s.texts = section(int(texts))
	}
	if at <= len(data) {
		at = (at + rowAlign - 1) &^ (rowAlign - 1)
	}
	if at > len(data) || len(data)-at != int(rows)*Dims {
		return nil, corruptTable("%d bytes do not hold %d rows", len(data), rows)
	}
	s.rows = data[at:]
	for i := range s.mix {
		s.mix[i] = float64(math.Float32frombits(u32(24 + 4*i)))
		if !(s.mix[i] >= 0 && s.mix[i] <= 1e6) {
			return nil, corruptTable("field weight %d is %v", i, s.mix[i])
		}
	}
	s.model = Model{Name: "tooldex-static", Dims: Dims, Fingerprint: hex.EncodeToString(data[36 : 36+digestBytes])}
	return s, s.checkTable()
}

// checkTable makes sure that no lookup can leave the table: strings ascend and are short, slots name rows that exist,
// and at least one slot is free, so that every probe ends.
func (s *Static) checkTable() error {
	last := uint32(0)
	for i := 0; i <= s.count; i++ {
		o := binary.LittleEndian.Uint32(s.offsets[4*i:])
		if o < last || o-last > maxPiece || int64(o) > int64(len(s.texts)) {
			return corruptTable("string %d ends at %d after %d", i, o, last)
		}
		last = o
	}
	free := 0
	for i := 0; i < len(s.slots); i += 4 {
		v := binary.LittleEndian.Uint32(s.slots[i:])
		if v == freeSlot {
			free++
		} else if int(v&0xffff) >= s.count {
			return corruptTable("slot %d names row %d of %d", i/4, v&0xffff, s.count)
		}
	}
	if free == 0 {
		return corruptTable("no slot is free")
	}
	return nil
}

// Verify reads the whole table and compares it with the digest in its header, which [Model].Fingerprint shows. It takes
// some ten milliseconds.
func (s *Static) Verify() error {
	if got := tableDigest(s.whole); !bytes.Equal(got, s.whole[36:36+digestBytes]) {
		return corruptTable("its digest is %x, not %x", got, s.whole[36:36+digestBytes])
	}
	return nil
}

// tableDigest returns the digest of every byte of a table but the digest's own.
func tableDigest(table []byte) []byte {
	h := sha256.New()
	h.Write(table[:36])
	h.Write(table[36+digestBytes:])
	return h.Sum(nil)[:digestBytes]
}

// Model returns the name of the table and its digest.
func (s *Static) Model() Model { return s.model }

// Rows returns the number of rows, those of buckets included.
func (s *Static) Rows() int { return s.count }

// Token returns what row i stands for: a word, a piece with a leading # that continues one, or "" for a bucket of rare
// characters. It panics if the table has no such row.
func (s *Static) Token(i int) string {
	t := s.rowText(uint32(i))
	if len(t) > 0 && t[0] == bucketMark {
		return ""
	}
	return string(t)
}

// rowText returns the string of a row, in place.
func (s *Static) rowText(row uint32) []byte {
	a := binary.LittleEndian.Uint32(s.offsets[4*row:])
	b := binary.LittleEndian.Uint32(s.offsets[4*row+4:])
	return s.texts[a:b]
}

// The hash is FNV-1a, so that the hash of a prefix is a step on the way to that of the whole.
const (
	hashBasis = 2166136261
	hashPrime = 16777619
)

// hashBytes continues the hash h with b; begin with hashBasis.
func hashBytes(h uint32, b []byte) uint32 {
	for _, c := range b {
		h = (h ^ uint32(c)) * hashPrime
	}
	return h
}

// slotOf mixes a hash so that the place and the tag of a slot depend on all of its bits.
func slotOf(h uint32) (place, tag uint32) {
	h ^= h >> 15
	h *= 0x2c1b3c6d
	h ^= h >> 13
	return h, (h * 0x9e3779b1) >> 16
}

// findRow returns the row whose string is lead (if not 0) followed by b, and h is the hash of both together. It
// allocates nothing. Most other strings are skipped by their tag.
func (s *Static) findRow(h uint32, lead byte, b []byte) (row uint32, ok bool) {
	place, tag := slotOf(h)
	for i := place & s.mask; ; i = (i + 1) & s.mask {
		v := binary.LittleEndian.Uint32(s.slots[4*i:])
		if v == freeSlot {
			return 0, false
		}
		if v>>16 != tag {
			continue
		}
		row = v & 0xffff
		t := s.rowText(row)
		if lead != 0 {
			if len(t) == 0 || t[0] != lead {
				continue
			}
			t = t[1:]
		}
		if string(t) == string(b) {
			return row, true
		}
	}
}
