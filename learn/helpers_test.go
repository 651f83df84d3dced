package learn

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tooldex/tool"
)

// memory is a Disk that several Learners may share.
type memory struct {
	mu      sync.Mutex
	entries map[string][]byte
	version uint64
	err     error // what every change fails with
	writes  int
}

func newMemory() *memory { return &memory{entries: map[string][]byte{}} }

func (d *memory) Learned(_ context.Context, known uint64) (map[string][]byte, uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.version == known {
		return nil, known, nil
	}
	return maps.Clone(d.entries), d.version, nil
}

func (d *memory) ChangeLearned(_ context.Context, keys []string,
	change func(map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return 0, 0, d.err
	}
	now := map[string][]byte{}
	for _, k := range keys {
		if v, ok := d.entries[k]; ok {
			now[k] = v
		}
	}
	for k, v := range change(now) {
		if v == nil {
			delete(d.entries, k)
		} else {
			d.entries[k] = v
		}
	}
	d.writes++
	d.version++
	return d.version - 1, d.version, nil
}

// words reads requests by their words: each has a place in the vector. It finds the tools of a set in a fixed order,
// whatever is asked.
type words struct{ set *tool.Set }

const testDims = 32

func (w words) Set() *tool.Set { return w.set }

func (w words) Read(_ context.Context, text string, n int) (*tool.Reading, error) {
	r := &tool.Reading{Model: "m"}
	r.Terms = strings.Fields(strings.ToLower(text))
	slices.Sort(r.Terms)
	r.Terms = slices.Compact(r.Terms)
	r.Vector = vectorOf(r.Terms)
	for i, t := range w.set.All() {
		if i < n {
			r.Found = append(r.Found, tool.Hit{ID: t.ID(), Score: float64(1 - float32(i)/50)})
		}
	}
	return r, nil
}

func vectorOf(terms []string) []float32 {
	v := make([]float32, testDims)
	for _, t := range terms {
		h := fnv.New32a()
		h.Write([]byte(t))
		v[h.Sum32()%testDims]++
	}
	var sum float64
	for _, x := range v {
		sum += float64(x * x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(max(sum, 1e-9)))
	}
	return v
}

// tools makes a set of n tools, s/t00 and so on.
func tools(n int) *tool.Set {
	var list []*tool.Tool
	for i := range n {
		list = append(list, &tool.Tool{Server: "s", Name: fmt.Sprintf("t%02d", i)})
	}
	return tool.NewSet(list, "")
}

// clock stands still until it is moved.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func newClock() *clock { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func newLearner(t testing.TB, disk Disk, set *tool.Set, change func(*Options)) *Learner {
	t.Helper()
	o := Options{Disk: disk, Reader: words{set}, Catalog: words{set}, Model: "m", Now: newClock().now}
	if change != nil {
		change(&o)
	}
	return New(o)
}

// topics are what requests are about: the tool of the same number serves them.
func topics() []string {
	return []string{"rain sun wind", "cake bread oven", "goal match team", "stock bond fund"}
}

// request makes the ith request about a topic.
func request(topic, i int) string {
	of := strings.Fields(topics()[topic])
	return fmt.Sprintf("%s %s please %d", of[i%3], of[(i/3)%3], i)
}

// teach records n requests of each topic for the tools with these numbers, from several sessions.
func teach(t testing.TB, l *Learner, n int, client string, numbers ...int) {
	t.Helper()
	for i := range n {
		for topic, number := range numbers {
			record(t, l, tool.Asker{Client: client, Session: fmt.Sprint(i % 3)}, request(topic, i), number)
		}
	}
}

func record(t testing.TB, l *Learner, who tool.Asker, text string, number int) {
	t.Helper()
	if err := l.Record(context.Background(), who, text, tool.ID(fmt.Sprintf("s/t%02d", number)), Called); err != nil {
		t.Fatal(err)
	}
}

// settle writes what was learned and lets it count.
func settle(t testing.TB, l *Learner) {
	t.Helper()
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := l.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// lifts returns what is added for a request to scores that are as the reader finds them.
func lifts(t testing.TB, l *Learner, set *tool.Set, profile, text string) []float32 {
	t.Helper()
	r, err := words{set}.Read(context.Background(), text, set.Len())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, set.Len())
	for i, f := range r.Found {
		out[i] = float32(f.Score)
	}
	l.Lift(set, profile, r.Terms, r.Vector, nil, out)
	for i, f := range r.Found {
		out[i] -= float32(f.Score)
	}
	return out
}

// best returns the number of the tool that comes first for a request.
func best(t testing.TB, l *Learner, set *tool.Set, text string) int {
	t.Helper()
	added := lifts(t, l, set, "", text)
	out := 0
	for i := range added {
		if added[i]-float32(i)/50 > added[out]-float32(out)/50 {
			out = i
		}
	}
	return out
}

// dump is everything that the models of a Learner hold.
func dump(l *Learner) string {
	var b strings.Builder
	models := *l.models.Load()
	for _, p := range slices.Sorted(maps.Keys(models)) {
		m := models[p]
		fmt.Fprintln(&b, p, m.tools, m.gain, m.absent, m.floor, m.posts, m.rows, m.bias, m.trust)
	}
	return b.String()
}

func ids(list ...tool.ID) []tool.ID { return list }
