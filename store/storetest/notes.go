package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"tooldex/store"
	"tooldex/tool"
)

// unknown is a number that no change has, so that everything is read.
const unknown = 1 << 60

func setPreferences(t testing.TB, s store.Backend, profile string, base uint64, value string) uint64 {
	t.Helper()
	version, err := s.SetPreferences(context.Background(), profile, base, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func testPreferences(t *testing.T, open Opener) {
	ctx := context.Background()
	s := open(t)
	gen := write(t, s, &store.Batch{Records: Records(0, 1)})
	if all, version, err := s.Preferences(ctx, 0); all != nil || version != 0 || err != nil {
		t.Errorf("before the first: %v, %d, %v", all, version, err)
	}
	first := setPreferences(t, s, "", 0, "all")
	second := setPreferences(t, s, "work", 0, "")
	third := setPreferences(t, s, "", first, "all again")
	if _, err := s.SetPreferences(ctx, "", first, []byte("late")); !errors.Is(err, store.ErrChanged) ||
		!errors.Is(err, tool.ErrConflict) || tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("a change of what was changed meanwhile gives %v", err)
	}
	want := map[string]store.Preference{"": {Version: third, Value: []byte("all again")}, "work": {Version: second, Value: []byte{}}}
	for _, where := range []store.Backend{s, open(t)} {
		all, version, err := where.Preferences(ctx, unknown)
		if diff(want, all) != "" || version != third || err != nil {
			t.Errorf("version %d, %v (-want +got)\n%s", version, err, diff(want, all))
		}
		if all, version, err := where.Preferences(ctx, third); all != nil || version != third || err != nil {
			t.Errorf("what is known is read again: %v, %d, %v", all, version, err)
		}
	}
	if now, err := s.Generation(ctx); err != nil || now != gen {
		t.Errorf("generation %d after, %d before (%v)", now, gen, err)
	}
	if _, err := s.SetPreferences(ctx, string(make([]byte, 5000)), 0, nil); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("a name that is too long gives %v", err)
	}
}

// testPreferencesByMany has many change the same version: one of them does.
func testPreferencesByMany(t *testing.T, open Opener) {
	var done, refused atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		s := open(t)
		all.Go(func() {
			switch _, err := s.SetPreferences(context.Background(), "p", 0, []byte("x")); {
			case err == nil:
				done.Add(1)
			case errors.Is(err, store.ErrChanged):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if done.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d were taken and %d refused, want 1 and 7", done.Load(), refused.Load())
	}
}

// put stores entries of what was learned.
func put(t testing.TB, s store.Backend, entries map[string][]byte) (before, after uint64) {
	t.Helper()
	before, after, err := s.ChangeLearned(context.Background(), nil, func(map[string][]byte) map[string][]byte {
		return entries
	})
	if err != nil {
		t.Fatal(err)
	}
	return before, after
}

// learned returns all that was learned, and the number of its last change.
func learned(t testing.TB, s store.Backend) (map[string][]byte, uint64) {
	t.Helper()
	entries, version, err := s.Learned(context.Background(), unknown)
	if err != nil {
		t.Fatal(err)
	}
	return entries, version
}

func testLearned(t *testing.T, open Opener) {
	ctx := context.Background()
	s := open(t)
	gen := write(t, s, &store.Batch{Records: Records(0, 1)})
	if entries, version, err := s.Learned(ctx, 0); entries != nil || version != 0 || err != nil {
		t.Errorf("a state that nothing was learned in: %v, %d, %v", entries, version, err)
	}
	before, first := put(t, s, map[string][]byte{"a": []byte("1"), "b": {}, "c": []byte("3")})
	if before != 0 || first == 0 {
		t.Errorf("the first change is from %d to %d", before, first)
	}
	var saw map[string][]byte
	before, after, err := s.ChangeLearned(ctx, []string{"a", "missing"}, func(now map[string][]byte) map[string][]byte {
		saw = now
		return map[string][]byte{"a": []byte("2"), "c": nil, "gone": nil}
	})
	if err != nil || before != first || after <= first {
		t.Fatalf("from %d to %d, error %v; want from %d", before, after, err, first)
	}
	if d := diff(map[string][]byte{"a": []byte("1")}, saw); d != "" {
		t.Errorf("the change saw (-want +got)\n%s", d)
	}
	entries, version := learned(t, open(t))
	if d := diff(map[string][]byte{"a": []byte("2"), "b": {}}, entries); d != "" || version != after {
		t.Errorf("stored at %d (-want +got)\n%s", version, d)
	}
	if entries, version, err := s.Learned(ctx, after); entries != nil || version != after || err != nil {
		t.Errorf("what is known is read again: %v, %d, %v", entries, version, err)
	}
	if now, err := s.Generation(ctx); err != nil || now != gen {
		t.Errorf("generation %d after learning, %d before (%v)", now, gen, err)
	}
	if _, _, err := s.ChangeLearned(ctx, nil, func(map[string][]byte) map[string][]byte {
		return map[string][]byte{"": nil, "fine": []byte("x")}
	}); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("an entry without a name gives %v", err)
	}
	if entries, version := learned(t, s); entries["fine"] != nil || version != after {
		t.Error("a refused change was made in part")
	}
}

// testLearnedByMany has many write at once, each adding to one entry: nothing is lost.
func testLearnedByMany(t *testing.T, open Opener) {
	var all sync.WaitGroup
	for range 4 {
		s := open(t)
		all.Go(func() {
			for range 10 {
				_, _, err := s.ChangeLearned(context.Background(), []string{"sum"},
					func(now map[string][]byte) map[string][]byte {
						return map[string][]byte{"sum": append(now["sum"], '.')}
					})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if entries, _ := learned(t, open(t)); len(entries["sum"]) != 40 {
		t.Errorf("%d of 40 changes are there", len(entries["sum"]))
	}
}

// testCountsAreApart holds that what was counted and what was learned do not meet: neither their entries nor their
// versions, though the keys are the same.
func testCountsAreApart(t *testing.T, open Opener) {
	ctx := context.Background()
	s := open(t)
	_, version := put(t, s, map[string][]byte{"a": []byte("learned")})
	last := uint64(0)
	for i := range 2 {
		before, after, err := s.ChangeCounts(ctx, []string{"a"}, func(now map[string][]byte) map[string][]byte {
			return map[string][]byte{"a": append(now["a"], 'x')}
		})
		if err != nil || before != last || after <= before {
			t.Fatalf("change %d is from %d to %d: %v", i, before, after, err)
		}
		last = after
	}
	if entries, version, err := s.Counts(ctx, last); entries != nil || version != last || err != nil {
		t.Errorf("what is known is read again: %v, %d, %v", entries, version, err)
	}
	counts, _, err := s.Counts(ctx, unknown)
	if d := diff(map[string][]byte{"a": []byte("xx")}, counts); err != nil || d != "" {
		t.Errorf("counted: %v (-want +got)\n%s", err, d)
	}
	entries, now := learned(t, s)
	if d := diff(map[string][]byte{"a": []byte("learned")}, entries); d != "" || now != version {
		t.Errorf("learned at %d, want %d (-want +got)\n%s", now, version, d)
	}
}
