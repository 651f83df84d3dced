package store

import "context"

// Counts returns all that was counted of use. Arguments, results and errors are those of [Store.Learned].
func (s *Store) Counts(ctx context.Context, known uint64) (entries map[string][]byte, version uint64, err error) {
	return s.readEntries(ctx, countBucket, known)
}

// ChangeCounts changes what was counted, in the way of [Store.ChangeLearned].
func (s *Store) ChangeCounts(ctx context.Context, keys []string,
	change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	return s.changeEntries(ctx, countBucket, keys, change)
}
