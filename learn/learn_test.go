package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// TestLearns teaches four tools, which the reader finds last, and asks in new words.
func TestLearns(t *testing.T) {
	set := tools(10)
	l := newLearner(t, newMemory(), set, nil)
	teach(t, l, 30, "c", 6, 7, 8, 9)
	settle(t, l)
	for topic, want := range []int{6, 7, 8, 9} {
		if got := best(t, l, set, strings.TrimSuffix(topics()[topic], strings.Fields(topics()[topic])[2])); got != want {
			t.Errorf("topic %d: tool %d comes first, want %d", topic, got, want)
		}
	}
}

func TestNoEvidenceNoLift(t *testing.T) {
	set := tools(10)
	for name, prepare := range map[string]func(l *Learner){
		"nothing": func(*Learner) {},
		"too few requests": func(l *Learner) {
			for i := range leastSupport - 1 {
				record(t, l, tool.Asker{Client: "c", Session: fmt.Sprint(i)}, request(0, i), 5)
			}
		},
		"one session": func(l *Learner) {
			for i := range 40 {
				record(t, l, tool.Asker{Client: "c", Session: "s"}, request(0, i), 5)
			}
		},
		"one request": func(l *Learner) {
			for i := range 40 {
				record(t, l, tool.Asker{Client: "c", Session: fmt.Sprint(i)}, "rain", 5)
			}
		},
		"another profile": func(l *Learner) {
			for i := range 40 {
				record(t, l, tool.Asker{Client: "c", Session: fmt.Sprint(i), Profile: "p"}, request(i%4, i), 5+i%4)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLearner(t, newMemory(), set, nil)
			prepare(l)
			settle(t, l)
			for i, v := range lifts(t, l, set, "", "rain sun") {
				if v != 0 {
					t.Errorf("tool %d is lifted by %v", i, v)
				}
			}
		})
	}
	l := newLearner(t, newMemory(), set, nil)
	teach(t, l, 12, "c", 6, 7, 8, 9)
	settle(t, l)
	for i, v := range lifts(t, l, set, "", "rain sun")[:6] {
		if v != 0 {
			t.Errorf("tool %d has no evidence and is lifted by %v", i, v)
		}
	}
}

func TestApprovalMakesLittleCount(t *testing.T) {
	set := tools(10)
	l := newLearner(t, newMemory(), set, nil)
	record(t, l, tool.Asker{Client: "c", Session: "s"}, "rain sun", 9)
	record(t, l, tool.Asker{Client: "c", Session: "s"}, "cake", 8)
	settle(t, l)
	ctx := context.Background()
	if err := l.Approve(ctx, "", "s/t05", ""); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("a tool without evidence: %v", err)
	}
	if err := l.Approve(ctx, "", "s/t09", requestName(requestHash("RAIN  sun"))); err != nil {
		t.Fatal(err)
	}
	added := lifts(t, l, set, "", "rain sun")
	if added[9] <= 0 || added[8] != 0 {
		t.Errorf("the approved is lifted by %v, the other by %v", added[9], added[8])
	}
}

// TestPoison has a client call one tool for everything, as often as all others together: it gains nothing, and the
// others lose nothing.
func TestPoison(t *testing.T) {
	set := tools(10)
	l := newLearner(t, newMemory(), set, nil)
	teach(t, l, 30, "c", 6, 7, 8, 9)
	for i := range 120 {
		record(t, l, tool.Asker{Client: "bad", Session: fmt.Sprint(i)}, request(i%4, i/4), 5)
	}
	settle(t, l)
	for topic, want := range []int{6, 7, 8, 9} {
		text := strings.TrimSuffix(topics()[topic], strings.Fields(topics()[topic])[2])
		if got := best(t, l, set, text); got != want {
			t.Errorf("topic %d: tool %d comes first, want %d", topic, got, want)
		}
		if added := lifts(t, l, set, "", text); added[5] > 0 {
			t.Errorf("topic %d: the tool that is called for everything is lifted by %v", topic, added[5])
		}
	}
}

