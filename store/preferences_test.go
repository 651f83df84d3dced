package store

import (
	"context"
	"errors"
	"testing"

	bolt "go.etcd.io/bbolt"
)

func allPreferences(t testing.TB, s *Store) (map[string]Preference, uint64) {
	t.Helper()
	all, version, err := s.Preferences(context.Background(), 1<<60)
	if err != nil {
		t.Fatal(err)
	}
	return all, version
}

func setPreferences(t testing.TB, s *Store, profile string, base uint64, value string) uint64 {
	t.Helper()
	version, err := s.SetPreferences(context.Background(), profile, base, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// TestPreferencesFail makes each step fail: what is stored is then the old or, if no error came, the new.
func TestPreferencesFail(t *testing.T) {
	failure := errors.New("the disk is gone")
	for n := 0; ; n++ {
		s := open(t, t.TempDir())
		base := setPreferences(t, s, "p", 0, "old")
		step := 0
		s.fault = func(string) error {
			if step++; step == n+1 {
				return failure
			}
			return nil
		}
		_, err := s.SetPreferences(context.Background(), "p", base, []byte("new"))
		s.fault = nil
		all, _ := allPreferences(t, s)
		if err == nil {
			if string(all["p"].Value) != "new" || n < 2 {
				t.Errorf("after %d steps: %s", n, all["p"].Value)
			}
			return
		}
		if !errors.Is(err, failure) || string(all["p"].Value) != "old" {
			t.Errorf("step %d: %v, stored %s", n, err, all["p"].Value)
		}
	}
}

// TestDamagedPreferences damages one profile's: the others are read, Check names it, and Recover saves all that it
// finds.
func TestDamagedPreferences(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	setPreferences(t, s, "", 0, "all")
	setPreferences(t, s, "bad", 0, "lost")
	if err := s.writeTx(ctx, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucketPreferences)).Put([]byte(profileKey+"bad"), []byte("no checksum"))
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]Preference{"": {1, []byte("all")}}
	if all, _ := allPreferences(t, s); diff(want, all) != "" {
		t.Errorf("(-want +got)\n%s", diff(want, all))
	}
	if err := s.Check(ctx); err == nil {
		t.Error("the damage was not noticed")
	}
	if _, err := Recover(ctx, dir, Options{}); err != nil {
		t.Fatal(err)
	}
	saved := open(t, dir)
	want["bad"] = Preference{2, []byte("lost")} // a page that is not in use any more has it still
	all, version := allPreferences(t, saved)
	if diff(want, all) != "" || version < 2 {
		t.Errorf("saved at %d (-want +got)\n%s", version, diff(want, all))
	}
	setPreferences(t, saved, "", 1, "on")
}
