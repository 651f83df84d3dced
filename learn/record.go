package learn

import (
	"context"
	"errors"
	"time"

	"tooldex/tool"
)

// job is something that happened and is still to be noted. Without a tool it is a search that led to no call.
type job struct {
	who     tool.Asker
	text    string
	tool    tool.ID
	kind    EvidenceKind
	shown   []tool.ID
	nothing bool // no tool was said to fit
}

// maxJobs bounds the queue of run. Jobs that find it full are dropped, since one piece of evidence among many is no
// loss.
const maxJobs = 1024

// flushAt is how many pending entries are written at once, without waiting for the next regular write.
const flushAt = 512

// closeGrace bounds how long Close waits for the disk.
const closeGrace = 3 * time.Second

// enqueueJob hands a job to the goroutine of run; a job that finds the queue full is dropped.
func (l *Learner) enqueueJob(j job) {
	select {
	case l.jobs <- j:
	default:
	}
}

// Start begins to record what happens, to write it in batches, and to follow what other processes write; it loads what
// is stored first. Call it once. Close ends it.
func (l *Learner) Start() {
	l.begun.Store(true)
	l.tasks.Go(l.run)
}

// run records jobs as they come, writes them in batches and follows what other processes write, until Close.
func (l *Learner) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.logError(l.Load(ctx))
	timer := time.NewTimer(l.o.Flush)
	defer timer.Stop()
	for {
		select {
		case <-l.stop:
			return
		case j := <-l.jobs:
			l.recordJob(ctx, j)
			if l.pendingEntries() < flushAt {
				continue
			}
			l.logError(l.Flush(ctx))
			continue
		case <-timer.C:
		}
		l.endOldSearches(false)
		l.logError(errors.Join(l.Flush(ctx), l.readChanges(ctx)))
		began := time.Now()
		l.rebuildModels()
		// much evidence takes long to digest: that must not be all it does
		timer.Reset(max(l.o.Flush, restFactor*time.Since(began)))
	}
}

// restFactor bounds the share of time that building models takes: the pause before the next is this many times as long.
const restFactor = 20

// pendingEntries returns the number of entries that are not yet written, approvals not counted.
func (l *Learner) pendingEntries() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending.countEntries()
}

// logError logs the first of several errors in a row. What was not written stays pending, and is tried again.
func (l *Learner) logError(err error) {
	if err != nil && !l.failing {
		l.o.Logger.Warn("what use teaches could not be stored or read; it is tried again", "err", err)
	}
	l.failing = err != nil
}

// Close records what happened until now, writes it and ends. It returns the error of that write, within closeGrace;
// later calls do nothing. A Learner that was never started has nothing to close.
func (l *Learner) Close() error {
	var err error
	l.stopped.Do(func() {
		close(l.stop)
		l.tasks.Wait()
		if !l.begun.Load() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		l.recordPending(ctx)
		l.endOldSearches(true)
		l.recordPending(ctx)
		err = l.Flush(ctx)
	})
	return err
}

// recordPending records the jobs that are queued, without waiting for more.
func (l *Learner) recordPending(ctx context.Context) {
	for {
		select {
		case j := <-l.jobs:
			l.recordJob(ctx, j)
		default:
			return
		}
	}
}

// recordJob turns a job into evidence. A request that cannot be read gives none.
func (l *Learner) recordJob(ctx context.Context, j job) {
	if j.tool == "" || j.kind == elsewhere {
		l.recordMissed(ctx, j)
	}
	if j.tool == "" {
		return
	}
	if err := l.Record(ctx, j.who, j.text, j.tool, j.kind); err != nil {
		l.o.Logger.Debug("evidence was not noted", "tool", j.tool, "err", err)
	}
}

// Record adds evidence at once, as for records of use that are imported. Call Flush now and then when recording
// thousands: only some thousands of unwritten entries are kept. The errors are those of the Reader, Invalid for a
// request or a tool that is empty or too long, and NotFound for a tool that the catalogue does not have.
func (l *Learner) Record(ctx context.Context, who tool.Asker, request string, id tool.ID, kind EvidenceKind) error {
	if request == "" || id == "" || max(len(id), len(who.Client), len(who.Profile)) > maxString ||
		len(request) > maxText {
		return &tool.Error{
			Code: tool.Invalid, Op: "record use",
			Msg: "evidence needs a request of at most 4000 bytes, and a tool",
		}
	}
	if l.o.Catalog != nil {
		if _, ok := l.o.Catalog.Set().Get(id); !ok {
			return &tool.Error{Code: tool.NotFound, Op: "record use", Msg: "there is no tool " + string(id)}
		}
	}
	r, err := l.o.Reader.Read(ctx, request, maxFound)
	if err != nil {
		return err
	}
	now := l.o.Now().UnixMilli()
	u := &use{
		profile: who.Profile, tool: id, client: who.Client, kind: kind, request: requestHash(request), count: 1,
		first: now, last: now,
		sessions: []uint32{hashFNV(who.Client + "\x00" + who.Session)}, reading: newReading(r),
	}
	if l.o.KeepText {
		u.text = request
	}
	key := u.key()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.evidence.addUse(key, u)
	l.pending.addUse(key, u)
	l.dirty = true
	l.enforceBounds()
	return nil
}

// enforceBounds keeps what waits for a failing disk from growing without end. mu is held.
func (l *Learner) enforceBounds() {
	if l.pending.countEntries() > 2*maxPending {
		l.evidence.removeKeys(l.pending.trimToBounds())
	}
}

// recordMissed records a request that found no tool, that no call followed, or that only another tool was called after.
func (l *Learner) recordMissed(ctx context.Context, j job) {
	if j.text == "" || len(j.text) > maxText {
		return
	}
	m := &missedRequest{
		profile: j.who.Profile, request: requestHash(j.text), last: l.o.Now().UnixMilli(),
		shown: j.shown[:min(len(j.shown), maxShown)],
	}
	switch {
	case j.tool != "":
		m.called = []tool.ID{j.tool}
		m.ignored = 1
	case j.nothing:
		m.nothing = 1
	default:
		m.ignored = 1
	}
	if l.o.KeepText {
		m.text = j.text
		if r, err := l.o.Reader.Read(ctx, j.text, 1); err == nil {
			m.unknown = r.Unknown[:min(len(r.Unknown), maxUnknown)]
		}
	}
	key := m.key()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.evidence.addMissed(key, m)
	l.pending.addMissed(key, m)
	l.enforceBounds()
}

// Uses implements search.Usage: the weight of the calls of a tool over all profiles, which falls with their age.
func (l *Learner) Uses(id tool.ID) float64 {
	return (*l.usage.Load())[id]
}
