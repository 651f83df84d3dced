package store

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// bucketSum tells all the values of a bucket together: a page that is lost, or that shows what was there before, leaves every
// value with a checksum that holds, and yet something is missing.
type bucketSum struct {
	values uint64
	of     uint64 // the sum of their checksums
}

// keySum is where a bucket's sum lies in the bucket of numbers.
func keySum(bucket string) []byte { return []byte("sum/" + bucket) }

// with adds a sealed value; nil adds none.
func (s bucketSum) with(sealed []byte) bucketSum {
	if sealed == nil {
		return s
	}
	return bucketSum{s.values + 1, s.of + uint64(checksumOf(sealed))}
}

// without takes a sealed value away; nil takes none.
func (s bucketSum) without(sealed []byte) bucketSum {
	if sealed == nil {
		return s
	}
	return bucketSum{s.values - 1, s.of - uint64(checksumOf(sealed))}
}

// checksumOf is the checksum that a value ends in, whether it holds or not.
func checksumOf(sealed []byte) uint32 {
	if len(sealed) < sumLen {
		return 0
	}
	return binary.LittleEndian.Uint32(sealed[len(sealed)-sumLen:])
}

func (s bucketSum) write(tx *bolt.Tx, bucket string) error {
	b := binary.BigEndian.AppendUint64(nil, s.values)
	key := keySum(bucket)
	return tx.Bucket([]byte(bucketMeta)).Put(key, seal(key, binary.BigEndian.AppendUint64(b, s.of)))
}

// readSum returns what is written. A sum that cannot be read is one that nothing agrees with.
func readSum(tx *bolt.Tx, bucket string) bucketSum {
	key := keySum(bucket)
	v := tx.Bucket([]byte(bucketMeta)).Get(key)
	if v == nil {
		return bucketSum{}
	}
	b, err := unseal(key, v)
	if err != nil || len(b) != 16 {
		return bucketSum{of: 1 << 63}
	}
	return bucketSum{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// compare notes in snap if the values of a bucket are not those that it should have.
func (s bucketSum) compare(tx *bolt.Tx, bucket string, snap *Snapshot) {
	want := readSum(tx, bucket)
	switch {
	case s == want:
	case s.values != want.values:
		snap.Damaged = append(snap.Damaged, Damage{
			Kind: "bucket", Key: bucket,
			Err: fmt.Errorf("holds %d values where %d were written", s.values, want.values),
		})
	default:
		snap.Damaged = append(snap.Damaged, Damage{
			Kind: "bucket", Key: bucket,
			Err: fmt.Errorf("its %d values are not those that were written last", s.values),
		})
	}
}
