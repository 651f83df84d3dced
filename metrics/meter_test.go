package metrics

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// world is a search and upstreams that answer as told, over a set.
type world struct {
	set    *tool.Set
	result *tool.Result
	called *tool.CallResult
	err    error
	takes  time.Duration
}

func (w *world) Set() *tool.Set { return w.set }

func (w *world) Search(context.Context, tool.Query) (*tool.Result, error) {
	<-time.After(w.takes)
	return w.result, w.err
}

func (w *world) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	<-time.After(w.takes)
	return w.called, w.err
}

func newWorld() *world {
	return &world{set: tool.NewSet([]*tool.Tool{
		{Server: "files", Name: "read", Category: "files", Description: "Reads what is in a file."},
		{Server: "files", Name: "write", Category: "files"},
		{Server: "git", Name: "log", Disabled: true},
		{Server: "git", Name: "commit"},
	}, "")}
}

func report(t *testing.T, m *Meter, window string) *Metrics {
	t.Helper()
	r, err := m.Report(context.Background(), window)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func search(t *testing.T, m *Meter, w *world, res *tool.Result) {
	t.Helper()
	w.result = res
	if _, err := m.Searcher(w, w, "").Search(context.Background(), tool.Query{Text: res.Query}); err != nil {
		t.Fatal(err)
	}
}

// TestUses requires that every call of a tool counts and moves the time of its last use, that a tool's uses are those
// of the report over all time, and that another process and a later day find the same on the disk.
func TestUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, disk := newWorld(), &memoryDisk{}
		m := New(Options{Disk: disk})
		call := func(id tool.ID, res *tool.CallResult, err error) {
			t.Helper()
			w.called, w.err = res, err
			_, _ = m.Caller(w, "").Call(t.Context(), tool.Call{ID: id})
		}
		uses := func(m *Meter) map[tool.ID]Use {
			t.Helper()
			out, err := m.Uses(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		begin := time.Now().UTC()
		call("files/read", &tool.CallResult{}, nil)
		call("git/commit", &tool.CallResult{IsError: true}, nil)
		call("git/none", nil, &tool.Error{Code: tool.NotFound})
		if err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Hour)
		call("files/read", nil, errors.New("no answer"))
		want := map[tool.ID]Use{
			"files/read": {Calls: 2, Last: begin.Add(50 * time.Hour)}, "git/commit": {Calls: 1, Last: begin},
		}
		if d := cmp.Diff(want, uses(m)); d != "" {
			t.Errorf("before a write: %s", d)
		}
		if err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * 24 * time.Hour)
		other := New(Options{Disk: disk})
		if d := cmp.Diff(want, uses(other)); d != "" {
			t.Errorf("to another process: %s", d)
		}
		for _, tally := range report(t, other, "all").MostUsedTools {
			if want[tool.ID(tally.Name)].Calls != tally.Count {
				t.Errorf("%s has %d calls in the report", tally.Name, tally.Count)
			}
		}
	})
}