func TestRefusals(t *testing.T) {
	set := tools(10)
	l := newLearner(t, newMemory(), set, nil)
	teach(t, l, 30, "c", 6, 7, 8, 9)
	settle(t, l)
	before := lifts(t, l, set, "", "rain sun")[6]
	for i := range 30 {
		err := l.Record(context.Background(), tool.Asker{Client: "c", Session: fmt.Sprint(i)}, request(0, i), "s/t06",
			Wrong)
		if err != nil {
			t.Fatal(err)
		}
	}
	settle(t, l)
	if after := lifts(t, l, set, "", "rain sun")[6]; after >= before || before <= 0 {
		t.Errorf("after as many refusals as calls the lift is %v, before it was %v", after, before)
	}
}

// TestOrderDoesNotMatter has the same evidence arrive in other orders, through one process or three: the models are the
// same.
func TestOrderDoesNotMatter(t *testing.T) {
	type piece struct {
		who    tool.Asker
		text   string
		number int
	}
	var all []piece
	for i := range 200 {
		all = append(all, piece{
			tool.Asker{Client: fmt.Sprint("c", i%3), Session: fmt.Sprint(i % 7)},
			request(i%4, i/8),
			6 + i%4,
		})
	}
	set := tools(10)
	var want string
	for seed := range uint64(4) {
		disk := newMemory()
		learners := []*Learner{
			newLearner(t, disk, set, nil), newLearner(t, disk, set, nil),
			newLearner(t, disk, set, nil),
		}
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i, p := range all {
			l := learners[0]
			if seed%2 == 1 {
				l = learners[random.IntN(3)]
			}
			record(t, l, p.who, p.text, p.number)
			if i%50 == 0 {
				settle(t, l)
			}
		}
		for _, l := range append(learners, learners...) {
			settle(t, l)
		}
		for _, l := range learners {
			got := dump(l)
			if want == "" {
				want = got
			}
			if got != want || got == "" {
				t.Fatalf("seed %d: the models differ (-first +this)\n%s", seed, gocmp.Diff(want, got))
			}
		}
	}
}

// TestManyTeachAtOnce loses nothing.
func TestManyTeachAtOnce(t *testing.T) {
	set, disk := tools(4), newMemory()
	var all sync.WaitGroup
	for c := range 4 {
		l := newLearner(t, disk, set, nil)
		all.Go(func() {
			for i := range 50 {
				record(t, l, tool.Asker{Client: "c", Session: fmt.Sprint(c)}, "the same request", 1)
				if i%7 == 0 {
					settle(t, l)
				}
			}
			settle(t, l)
		})
	}
	all.Wait()
	l := newLearner(t, disk, set, nil)
	settle(t, l)
	r := l.Report()
	if len(r.Tools) != 1 || r.Tools[0].Uses != 200 || len(r.Tools[0].Requests) != 1 {
		t.Errorf("200 pieces of evidence became %+v", r.Tools)
	}
}

func TestDecay(t *testing.T) {
	set, disk, c := tools(10), newMemory(), newClock()
	l := newLearner(t, disk, set, func(o *Options) { o.Now = c.now })
	teach(t, l, 12, "c", 6, 7, 8, 9)
	settle(t, l)
	fresh := lifts(t, l, set, "", "rain sun")[6]
	c.t = c.t.Add(3 * halfLife)
	settle(t, l)
	old := lifts(t, l, set, "", "rain sun")[6]
	if !(old < fresh && old > 0) {
		t.Errorf("the lift was %v and is %v after three half-lives", fresh, old)
	}
	c.t = c.t.Add(6 * halfLife)
	settle(t, l)
	if n := len(disk.entries); n > 1 {
		t.Errorf("%d entries are left after nine half-lives", n)
	}
}

