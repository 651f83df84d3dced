package gateway

import (
	"math/rand/v2"
	"time"
)

// backoffDelay returns how long to wait after the nth failed start in a row. n counts from 1. The wait doubles each
// time, from first up to most. A random part of up to a half is taken off, so that many servers that failed together do
// not start together. random(n) returns a number in [0, n).
func backoffDelay(n int, first, most time.Duration, random func(int64) int64) time.Duration {
	d := first
	for ; n > 1 && d < most; n-- {
		d *= 2
	}
	d = min(d, most)
	return d - time.Duration(random(int64(d)/2+1))
}

// randomInt is the source of chance that backoffDelay gets outside of tests. It is safe for concurrent use.
func randomInt(n int64) int64 { return rand.Int64N(n) }