// TestReport counts some of everything, and holds all that is told of it.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		plain := 0
		for _, one := range w.set.All() {
			if !one.Disabled {
				plain += one.Tokens()
			}
		}
		m := New(Options{Catalog: w})
		w.takes = 2 * time.Millisecond
		search(t, m, w, &tool.Result{
			Query: "look", Confident: true, Tokens: 10,
			Tools: []tool.Hit{{Category: "files"}, {Category: ""}},
		})
		w.takes = 90 * time.Millisecond
		search(t, m, w, &tool.Result{
			Query: " book \n a flight", Tokens: plain + 1, Tools: []tool.Hit{},
			Degraded: "words only",
		})
		search(t, m, w, &tool.Result{Query: "two", Confident: true, Groups: []tool.Group{{
			Query:     "one",
			Confident: true,
		}, {Query: "book a flight"}}})
		m.Selected([]tool.ID{"files/read", "git/commit", "gone/gone"}, 30, 70, true)
		m.Selected(nil, 0, -5, false)
		w.takes = 20 * time.Millisecond
		w.called = &tool.CallResult{}
		for range 2 {
			_, _ = m.Caller(w, "").Call(t.Context(), tool.Call{ID: "files/read"})
		}
		w.called = &tool.CallResult{IsError: true}
		_, _ = m.Caller(w, "").Call(t.Context(), tool.Call{ID: "git/commit"})

		got := report(t, m, "1h")
		want := &Metrics{
			Window: "1h", Since: time.Date(1999, 12, 31, 23, 1, 0, 0, time.UTC),
			TotalRequests: 5, Searches: 3, Selections: 2, AverageToolsUsed: 1, TokensUsed: int64(40 + plain + 1),
			TokenSavings: int64(plain - 10 + 0 + plain + 70), CacheHits: 1, CacheHitRate: .5, Degraded: 1,
			FoundNothing:    1,
			SearchLatency:   Latency{Mean: (2 + 90 + 90) / 3., P50: 100, P99: 100},
			Calls:           3,
			Errors:          1,
			ToolsByCategory: []Tally{{Name: "other", Count: 3}, {Name: "files", Count: 2}},
			MostUsedTools:   []Tally{{Name: "files/read", Count: 2}, {Name: "git/commit", Count: 1}},
			Servers: []ServerUse{
				{Server: "git", Calls: 1, Errors: 1, ErrorRate: 1, Latency: Latency{Mean: 20, P50: 25, P99: 25}},
				{Server: "files", Calls: 2, Latency: Latency{Mean: 20, P50: 25, P99: 25}},
			},
			Fruitless: []Tally{{Name: "book a flight", Count: 2}},
			Series: []Point{{
				Time: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Requests: 5, Calls: 3, Errors: 1, FoundNothing: 1,
				TokenSavings: int64(2*plain + 60),
			}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if _, err := m.Report(t.Context(), "2h"); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("an unknown window gives %v", err)
		}
	})
}

// TestCalls tells which calls count, and which as errors.
func TestCalls(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx           context.Context
		result        *tool.CallResult
		err           error
		calls, errors int64
	}{
		"well":               {context.Background(), &tool.CallResult{}, nil, 1, 0},
		"the tool failed":    {context.Background(), &tool.CallResult{IsError: true}, nil, 1, 1},
		"the server is down": {context.Background(), nil, &tool.Error{Code: tool.Unavailable}, 1, 1},
		"too slow":           {context.Background(), nil, &tool.Error{Code: tool.Timeout}, 1, 1},
		"the client went":    {cancelled, nil, context.Canceled, 1, 0},
		"no such tool":       {context.Background(), nil, fmt.Errorf("call: %w", &tool.Error{Code: tool.NotFound}), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, m := newWorld(), New(Options{})
			w.called, w.err = c.result, c.err
			res, err := m.Caller(w, "").Call(c.ctx, tool.Call{ID: "files/read"})
			if res != c.result || !errors.Is(err, c.err) {
				t.Errorf("the answer became %v, %v", res, err)
			}
			if r := report(t, m, "all"); r.Calls != c.calls || r.Errors != c.errors {
				t.Errorf("%d calls, %d errors; want %d, %d", r.Calls, r.Errors, c.calls, c.errors)
			}
		})
	}
}

func TestNoSearchToCount(t *testing.T) {
	w, m := newWorld(), New(Options{})
	w.result = &tool.Result{}
	if _, err := m.Searcher(w, w, "").Search(t.Context(), tool.Query{Text: "a", Trial: true}); err != nil {
		t.Error(err)
	}
	w.err = &tool.Error{Code: tool.Invalid}
	if _, err := m.Searcher(w, w, "").Search(t.Context(), tool.Query{}); !errors.Is(err, w.err) {
		t.Errorf("the error became %v", err)
	}
	if r := report(t, m, "all"); r.TotalRequests != 0 {
		t.Errorf("%d requests", r.TotalRequests)
	}
}

