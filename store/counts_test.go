package store

import (
	"context"
	"testing"
)

// TestCountsAreApart holds that what was counted and what was learned do not meet: neither their entries nor their
// versions, though the keys are the same. Both outlive a recovery.
func TestCountsAreApart(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := open(t, dir)
	putLearned(t, s, map[string][]byte{"a": []byte("learned")})
	for i := range 2 {
		before, after, err := s.ChangeCounts(ctx, []string{"a"}, func(now map[string][]byte) map[string][]byte {
			return map[string][]byte{"a": append(now["a"], 'x')}
		})
		if err != nil || before != uint64(i) || after != uint64(i+1) {
			t.Fatalf("change %d is from %d to %d: %v", i, before, after, err)
		}
	}
	if entries, version, err := s.Counts(ctx, 2); entries != nil || version != 2 || err != nil {
		t.Errorf("what is known is read again: %v, %d, %v", entries, version, err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	if _, err := Recover(ctx, dir, Options{}); err != nil {
		t.Fatal(err)
	}
	counts, _, err := s.Counts(ctx, 1<<60)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(map[string][]byte{"a": []byte("xx")}, counts); d != "" {
		t.Errorf("counted (-want +got)\n%s", d)
	}
	if d := diff(map[string][]byte{"a": []byte("learned")}, learned(t, s)); d != "" {
		t.Errorf("learned (-want +got)\n%s", d)
	}
}
