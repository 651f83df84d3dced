package store

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// bucketSum covers all the values of a bucket together. If a page is lost, or shows an older state, every value that is
// left has a valid checksum, and only the sum reveals the loss. It does not depend on the order of values, so that a
// write updates it without reading the others.
type bucketSum struct {
	values uint64
	of     uint64 // the sum of their checksums, modulo 2^64
}

// keySum returns the key of a bucket's sum in the meta bucket.
func keySum(bucket string) []byte { return []byte("sum/" + bucket) }

// addValue returns the sum with a sealed value added; nil adds none.
func (s bucketSum) addValue(sealed []byte) bucketSum {
	if sealed == nil {
		return s
	}
	return bucketSum{s.values + 1, s.of + uint64(checksumOf(sealed))}
}

// removeValue returns the sum with a sealed value removed; nil removes none.
func (s bucketSum) removeValue(sealed []byte) bucketSum {
	if sealed == nil {
		return s
	}
	return bucketSum{s.values - 1, s.of - uint64(checksumOf(sealed))}
}

// checksumOf returns the checksum at the end of a sealed value, whether it is valid or not.
func checksumOf(sealed []byte) uint32 {
	if len(sealed) < sumLen {
		return 0
	}
	return binary.LittleEndian.Uint32(sealed[len(sealed)-sumLen:])
}

// writeSum stores the sum of a bucket, sealed like any other value.
func (s bucketSum) writeSum(tx *bolt.Tx, bucket string) error {
	b := binary.BigEndian.AppendUint64(nil, s.values)
	key := keySum(bucket)
	return tx.Bucket([]byte(bucketMeta)).Put(key, sealPayload(key, binary.BigEndian.AppendUint64(b, s.of)))
}

// readSum returns the stored sum of a bucket. For a sum that cannot be read it returns one that no bucket has.
func readSum(tx *bolt.Tx, bucket string) bucketSum {
	key := keySum(bucket)
	v := tx.Bucket([]byte(bucketMeta)).Get(key)
	if v == nil {
		return bucketSum{}
	}
	b, err := unsealValue(key, v)
	if err != nil || len(b) != 16 {
		return bucketSum{of: 1 << 63}
	}
	return bucketSum{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// compareSum notes the bucket as damaged in snap if s, the sum of its values, is not the stored one.
func (s bucketSum) compareSum(tx *bolt.Tx, bucket string, snap *Snapshot) {
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