// TestGoneTools forgets the evidence for tools that are long gone, and keeps that of others.
func TestGoneTools(t *testing.T) {
	disk, c := newMemory(), newClock()
	l := newLearner(t, disk, tools(10), func(o *Options) { o.Now = c.now })
	teach(t, l, 3, "c", 1, 9)
	settle(t, l)
	fewer := tools(5)
	l = newLearner(t, disk, fewer, func(o *Options) { o.Now = c.now })
	c.t = c.t.Add(gone - time.Hour)
	settle(t, l)
	settle(t, l)
	if n := len(l.Report().Tools); n != 2 {
		t.Errorf("%d tools are left before it is time, want 2", n)
	}
	c.t = c.t.Add(2 * time.Hour)
	settle(t, l)
	if r := l.Report().Tools; len(r) != 1 || r[0].Tool != "s/t01" {
		t.Errorf("left are %+v", r)
	}
}

// TestBounds puts very much evidence in.
func TestBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	n := 10 * overall
	if testing.Short() || raceEnabled {
		n = 100_000
	}
	set, disk := tools(60), newMemory()
	l := newLearner(t, disk, set, nil)
	r := &reading{words: []uint32{1}}
	now := newClock().t.UnixMilli()
	for i := range n {
		u := &use{
			tool: tool.ID(fmt.Sprintf("s/t%02d", i%60)), client: "c", kind: Called, request: uint64(i), count: 1,
			first: now, last: now + int64(i%1000)*1000, reading: r,
		}
		k := u.key()
		l.evidence.addUse(k, u)
		l.pending.addUse(k, u)
		l.enforceBounds()
		if i%8000 == 0 {
			if err := l.Flush(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if most := overall + 2*maxPending; len(l.evidence.uses) > most {
			t.Fatalf("%d pieces of evidence are held after %d", len(l.evidence.uses), i)
		}
	}
	if err := l.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(l.evidence.uses) > overall || len(disk.entries) > overall+1 {
		t.Errorf("%d pieces of evidence are held and %d stored", len(l.evidence.uses), len(disk.entries))
	}
	disk.err = errors.New("full")
	for i := range 4 * maxPending {
		u := &use{tool: "s/t00", kind: Called, request: uint64(n + i), count: 1, last: now, reading: r}
		l.pending.addUse(u.key(), u)
		l.enforceBounds()
	}
	if got := l.pending.countEntries(); got > 2*maxPending {
		t.Errorf("%d pieces of evidence wait for a disk that is full", got)
	}
}

// TestCrowding has one client fill all places of a tool: the others keep theirs.
func TestCrowding(t *testing.T) {
	b := newEvidenceStore()
	add := func(client string, n int) {
		for i := range n {
			u := &use{
				tool: "s/t", client: client, kind: Called, request: uint64(i), count: 1, last: 1e6,
				reading: &reading{},
			}
			b.addUse(u.key(), u)
		}
	}
	add("loud", 3*perTool)
	add("quiet", 100)
	b.removeKeys(b.surplusKeys(time.UnixMilli(1e6), func(tool.ID) bool { return true }))
	left := map[string]int{}
	for _, u := range b.uses {
		left[u.client]++
	}
	if diff := gocmp.Diff(map[string]int{"loud": perTool - 100, "quiet": 100}, left); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestForget(t *testing.T) {
	ctx := context.Background()
	none := ""
	for name, c := range map[string]struct {
		scope Scope
		gone  []string // of an export
		left  int
	}{
		"everything":        {Scope{}, []string{"s/t"}, 0},
		"a tool":            {Scope{Tool: "s/t01"}, []string{"s/t01"}, 2},
		"a client":          {Scope{Client: "one"}, []string{`"one"`}, 2},
		"a request":         {Scope{Request: requestName(requestHash("rain"))}, []string{"rain"}, 2},
		"the profile":       {Scope{Profile: &none}, []string{"s/t"}, 0},
		"nothing like that": {Scope{Tool: "s/t03"}, nil, 4},
	} {
		t.Run(name, func(t *testing.T) {
			disk, set := newMemory(), tools(4)
			keep := func(o *Options) { o.KeepText = true }
			l, other := newLearner(t, disk, set, keep), newLearner(t, disk, set, keep)
			for _, client := range []string{"one", "two"} {
				record(t, l, tool.Asker{Client: client}, "rain", 1)
				record(t, l, tool.Asker{Client: client}, "cake", 2)
			}
			settle(t, l)
			record(t, other, tool.Asker{Client: "one"}, "rain", 1) // not written yet
			if _, err := l.Forget(ctx, c.scope); err != nil {
				t.Fatal(err)
			}
			settle(t, other)
			settle(t, other)
			for _, l := range []*Learner{l, other, newLearner(t, disk, set, keep)} {
				settle(t, l)
				var b bytes.Buffer
				if err := l.Export(&b); err != nil {
					t.Fatal(err)
				}
				for _, s := range c.gone {
					if strings.Contains(b.String(), s) {
						t.Errorf("%q is still exported:\n%s", s, b.String())
					}
				}
				if n := strings.Count(b.String(), "\n"); n != c.left {
					t.Errorf("%d lines are left, want %d:\n%s", n, c.left, b.String())
				}
			}
		})
	}
}

func TestTextsAreKeptOnlyIfAsked(t *testing.T) {
	for _, keep := range []bool{false, true} {
		disk := newMemory()
		l := newLearner(t, disk, tools(4), func(o *Options) { o.KeepText = keep })
		record(t, l, tool.Asker{Client: "c", Session: "s"}, "umbrella", 1)
		l.recordMissed(context.Background(), job{text: "umbrella", shown: []tool.ID{"s/t01"}})
		settle(t, l)
		found := false
		for _, v := range disk.entries {
			found = found || bytes.Contains(v, []byte("umbrella"))
		}
		if found != keep {
			t.Errorf("asked to keep %t, kept %t", keep, found)
		}
	}
}

func TestDiskThatFails(t *testing.T) {
	disk := newMemory()
	l := newLearner(t, disk, tools(4), nil)
	record(t, l, tool.Asker{}, "rain", 1)
	disk.err = errors.New("full")
	if err := l.Flush(context.Background()); !errors.Is(err, disk.err) {
		t.Errorf("error %v", err)
	}
	record(t, l, tool.Asker{}, "rain", 1)
	disk.err = nil
	settle(t, l)
	if r := l.Report(); r.Tools[0].Uses != 2 {
		t.Errorf("%d of 2 are there", r.Tools[0].Uses)
	}
}

func TestLiftAllocatesNothing(t *testing.T) {
	set := tools(10)
	l := newLearner(t, newMemory(), set, nil)
	teach(t, l, 12, "c", 6, 7, 8, 9)
	settle(t, l)
	terms, scores := []string{"rain", "sun"}, make([]float32, set.Len())
	v := vectorOf(terms)
	if n := testing.AllocsPerRun(100, func() { l.Lift(set, "", terms, v, nil, scores) }); n > 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
	if !slices.ContainsFunc(scores, func(x float32) bool { return x != 0 }) {
		t.Error("nothing was lifted")
	}
}

func TestAllowed(t *testing.T) {
	set := tools(10)
	l := newLearner(t, newMemory(), set, nil)
	teach(t, l, 12, "c", 6, 7, 8, 9)
	settle(t, l)
	scores, allowed := make([]float32, 10), make([]bool, 10)
	allowed[7] = true
	l.Lift(set, "", []string{"rain"}, nil, allowed, scores)
	for i, s := range scores {
		if i != 7 && s != 0 {
			t.Errorf("tool %d, which is not allowed, is lifted by %v", i, s)
		}
	}
}
