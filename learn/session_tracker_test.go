package learn

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// answer is what a search for one thing shows.
func answer(text string, fits bool, numbers ...int) *tool.Result {
	r := &tool.Result{Query: text, Confident: fits}
	for _, n := range numbers {
		r.Tools = append(r.Tools, tool.Hit{ID: tool.ID(fmt.Sprintf("s/t%02d", n))})
	}
	return r
}

// TestVisits tells what is noted of what happens in a session.
func TestVisits(t *testing.T) {
	me := tool.Asker{Session: "s", Client: "c"}
	other := tool.Asker{Session: "t", Client: "c"}
	id := func(n int) tool.ID { return tool.ID(fmt.Sprintf("s/t%02d", n)) }
	for name, c := range map[string]struct {
		do     func(l *Learner)
		uses   []string
		missed []string
	}{
		"a call of what was shown": {func(l *Learner) {
			l.RecordSearch(me, answer("rain", true, 1, 2))
			l.RecordCall(me, id(2))
		}, []string{"s/t02 called 1"}, nil},
		"a twin of what was shown": {func(l *Learner) {
			r := answer("rain", true, 1)
			r.Tools[0].Duplicates = ids("s/t03")
			l.RecordSearch(me, r)
			l.RecordCall(me, id(3))
		}, []string{"s/t03 called 1"}, nil},
		"the same called again": {func(l *Learner) {
			l.RecordSearch(me, answer("rain", true, 1, 2))
			l.RecordCall(me, id(2))
			l.RecordCall(me, id(2))
		}, []string{"s/t02 called 1"}, nil},
		"two of what was shown": {func(l *Learner) {
			l.RecordSearch(me, answer("rain", true, 1, 2))
			l.RecordCall(me, id(2))
			l.RecordCall(me, id(1))
		}, []string{"s/t01 called 1", "s/t02 called 1"}, nil},
		"something else, once": {func(l *Learner) {
			l.RecordSearch(me, answer("rain", true, 1))
			l.RecordCall(me, id(3))
			l.RecordCall(me, id(2))
		}, []string{"s/t03 elsewhere 1"}, []string{"ignored 1 nothing 0 [s/t03]"}},
		"something else after what was shown": {func(l *Learner) {
			l.RecordSearch(me, answer("rain", true, 1))
			l.RecordCall(me, id(1))
			l.RecordCall(me, id(3))
		}, []string{"s/t01 called 1"}, nil},
		"another session calls": {func(l *Learner) {
			l.RecordSearch(me, answer("rain", true, 1))
			l.RecordCall(other, id(1))
		}, nil, []string{"ignored 1 nothing 0 []"}},
		"too late": {func(l *Learner) {
			l.RecordSearch(me, answer("rain", true, 1))
			time.Sleep(11 * time.Minute)
			l.RecordCall(me, id(1))
		}, nil, []string{"ignored 1 nothing 0 []"}},
		"nothing was found, twice": {func(l *Learner) {
			l.RecordSearch(me, answer("rain", false, 1))
			l.RecordSearch(me, answer("rain", false))
		}, nil, []string{"ignored 0 nothing 2 []"}},
		"nobody in particular": {func(l *Learner) {
			l.RecordSearch(tool.Asker{}, answer("rain", true, 1))
			l.RecordCall(tool.Asker{}, id(1))
		}, nil, nil},
		"several needs": {func(l *Learner) {
			r := &tool.Result{Groups: []tool.Group{
				{Query: "rain", Tools: answer("", true, 1).Tools},
				{Query: "cake", Tools: answer("", true, 2).Tools},
			}}
			l.RecordSearch(me, r)
			l.RecordCall(me, id(2))
			l.RecordCall(me, id(3))
		}, []string{"s/t02 called 1"}, nil},
		"feedback": {func(l *Learner) {
			if err := l.RecordFeedback(me, tool.Feedback{Request: "rain", Tool: id(1)}); err != nil {
				t.Error(err)
			}
			if err := l.RecordFeedback(me, tool.Feedback{Request: "rain", Tool: id(2), Wrong: true}); err != nil {
				t.Error(err)
			}
			if err := l.RecordFeedback(me, tool.Feedback{Request: "rain"}); tool.CodeOf(err) != tool.Invalid {
				t.Errorf("feedback on nothing: %v", err)
			}
		}, []string{"s/t01 chosen 1", "s/t02 wrong 1"}, nil},
		"a tool that is not there": {func(l *Learner) {
			if err := l.RecordFeedback(me, tool.Feedback{Request: "rain", Tool: "s/gone"}); err != nil {
				t.Error(err)
			}
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := newMemory()
				l := newLearner(t, disk, tools(4), func(o *Options) { o.Now = nil })
				l.Start()
				c.do(l)
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if err := l.Close(); err != nil {
					t.Errorf("closed again: %v", err)
				}
				again := newLearner(t, disk, tools(4), func(o *Options) { o.Now = nil })
				settle(t, again)
				var uses, missed []string
				for _, u := range again.evidence.uses {
					uses = append(uses, fmt.Sprintf("%s %s %d", u.tool, u.kind, u.count))
				}
				for _, m := range again.Report().Missed {
					missed = append(missed, fmt.Sprintf("ignored %d nothing %d %v", m.Ignored, m.Nothing, m.Called))
				}
				sortStrings(uses)
				if diff := gocmp.Diff(c.uses, uses); diff != "" {
					t.Errorf("evidence (-want +got)\n%s", diff)
				}
				if diff := gocmp.Diff(c.missed, missed); diff != "" {
					t.Errorf("missed (-want +got)\n%s", diff)
				}
			})
		})
	}
}

// TestWritesAreBatched counts the writes of many calls, and sees that they are written without an end.
func TestWritesAreBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemory()
		l := newLearner(t, disk, tools(4), func(o *Options) { o.Now = nil })
		l.Start()
		defer func() { _ = l.Close() }()
		for i := range 100 {
			who := tool.Asker{Client: "c", Session: fmt.Sprint(i)}
			l.RecordSearch(who, answer("rain", true, 1))
			l.RecordCall(who, "s/t01")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if disk.writes != 1 {
			t.Errorf("%d writes, want 1", disk.writes)
		}
		other := newLearner(t, disk, tools(4), func(o *Options) { o.Now = nil })
		settle(t, other)
		if r := other.Report(); len(r.Tools) != 1 || r.Tools[0].Uses != 100 {
			t.Errorf("written is %+v", r.Tools)
		}
		record(t, other, tool.Asker{Client: "c"}, "cake", 2)
		settle(t, other)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if r := l.Report(); len(r.Tools) != 2 {
			t.Errorf("what another process wrote is not seen: %+v", r.Tools)
		}
	})
}

// TestSessionsAreBounded has many more sessions than are followed.
func TestSessionsAreBounded(t *testing.T) {
	c := newClock()
	l := newLearner(t, newMemory(), tools(4), func(o *Options) { o.Now = c.now })
	for i := range 3 * maxTracked {
		c.t = c.t.Add(time.Second)
		l.RecordSearch(tool.Asker{Session: fmt.Sprint(i)}, answer("rain", true, 1))
	}
	if n := len(l.sessions.sessions); n != maxTracked {
		t.Errorf("%d sessions are followed", n)
	}
	if err := l.Record(context.Background(), tool.Asker{}, "", "s/t01", Called); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("evidence without a request: %v", err)
	}
}