// TestWindows counts one search and sees when it leaves each window, and that what no window reaches is taken off the
// disk.
func TestWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryDisk{}
		w, m := newWorld(), New(Options{Disk: disk})
		m.Start()
		<-time.After(30*time.Minute + 30*time.Second)
		search(t, m, w, &tool.Result{Query: "nothing"})
		for _, c := range []struct {
			after           time.Duration // since the search
			hour, day, week int64
		}{
			{0, 1, 1, 1},
			{59 * time.Minute, 1, 1, 1},
			{60 * time.Minute, 0, 1, 1},
			{23 * time.Hour, 0, 1, 1},
			{24 * time.Hour, 0, 0, 1},
			{167 * time.Hour, 0, 0, 1},
			{168 * time.Hour, 0, 0, 0},
		} {
			<-time.After(time.Until(time.Date(2000, 1, 1, 0, 30, 30, 0, time.UTC).Add(c.after)))
			for window, want := range map[string]int64{"1h": c.hour, "24h": c.day, "7d": c.week, "all": 1} {
				r := report(t, m, window)
				if r.Searches != want || window != "all" && int64(len(r.Series)) != want ||
					int64(len(r.Fruitless)) != want {
					t.Errorf("after %v within %s: %d searches, %d steps, %v; want %d", c.after, window, r.Searches,
						len(r.Series), r.Fruitless, want)
				}
			}
		}
		<-time.After(time.Hour)
		search(t, m, w, &tool.Result{Query: "again", Confident: true})
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if len(disk.entries) != 3 {
			t.Errorf("the disk holds %d entries, want those of a minute, an hour and all", len(disk.entries))
		}
		if err := m.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
	})
}

// TestOneSweeps has two Meters over one disk. Only the one whose turn it is drops what is old, also if it counts
// nothing.
func TestOneSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, mine := &memoryDisk{}, false
		idle := New(Options{Disk: disk, Sweeps: func() bool { return mine }})
		busy := New(Options{Disk: disk, Sweeps: func() bool { return false }})
		w := newWorld()
		flush := func() int {
			for _, m := range []*Meter{busy, idle} {
				if err := m.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := m.loadCounts(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			return len(disk.entries)
		}
		search(t, busy, w, &tool.Result{Query: "nothing"})
		before := flush()
		<-time.After(200 * time.Hour)
		search(t, busy, w, &tool.Result{Query: "again"})
		if n := flush(); n <= before {
			t.Errorf("%d entries after %d: a process whose turn it is not dropped some", n, before)
		}
		mine = true
		if n := flush(); n != before {
			t.Errorf("%d entries after the sweep, want those of one search, %d", n, before)
		}
	})
}

// TestManyProcesses has several Meters over one disk count at once, and each hear in time of all.
func TestManyProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryDisk{}
		var meters []*Meter
		for range 3 {
			m := New(Options{Disk: disk, Flush: time.Second})
			m.Start()
			meters = append(meters, m)
		}
		var all sync.WaitGroup
		for i, m := range meters {
			all.Go(func() {
				for range 100 {
					m.Selected(nil, 1, 0, false)
					<-time.After(time.Duration(i+1) * 30 * time.Millisecond)
				}
			})
		}
		all.Wait()
		<-time.After(3 * time.Second)
		for i, m := range meters {
			if n := report(t, m, "all").Selections; n != 300 {
				t.Errorf("meter %d knows of %d", i, n)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := report(t, New(Options{Disk: disk}), "24h").Selections; n != 300 {
			t.Errorf("a later one knows of %d", n)
		}
	})
}

// awkward is a disk that can fail, and on which something happens before and after each change.
type awkward struct {
	memoryDisk
	err  error
	when func()
}

