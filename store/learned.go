package store

import "context"

// Learned returns all that was learned from use, by key, and the number of its last change, which is zero before the
// first. If the last change is the known one, the entries are nil and nothing is read. Entries that are damaged are
// left out. The errors are those of [Store.Load].
func (s *Store) Learned(ctx context.Context, known uint64) (entries map[string][]byte, version uint64, err error) {
	return s.readEntries(ctx, learnedBucket, known)
}

// ChangeLearned calls change with those entries of keys that there are, and puts what it returns, in one transaction
// that nothing comes between: nil takes an entry away. When the error is nil, it is on the disk. It returns the numbers
// of the change before and of this one. The errors are those of [Store.Write]; change must not call the Store.
func (s *Store) ChangeLearned(ctx context.Context, keys []string,
	change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	return s.changeEntries(ctx, learnedBucket, keys, change)
}
