package store

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// sum tells all the values of a bucket together: a page that is lost, or that shows what was there before, leaves every
// value with a checksum that holds, and yet something is missing.
type sum struct {
	values uint64
	of     uint64 // the sum of their checksums
}

// summed lists the buckets that have a sum: those that cannot be made again.
func summed() []string {
	return []string{
		bucketTools, bucketServers, bucketSources, bucketOverlays, bucketTrust, bucketPreferences,
		string(learnedNotes), string(countNotes),
	}
}

// keySum is where a bucket's sum lies in the bucket of numbers.
func keySum(bucket string) []byte { return []byte("sum/" + bucket) }

// with adds a sealed value; nil adds none.
func (s sum) with(sealed []byte) sum {
	if sealed == nil {
		return s
	}
	return sum{s.values + 1, s.of + uint64(tail(sealed))}
}

// without takes a sealed value away; nil takes none.
func (s sum) without(sealed []byte) sum {
	if sealed == nil {
		return s
	}
	return sum{s.values - 1, s.of - uint64(tail(sealed))}
}

// tail is the checksum that a value ends in, whether it holds or not.
func tail(sealed []byte) uint32 {
	if len(sealed) < sumLen {
		return 0
	}
	return binary.LittleEndian.Uint32(sealed[len(sealed)-sumLen:])
}

func (s sum) write(tx *bolt.Tx, bucket string) error {
	b := binary.BigEndian.AppendUint64(nil, s.values)
	key := keySum(bucket)
	return tx.Bucket([]byte(bucketMeta)).Put(key, seal(key, binary.BigEndian.AppendUint64(b, s.of)))
}

// readSum returns what is written. A sum that cannot be read is one that nothing agrees with.
func readSum(tx *bolt.Tx, bucket string) sum {
	key := keySum(bucket)
	v := tx.Bucket([]byte(bucketMeta)).Get(key)
	if v == nil {
		return sum{}
	}
	b, err := unseal(key, v)
	if err != nil || len(b) != 16 {
		return sum{of: 1 << 63}
	}
	return sum{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// agrees notes in snap if the values of a bucket are not those that it should have.
func (s sum) agrees(tx *bolt.Tx, bucket string, snap *Snapshot) {
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

// addSums brings layout 2 to layout 3.
func addSums(tx *bolt.Tx) error {
	for _, name := range summed() {
		b := tx.Bucket([]byte(name))
		if b == nil {
			continue
		}
		var all sum
		if err := b.ForEach(func(_, v []byte) error {
			all = all.with(v)
			return nil
		}); err != nil {
			return err
		}
		if err := all.write(tx, name); err != nil {
			return err
		}
	}
	for key := range counters() {
		if n := counter(tx, key); n > 0 {
			if err := setCounter(tx, key, n); err != nil {
				return err
			}
		}
	}
	return nil
}
