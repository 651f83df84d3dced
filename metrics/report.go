package metrics

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tooldex/tool"
)

// Bounds of the lists in a report.
const (
	maxTallies = 20
	maxServers = 50
)

// window selects the slots that a report sums up. Slots of minutes are kept for an hour and those of hours for a week,
// so longer windows have coarser steps.
type window struct {
	sum   byte  // the kind of slots that are summed up
	step  byte  // the kind of slots that are the steps of its series
	slots int64 // how many of these it spans, with the current one; steps, if sum is forever
}

// windowOf returns the window of that name; the error is of code Invalid.
func windowOf(name string) (window, error) {
	switch name {
	case "1h":
		return window{byMinute, byMinute, 60}, nil
	case "24h":
		return window{byHour, byHour, 24}, nil
	case "7d":
		return window{byHour, byHour, 7 * 24}, nil
	case "all":
		return window{forever, byHour, 7 * 24}, nil
	}
	return window{}, &tool.Error{
		Code: tool.Invalid, Op: "metrics", Msg: fmt.Sprintf("there is no window %.20q", name),
		Hint: "use 1h, 24h, 7d or all",
	}
}

// includesSlot reports whether a slot lies in the window that ends now. One that lies further ahead than clocks differ
// does not: a clock was wrong when it was counted.
func (w window) includesSlot(kind byte, s slot, minute int64) bool {
	if s.kind != kind {
		return false
	}
	end := minute
	if kind == byHour {
		end = minute / 60
	}
	return kind == forever || s.at > end-w.slots && s.at <= end+1
}

// Report returns what was done within a window that ends now: 1h, 24h, 7d or all. Hours and minutes count as a whole,
// including the current one. Another window is Invalid; other errors are those of the Disk.
func (m *Meter) Report(ctx context.Context, name string) (*Metrics, error) {
	w, err := windowOf(name)
	if err != nil {
		return nil, err
	}
	if err := m.loadOnce(ctx); err != nil {
		return nil, err
	}
	minute := minuteOf(time.Now())
	sum, steps := newCounts(), map[slot]*counts{}
	m.mu.Lock()
	m.eachSlot(func(s slot, c *counts) {
		// A slot may count in the sum and be a step of the series.
		if w.includesSlot(w.sum, s, minute) {
			sum.addAll(c)
		}
		if w.includesSlot(w.step, s, minute) {
			if steps[s] == nil {
				steps[s] = newCounts()
			}
			steps[s].addAll(c)
		}
	})
	m.mu.Unlock()
	out := makeReport(sum)
	out.Window, out.Series = name, pointsOf(steps)
	if w.sum != forever {
		at := minute
		if w.sum == byHour {
			at /= 60
		}
		out.Since = slot{w.sum, at - w.slots + 1}.startTime()
	}
	out.Fruitless = m.fruitlessSince(out.Since)
	return out, nil
}

// Uses returns how often each tool was called in all time, and when last. Tools that were never called are left out, as
// are, beyond a thousand tools, those that were called least. Errors are those of the Disk.
func (m *Meter) Uses(ctx context.Context) (map[tool.ID]Use, error) {
	if err := m.loadOnce(ctx); err != nil {
		return nil, err
	}
	sum := newCounts()
	m.mu.Lock()
	m.eachSlot(func(s slot, c *counts) {
		if s.kind == forever {
			sum.addAll(c)
		}
	})
	m.mu.Unlock()
	out := make(map[tool.ID]Use, len(sum.Called))
	for id, n := range sum.Called {
		use := Use{Calls: n}
		if at := sum.Last[id]; at > 0 && at <= latest(time.Now()) {
			use.Last = time.Unix(at, 0).UTC()
		}
		out[tool.ID(id)] = use
	}
	return out, nil
}

// latest returns the last second that a clock of another process may have shown by now. A later one is that of a clock
// that was wrong.
func latest(now time.Time) int64 { return min(now.Add(time.Hour).Unix(), lastSecond) }

// loadOnce reads what is stored, unless that was done before.
func (m *Meter) loadOnce(ctx context.Context) error {
	m.mu.Lock()
	loaded := m.loaded
	m.mu.Unlock()
	if loaded {
		return nil
	}
	return m.loadCounts(ctx)
}

// eachSlot calls visit with all counts, each count once in every slot that it belongs to. The caller holds the lock.
func (m *Meter) eachSlot(visit func(slot, *counts)) {
	for s, c := range m.stored {
		visit(s, c)
	}
	// What is not stored yet is counted by minute and belongs to one slot of each kind.
	for _, minutes := range []map[int64]*counts{m.writing, m.pending} {
		for minute, c := range minutes {
			for _, s := range slotsOf(minute) {
				visit(s, c)
			}
		}
	}
}

// fruitlessSince returns the texts of fruitless searches, the most frequent first, at most maxTallies. They are those
// of this process only.
func (m *Meter) fruitlessSince(since time.Time) []Tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := map[string]int64{}
	for _, f := range m.fruitless {
		if !f.at.Before(since) {
			n[f.text]++
		}
	}
	all := sortTallies(n)
	return all[:min(len(all), maxTallies)]
}

// makeReport turns counts into a report without its series.
func makeReport(c *counts) *Metrics {
	calls, failed := c.totalCalls()
	out := &Metrics{
		TotalRequests: c.totalRequests(), Searches: c.Searches, Selections: c.Selections, TokensUsed: c.Used,
		TokenSavings:     c.Saved,
		AverageToolsUsed: shareOf(c.Tools, c.totalRequests()), CacheHits: c.Hits,
		CacheHitRate: shareOf(c.Hits, c.Selections),
		Degraded:     c.Degraded, FoundNothing: c.Nothing, SearchLatency: c.Search.latencySummary(), Calls: calls,
		Errors:          failed,
		ToolsByCategory: sortTallies(c.Categories), MostUsedTools: sortTallies(c.Called), Servers: []ServerUse{},
	}
	out.MostUsedTools = out.MostUsedTools[:min(len(out.MostUsedTools), maxTallies)]
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		s := c.Servers[name]
		out.Servers = append(out.Servers, ServerUse{
			Server: name, Calls: s.Calls, Errors: s.Errors, ErrorRate: shareOf(s.Errors, s.Calls),
			Latency: s.Took.latencySummary(),
		})
	}
	slices.SortStableFunc(out.Servers, func(a, b ServerUse) int {
		return cmp.Or(cmp.Compare(b.Errors, a.Errors), cmp.Compare(b.Latency.Mean, a.Latency.Mean))
	})
	out.Servers = out.Servers[:min(len(out.Servers), maxServers)]
	return out
}

// shareOf returns part/whole, or 0 if whole is 0.
func shareOf(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// pointsOf returns the steps of a series, oldest first.
func pointsOf(steps map[slot]*counts) []Point {
	out := []Point{}
	for s, c := range steps {
		calls, failed := c.totalCalls()
		out = append(out, Point{
			Time: s.startTime(), Requests: c.totalRequests(), Calls: calls, Errors: failed, FoundNothing: c.Nothing,
			TokenSavings: c.Saved,
		})
	}
	slices.SortFunc(out, func(a, b Point) int { return a.Time.Compare(b.Time) })
	return out
}
