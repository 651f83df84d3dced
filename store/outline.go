package store

import (
	"context"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// Outline is what a program needs of the store to see that nothing has to change. It belongs to the caller.
type Outline struct {
	Generation uint64
	Stamp      Stamp
	Sources    map[string]SourceState
	Tools      map[string]int // how many tools are stored of each source
	Damaged    bool           // a value is damaged: load the store, which says which
}

// Outliner is a Backend that can be outlined in a fraction of the time that Load takes.
type Outliner interface {
	Backend
	// Outline reads the sources and verifies what Load verifies, without decoding it.
	Outline(ctx context.Context, v View) (*Outline, error)
}

var _ Outliner = (*Store)(nil)

// Outline implements [Outliner]: it verifies every value that a Load of the same View reads. The errors are those of
// Load.
func (s *Store) Outline(ctx context.Context, v View) (*Outline, error) {
	out := &Outline{Tools: map[string]int{}}
	snap := newSnapshot()
	err := s.readCurrent(ctx, func(tx *bolt.Tx) error {
		out.Generation, out.Stamp = readGeneration(tx), readStamp(tx)
		if err := snap.readPages(tx.DB()); err != nil {
			return err
		}
		snap.readCounters(tx)
		snap.readBucket(tx, bucketTools, "tool", func(_, payload []byte) error {
			return eachField(payload, func(tag byte, v []byte) error {
				if tag == tagSource {
					out.Tools[string(v)]++
				}
				return nil
			})
		})
		snap.readRest(tx)
		snap.checkNotes(tx)
		snap.readValues(tx.Bucket([]byte(bucketVectors)).Bucket(modelKey(v.Model)), "vector", func(k, payload []byte) error {
			if len(k) != len(TextHash{}) || len(payload) != vectorLen(v.Model.Dims) {
				return errTruncated
			}
			return nil
		})
		snap.readValues(tx.Bucket([]byte(bucketAnalyses)).Bucket(knowledgeKey(v.Knowledge)), "analysis",
			func(k, _ []byte) error {
				if len(k) != len(tool.Hash{}) {
					return errTruncated
				}
				return nil
			})
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.health.recordDamage(snap.Damaged)
	out.Sources, out.Damaged = snap.Sources, len(snap.Damaged) > 0
	return out, nil
}

// checkNotes verifies the preferences and the notes, which are read when they are needed.
func (snap *Snapshot) checkNotes(tx *bolt.Tx) {
	for _, name := range []string{bucketPreferences, string(learnedBucket), string(countBucket)} {
		snap.readBucket(tx, name, name, func([]byte, []byte) error { return nil })
	}
}
