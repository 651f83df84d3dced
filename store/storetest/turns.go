package storetest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"tooldex/store"
)

// testTurns has writers of several processes count in one overlay. Each change is decided on what is stored, and no
// count is lost. If the backend has turns, no change is refused in its turn.
func testTurns(t *testing.T, open Opener) {
	const backends, writers, each = 3, 4, 20
	var all sync.WaitGroup
	for range backends {
		s := open(t)
		for range writers {
			all.Go(func() {
				for range each {
					repeats, err := count(s)
					if _, turns := s.(store.Queuing); err != nil || turns && repeats > 1 {
						t.Errorf("a change was repeated %d times, error %v", repeats, err)
					}
				}
			})
		}
	}
	all.Wait()
	s := open(t)
	if got := string(load(t, s, store.View{}).Overlays["n"]); got != strconv.Itoa(backends*writers*each) {
		t.Errorf("counted %s, want %d", got, backends*writers*each)
	}
	// Nobody has a turn any more.
	write(t, s, &store.Batch{Base: load(t, s, store.View{}).Generation, Overlays: map[string][]byte{"n": nil}})
}

// count adds one to an overlay, and repeats that when it is refused.
func count(s store.Backend) (repeats int, err error) {
	for ctx := context.Background(); ; repeats++ {
		snap, err := s.Load(ctx, store.View{})
		if err != nil {
			return repeats, err
		}
		n, _ := strconv.Atoi(string(snap.Overlays["n"])) // zero before the first
		_, err = s.Write(ctx, &store.Batch{
			Base: snap.Generation, Overlays: map[string][]byte{"n": strconv.AppendInt(nil, int64(n+1), 10)},
		})
		if !errors.Is(err, store.ErrChanged) {
			return repeats, err
		}
		queued, leave := store.Queue(ctx, s)
		defer leave()
		ctx = queued
	}
}
