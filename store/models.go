package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"

	"tooldex/embed"

	bolt "go.etcd.io/bbolt"
)

// ModelCount is how many vectors of one model are stored.
type ModelCount struct {
	embed.Model
	Vectors int
	Used    int // of the texts that were passed to Models
}

// Models counts the vectors of every model that has any, sorted by the model's name, and how many of them are of one of
// texts. It reads no vector, and so does not notice a damaged one. The errors are those of [Store.Load].
func (s *Store) Models(ctx context.Context, texts map[TextHash]bool) ([]ModelCount, error) {
	var out []ModelCount
	err := s.readCurrent(ctx, func(tx *bolt.Tx) error {
		all := tx.Bucket([]byte(bucketVectors))
		return all.ForEachBucket(func(key []byte) error {
			m, ok := modelOf(key)
			if !ok {
				return nil
			}
			one := ModelCount{Model: m}
			err := all.Bucket(key).ForEach(func(k, _ []byte) error {
				one.Vectors++
				if len(k) == len(TextHash{}) && texts[TextHash(k)] {
					one.Used++
				}
				return nil
			})
			if one.Vectors > 0 {
				out = append(out, one)
			}
			return err
		})
	})
	slices.SortFunc(out, func(a, b ModelCount) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return out, err
}

// modelOf parses what modelKey returned; false if it is something else.
func modelOf(key []byte) (m embed.Model, ok bool) {
	parts := bytes.Split(key, []byte{0})
	if len(parts) != 3 {
		return m, false
	}
	dims, err := strconv.Atoi(string(parts[2]))
	return embed.Model{Name: string(parts[0]), Fingerprint: string(parts[1]), Dims: dims}, err == nil
}
