package gateway

import (
	"math/rand/v2"
	"time"
)

// backoff returns how long to wait after the nth failed start in a row, n from 1: twice as long each time up to most,
// less a random part of up to a half, so that many servers that failed together do not start together.
func backoff(n int, first, most time.Duration, random func(int64) int64) time.Duration {
	d := first
	for ; n > 1 && d < most; n-- {
		d *= 2
	}
	d = min(d, most)
	return d - time.Duration(random(int64(d)/2+1))
}

func random(n int64) int64 { return rand.Int64N(n) }