func (d *awkward) ChangeCounts(ctx context.Context, keys []string,
	change func(map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	d.when()
	defer d.when()
	if d.err != nil {
		return 0, 0, d.err
	}
	return d.memoryDisk.ChangeCounts(ctx, keys, change)
}

func (d *awkward) Counts(ctx context.Context, known uint64) (map[string][]byte, uint64, error) {
	if d.err != nil {
		return nil, 0, d.err
	}
	return d.memoryDisk.Counts(ctx, known)
}

// TestNothingIsLostOrCountedTwice holds that what is counted shows at every moment of a write, also of one that fails.
func TestNothingIsLostOrCountedTwice(t *testing.T) {
	disk := &awkward{}
	m := New(Options{Disk: disk})
	want := int64(0)
	count := func() {
		m.Selected(nil, 0, 0, false)
		want++
		if n := report(t, m, "all").Selections; n != want {
			t.Errorf("%d counted, %d told", want, n)
		}
	}
	disk.when = func() {}
	count()
	disk.when = count
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	disk.err = errors.New("no space")
	if err := m.Flush(t.Context()); !errors.Is(err, disk.err) {
		t.Errorf("a failed write gives %v", err)
	}
	disk.err = nil
	count()
	disk.when = func() {}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := report(t, New(Options{Disk: disk}), "all").Selections; n != want {
		t.Errorf("%d are stored, want %d", n, want)
	}
	disk.err = errors.New("gone")
	if _, err := New(Options{Disk: disk}).Report(t.Context(), "all"); !errors.Is(err, disk.err) {
		t.Errorf("a report without a disk gives %v", err)
	}
	if n := report(t, m, "all").Selections; n != want {
		t.Errorf("what is known is not told any more: %d", n)
	}
}

// TestBounds holds that neither names nor texts grow without end.
func TestBounds(t *testing.T) {
	w, m := newWorld(), New(Options{})
	w.called = &tool.CallResult{}
	for i := range maxNames + 100 {
		id := tool.ID(fmt.Sprintf("s/%d", i))
		for range 1 + i/maxNames {
			_, _ = m.Caller(w, "").Call(t.Context(), tool.Call{ID: id})
		}
		search(t, m, w, &tool.Result{Query: fmt.Sprint("want ", i)})
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(m.stored[slot{forever, 0}].Called); n != maxNames {
		t.Errorf("%d tools are stored", n)
	}
	if top := report(t, m, "all").MostUsedTools; len(top) != maxTallies || top[0].Count != 2 {
		t.Errorf("the most used were not kept: %v", top)
	}
	if len(m.fruitless) != maxFruitless || m.fruitless[0].text != fmt.Sprint("want ", 100+maxNames-maxFruitless) {
		t.Errorf("%d texts, the first %q", len(m.fruitless), m.fruitless[0].text)
	}
}

func TestQuantiles(t *testing.T) {
	var h histogram
	if h.quantile(.5) != 0 || h.latencySummary() != (Latency{}) {
		t.Error("an empty histogram tells of something")
	}
	for range 99 {
		h.observeDuration(3 * time.Millisecond)
	}
	h.observeDuration(time.Hour)
	if a, b, c := h.quantile(.5), h.quantile(.99), h.quantile(1); a != 5*time.Millisecond || b != 5*time.Millisecond ||
		c != time.Minute {
		t.Errorf("%v %v %v", a, b, c)
	}
}

// FuzzDecode holds that any entry can be read, added to and written.
func FuzzDecode(f *testing.F) {
	f.Add("m1", []byte(`{"searches":1,"search":{"n":[1,2],"sum":3},"servers":{"a":null,"b":{"calls":1}},"called":null}`))
	f.Add("h-1", []byte(`{"search":{"n":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}}`))
	f.Fuzz(func(t *testing.T, key string, b []byte) {
		if s, ok := parseSlot(key); ok && s.storeKey() != key {
			t.Errorf("%q is read as %q", key, s.storeKey())
		}
		c := decodeCounts(b)
		sum := newCounts()
		sum.addAll(c)
		more := newCounts()
		more.Called["a"], more.Categories["b"], more.serverOf("c").Calls = 1, 1, 1
		c.addAll(more)
		if d := cmp.Diff(sum, decodeCounts(sum.encodeCounts())); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		makeReport(sum)
	})
}
