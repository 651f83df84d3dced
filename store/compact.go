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

// Used says which vectors and analyses are still needed.
type Used struct {
	Generation uint64 // at which that was found out
	Models     []embed.Model
	Texts      map[TextHash]bool
	Knowledge  []string
	Analyses   map[tool.Hash]bool
}

// Compaction tells what [Store.Compact] did.
type Compaction struct {
	Before   int64 `json:"before"` // bytes of the file
	After    int64 `json:"after"`
	Vectors  int   `json:"vectors"`  // that were dropped
	Analyses int   `json:"analyses"` // of tools, that were dropped
}

// Compact puts a smaller file in the place of the store's, in one step: without what is free in it, and without vectors
// and analyses that are not used. Other processes wait for it as they do for a write, notice nothing else, and make
// again what they miss. A damaged file is left as it is, with the error of [Store.Check]. The error wraps [ErrChanged]
// if the generation is not that of used any more; the others are those of [Store.Write].
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
			if have := generation(tx); have != used.Generation {
				return &tool.Error{
					Code: tool.Unavailable, Op: "compact",
					Msg: fmt.Sprintf("the store was changed meanwhile, from generation %d to %d", used.Generation,
						have), Hint: "try again", Err: ErrChanged,
				}
			}
			if err := s.check(tx); err != nil {
				return err
			}
			var err error
			beside, err = s.build(func(to *bolt.Tx) error { return copyBuckets(tx, to, used.isUsed(out)) })
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

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// isUsed returns what tells whether an entry of a bucket of vectors or analyses is copied, and counts those that are
// not.
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

// copyBuckets copies all buckets of a file to an empty one, but for what keep refuses of the buckets in buckets. With a nil
// keep it copies everything.
func copyBuckets(from, to *bolt.Tx, keep func(bucket string, inner, key []byte) bool) error {
	const full = 1.0 // of pages: what follows comes in order
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
