package metrics

import (
	"time"
)

// bounded is how many buckets of a histogram have an upper bound.
const bounded = 17

// bucketBounds returns the upper bounds of a histogram's buckets. One more bucket takes what is longer. Stored counts
// depend on them, so new ones may only be added at the end.
func bucketBounds() [bounded]time.Duration {
	const us, ms = time.Microsecond, time.Millisecond
	return [bounded]time.Duration{
		100 * us, 250 * us, 500 * us, ms, 2500 * us, 5 * ms, 10 * ms, 25 * ms, 50 * ms, 100 * ms, 250 * ms, 500 * ms,
		time.Second, 2500 * ms, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	}
}

// histogram counts durations by their length. Its zero value is empty.
type histogram struct {
	Counts []int64 `json:"n,omitempty"`   // by bucket, up to the longest that was used
	Sum    int64   `json:"sum,omitempty"` // nanoseconds
}

// observeDuration counts a duration. A negative one, as after a change of the clock, counts as 0.
func (h *histogram) observeDuration(d time.Duration) {
	d = max(d, 0)
	i := 0
	for _, most := range bucketBounds() {
		if d <= most {
			break
		}
		i++
	}
	h.growBuckets(i + 1)
	h.Counts[i]++
	h.Sum += int64(d)
}

// growBuckets makes room for n buckets.
func (h *histogram) growBuckets(n int) {
	for len(h.Counts) < n {
		h.Counts = append(h.Counts, 0)
	}
}

// addCounts adds the counts of o.
func (h *histogram) addCounts(o histogram) {
	h.growBuckets(len(o.Counts))
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.Sum += o.Sum
}

// totalCount returns how many durations were counted.
func (h *histogram) totalCount() int64 {
	var n int64
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// quantile returns the upper bound of the bucket that holds the q-quantile, or twice the last bound for what is beyond
// it.
func (h *histogram) quantile(q float64) time.Duration {
	all, edges := h.totalCount(), bucketBounds()
	var seen int64
	for i, n := range h.Counts {
		seen += n
		if n > 0 && float64(seen) >= q*float64(all) {
			if i < len(edges) {
				return edges[i]
			}
			break
		}
	}
	if all == 0 {
		return 0
	}
	return 2 * edges[len(edges)-1]
}

// latencySummary returns the mean and the percentiles.
func (h *histogram) latencySummary() Latency {
	n := h.totalCount()
	if n == 0 {
		return Latency{}
	}
	return Latency{
		Mean: float64(h.Sum) / float64(n) / float64(time.Millisecond),
		P50:  float64(h.quantile(.5)) / float64(time.Millisecond),
		P99:  float64(h.quantile(.99)) / float64(time.Millisecond),
	}
}
