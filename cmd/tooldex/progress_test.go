package main

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	for _, c := range []struct {
		done, total int
		took        time.Duration
		rate        float64
		left        time.Duration
	}{
		{50, 200, 10 * time.Second, 5, 30 * time.Second},
		{200, 200, 10 * time.Second, 20, 0},
		{0, 200, time.Second, 0, 0},
		{1, 2, 0, 0, 0},
	} {
		if rate, left := pace(c.done, c.total, c.took); rate != c.rate || left != c.left {
			t.Errorf("%d of %d in %v: %v a second, %v left, want %v and %v", c.done, c.total, c.took, rate, left, c.rate, c.left)
		}
	}
}
