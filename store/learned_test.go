package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	bolt "go.etcd.io/bbolt"
)

func putLearned(t testing.TB, s *Store, entries map[string][]byte) (before, after uint64) {
	t.Helper()
	before, after, err := s.ChangeLearned(context.Background(), nil, func(map[string][]byte) map[string][]byte {
		return entries
	})
	if err != nil {
		t.Fatal(err)
	}
	return before, after
}

func learned(t testing.TB, s *Store) map[string][]byte {
	t.Helper()
	entries, _, err := s.Learned(context.Background(), 1<<60)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestNthStepOfLearningFails(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	putLearned(t, s, map[string][]byte{"old": []byte("x")})
	for n := 0; ; n++ {
		left := n
		s.fault = func(string) error {
			if left--; left == -1 {
				return errInjected
			}
			return nil
		}
		_, _, err := s.ChangeLearned(context.Background(), nil, func(map[string][]byte) map[string][]byte {
			return map[string][]byte{"old": nil, "new": []byte("y"), "more": []byte("z")}
		})
		s.fault = nil
		if err == nil {
			if n < 4 {
				t.Errorf("only %d steps could fail", n)
			}
			break
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("step %d: error %v, want the injected one", n, err)
		}
		if d := diff(map[string][]byte{"old": []byte("x")}, learned(t, open(t, dir))); d != "" {
			t.Fatalf("step %d failed and yet changed something (-want +got)\n%s", n, d)
		}
	}
	if d := diff(map[string][]byte{"new": []byte("y"), "more": []byte("z")}, learned(t, s)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestDamagedLearned damages one entry: the others are read, Check names it, and Recover saves the others.
func TestDamagedLearned(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string][]byte{}
	for i := range 5 {
		entries[fmt.Sprint(i)] = []byte("value")
	}
	putLearned(t, s, entries)
	err = s.writeTx(ctx, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(learnedBucket)).Put([]byte("3"), []byte("no checksum"))
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(entries, "3")
	if d := diff(entries, learned(t, s)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if err := s.Check(ctx); err == nil {
		t.Error("the damage was not noticed")
	}
	if _, err := Recover(ctx, dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if d := diff(entries, learned(t, open(t, dir))); d != "" {
		t.Errorf("saved (-want +got)\n%s", d)
	}
	if _, err := os.Stat(s.Location()); err != nil {
		t.Error(err)
	}
}
