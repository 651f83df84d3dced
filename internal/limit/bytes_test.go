package limit

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestBytesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBytes(10, 20)
		var much []bool
		b.Report(8, func(many bool) { much = append(much, many) })
		wait := func(ctx context.Context, client string, n int64, want bool, after time.Duration) {
			t.Helper()
			started := time.Now()
			if got := b.Wait(ctx, client, n, time.Second); got != want || time.Since(started) != after {
				t.Errorf("%s gets %d: %v after %v, want %v after %v", client, n, got, time.Since(started), want, after)
			}
		}
		wait(t.Context(), "a", 10, true, 0)
		wait(t.Context(), "a", 1, false, time.Second)
		wait(t.Context(), "b", 10, true, 0)
		wait(t.Context(), "c", 1, false, time.Second) // all together have enough
		time.AfterFunc(500*time.Millisecond, func() { b.End("a", 10) })
		wait(t.Context(), "c", 1, true, 500*time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		wait(ctx, "b", 1, false, 100*time.Millisecond)
		b.End("b", 10)
		b.End("c", 1)
		if clients, n := b.Waiting(); clients != 0 || n != 0 || b.Refused() != 3 {
			t.Errorf("%d clients have %d bytes, and %d were refused", clients, n, b.Refused())
		}
		if !slices.Equal(much, []bool{true, false}) {
			t.Errorf("reported %v", much)
		}
	})
}

func TestHold(t *testing.T) {
	released := 0
	release := func() { released++ }
	Hold(t.Context(), release)
	if released != 1 {
		t.Error("without a hold, it is not released at once")
	}
	ctx, end := WithHold(t.Context())
	inner, endInner := WithHold(ctx)
	Hold(inner, release)
	endInner()
	if released != 1 {
		t.Error("it is released before the request ends")
	}
	end()
	end()
	if released != 2 {
		t.Errorf("released %d times, want 2", released)
	}
	Hold(ctx, release)
	if released != 3 {
		t.Error("after the end, it is not released at once")
	}
}
