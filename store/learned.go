package store

import "context"

// Learned returns all that was learned from use, by key, and the number of its last change, which is zero before the
// first. If that number is known, the entries are nil and nothing is read. Damaged entries are left out. The map
// belongs to the caller. The errors are those of [Store.Load].
func (s *Store) Learned(ctx context.Context, known uint64) (entries map[string][]byte, version uint64, err error) {
	return s.readEntries(ctx, learnedBucket, known)
}

// ChangeLearned calls change with the existing entries of keys and puts what it returns; a nil entry is removed. All is
// one transaction, which no other process interrupts. When the error is nil, it is on the disk. It returns the number
// of the change before and of this one: if the former is not the one the caller has, another process has changed
// something. The errors are those of [Store.Write]; change must not call the Store.
func (s *Store) ChangeLearned(ctx context.Context, keys []string,
	change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	return s.changeEntries(ctx, learnedBucket, keys, change)
}
