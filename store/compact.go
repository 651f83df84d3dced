package store

import (
	"context"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"

	"tooldex/embed"
	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// Used lists the vectors and analyses that are still needed. A vector is kept if both its model and its text are
// listed, and an analysis if both its version and its tool are.
type Used struct {
	Generation uint64 // of the state from which the lists were made
	Models     []embed.Model
	Texts      map[TextHash]bool
	Knowledge  []string // versions
	Analyses   map[tool.Hash]bool
}

// Compaction reports what [Store.Compact] did.
type Compaction struct {
	Before   int64 `json:"before"` // the size of the file in bytes
	After    int64 `json:"after"`
	Vectors  int   `json:"vectors"`  // how many were dropped
	Analyses int   `json:"analyses"` // likewise
}

// Compact replaces the store's file by a smaller one, in one step: without free pages, and without vectors and analyses
// that are not in used. Other processes wait for it as they do for a write, and make again what they miss. A damaged
// file is left as it is, with the error of [Store.Check]. The error wraps [ErrChanged] if the generation is not that of
// used any more; other errors are those of [Store.Write].
func (s *Store) Compact(ctx context.Context, used Used) (*Compaction, error) {
	out := &Compaction{}
	err := s.withFile(ctx, false, func(db *bolt.DB) error {
		var beside string
		err := db.View(func(tx *bolt.Tx) error {
			if err := s.checkLength(tx); err != nil {
				return err
			}
			if err := s.checkLayout(tx); err != nil {
				return err
			}
			if have := readGeneration(tx); have != used.Generation {
				return &tool.Error{
					Code: tool.Unavailable, Op: "compact",
					Msg: fmt.Sprintf("the store was changed meanwhile, from generation %d to %d", used.Generation,
						have), Hint: "try again", Err: ErrChanged,
				}
			}
			if err := s.checkTx(tx); err != nil {
				return err
			}
			var err error
			beside, err = s.buildFile(func(to *bolt.Tx) error { return copyBuckets(tx, to, used.isUsed(out)) })
			return err
		})
		if err != nil {
			return err
		}
		out.Before, out.After = fileSize(s.path), fileSize(beside)
		return atomicfile.Replace(beside, s.path)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// fileSize returns the size of a file in bytes, zero if it cannot be determined.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// isUsed returns a function that reports whether an entry of the buckets of vectors or analyses is kept, and counts in
// out those that are not. It keeps the entries of all other buckets.
func (u *Used) isUsed(out *Compaction) func(bucket string, inner, key []byte) bool {
	models, versions := map[string]bool{}, map[string]bool{}
	for _, m := range u.Models {
		models[string(modelKey(m))] = true
	}
	for _, v := range u.Knowledge {
		versions[string(knowledgeKey(v))] = true
	}
	return func(bucket string, inner, key []byte) bool {
		switch {
		case bucket == bucketVectors && !(models[string(inner)] && len(key) == len(TextHash{}) &&
			u.Texts[TextHash(key)]):
			out.Vectors++
			return false
		case bucket == bucketAnalyses && !(versions[string(inner)] && len(key) == len(tool.Hash{}) &&
			u.Analyses[tool.Hash(key)]):
			out.Analyses++
			return false
		}
		return true
	}
}

// copyBuckets copies all buckets of a file to an empty one. Of buckets within buckets it copies only the entries that
// keep accepts; a nil keep accepts all.
func copyBuckets(from, to *bolt.Tx, keep func(bucket string, inner, key []byte) bool) error {
	const full = 1.0 // keys come in order, so that no page is split later
	return from.ForEach(func(name []byte, b *bolt.Bucket) error {
		out, err := to.CreateBucket(name)
		if err != nil {
			return err
		}
		out.FillPercent = full
		return b.ForEach(func(k, v []byte) error {
			if v != nil {
				return out.Put(k, v)
			}
			var inner *bolt.Bucket // made when there is something to put into it
			return b.Bucket(k).ForEach(func(ik, iv []byte) error {
				if keep != nil && !keep(string(name), k, ik) {
					return nil
				}
				if inner == nil {
					if inner, err = out.CreateBucket(k); err != nil {
						return err
					}
					inner.FillPercent = full
				}
				return inner.Put(ik, iv)
			})
		})
	})
}
