package store

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"
)

// The first two pages of a bbolt file describe its latest state, in turn. If the newer one is damaged, bbolt silently
// uses the older one, which loses the last write. The format is read here to report that.
const (
	pageHeader = 16                   // bytes before what a page holds
	metaLen    = 64                   // bytes of what the two pages hold, with the checksum at the end
	metaMagic  = uint32(0xED0CDAED)   // at their beginning
	metaSumAt  = metaLen - uint64Size // where the checksum lies
	uint64Size = 8
)

var errMetaPage = errors.New("one of the two first pages is damaged; the last write may be lost")

// readPages notes in snap if one of the first two pages of the file is damaged. An error means that they cannot be
// read.
func (snap *Snapshot) readPages(db *bolt.DB) error {
	f, err := os.Open(db.Path())
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	b := make([]byte, pageHeader+metaLen)
	for i := range 2 {
		_, err := f.ReadAt(b, int64(i*db.Info().PageSize))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !metaWhole(b[pageHeader:]) {
			snap.Damaged = append(snap.Damaged, Damage{Kind: "page", Key: string('0' + rune(i)), Err: errMetaPage})
		}
	}
	return nil
}

// metaWhole reports whether the content of a first page has bbolt's magic number and a valid checksum.
func metaWhole(b []byte) bool {
	h := fnv.New64a()
	_, _ = h.Write(b[:metaSumAt]) // a hash takes everything
	return binary.NativeEndian.Uint32(b) == metaMagic && binary.NativeEndian.Uint64(b[metaSumAt:]) == h.Sum64()
}
