package learn

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/tool"
)

// Disk stores entries durably. Several processes may share one. A store.Backend implements it.
type Disk interface {
	// Learned returns all entries and the version of the store. If the version is still known, the entries are nil.
	Learned(ctx context.Context, known uint64) (entries map[string][]byte, version uint64, err error)
	// ChangeLearned calls change with those entries of keys that exist, and stores the changes that it returns, nil for
	// an entry to delete, in one transaction. It returns the version before and after.
	ChangeLearned(ctx context.Context, keys []string, change func(now map[string][]byte) map[string][]byte) (before,
		after uint64, err error)
}

// Reader reads requests as a search does. *search.Engine implements it.
type Reader interface {
	// Read returns how a request is read, and the n best tools for it without what was learned.
	Read(ctx context.Context, text string, n int) (*tool.Reading, error)
}

// halfLife is the time in which a piece of evidence loses half of its weight.
const halfLife = 60 * 24 * time.Hour

// Options configure a Learner. Disk is required, and Reader for a Learner that gathers evidence.
type Options struct {
	Disk    Disk
	Reader  Reader
	Catalog tool.Catalog // nil: evidence for removed tools is kept until it is old
	// Model is the fingerprint of the embedding model that searches use. Vectors of others are not compared with
	// theirs.
	Model    string
	KeepText bool          // keep the texts of requests; otherwise only vectors and hashes of words are kept
	Window   time.Duration // how long after a search a call counts as its outcome; zero means 10 minutes
	Flush    time.Duration // time between two writes; zero means 3 seconds
	// Sweeps reports whether this process drops what is surplus. It is asked each time, and must not block. Nil means that
	// it does.
	Sweeps func() bool
	// nil means time.Now
	Now    func() time.Time
	Logger *slog.Logger // nil means no log
}

// withDefaults fills in the documented defaults on a copy.
func (o Options) withDefaults() Options {
	o.Window = cmp.Or(o.Window, 10*time.Minute)
	o.Flush = cmp.Or(o.Flush, 3*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sweeps == nil {
		o.Sweeps = func() bool { return true }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Learner gathers evidence and lifts tools by it. It is safe for concurrent use. Lift reads models without a lock; disk
// is locked before mu where both are held.
type Learner struct {
	o        Options
	models   atomic.Pointer[map[string]*profileModel] // by profile; replaced as a whole
	usage    atomic.Pointer[map[tool.ID]float64]
	rooms    sync.Pool
	sessions sessionTracker

	jobs    chan job
	stop    chan struct{}
	stopped sync.Once
	tasks   sync.WaitGroup
	begun   atomic.Bool
	failing bool // the last access to the disk failed, which is logged once; only run uses it

	disk sync.Mutex // serialises reading and writing the disk

	mu       sync.Mutex
	evidence *evidenceStore // all that is known: stored or pending
	pending  *evidenceStore // not yet written; also in evidence
	// of the disk when evidence was read from it
	version uint64
	dirty   bool  // evidence has changed since the models were built
	built   int64 // day of the last build, since weights fall with age
	// when surplus entries were last looked for
	swept time.Time
}

// liftBuffer holds the buffers of one call of Lift.
type liftBuffer struct {
	words  []uint32
	scores []float32
}

// New returns a Learner without evidence. It does not read the disk: call Load and then Start.
func New(o Options) *Learner {
	l := &Learner{
		o: o.withDefaults(), jobs: make(chan job, maxJobs), stop: make(chan struct{}), evidence: newEvidenceStore(),
		pending: newEvidenceStore(),
	}
	l.rooms.New = func() any { return new(liftBuffer) }
	l.sessions.sessions = map[sessionKey]*openSearch{}
	l.models.Store(&map[string]*profileModel{})
	l.usage.Store(&map[tool.ID]float64{})
	return l
}

// Load reads the stored evidence, if it has changed, and rebuilds the models. The errors are those of the Disk.
func (l *Learner) Load(ctx context.Context) error {
	if err := l.readChanges(ctx); err != nil {
		return err
	}
	l.rebuildModels()
	return nil
}

// Lift implements search.Learned. A profile without evidence leaves scores as they are.
func (l *Learner) Lift(set *tool.Set, profile string, terms []string, vector []float32, allowed []bool,
	scores []float32,
) {
	m := (*l.models.Load())[profile]
	if m == nil {
		return
	}
	r := l.rooms.Get().(*liftBuffer)
	defer l.rooms.Put(r)
	r.words = r.words[:0]
	for _, t := range terms {
		r.words = append(r.words, hashFNV(t))
	}
	if cap(r.scores) < len(m.tools) {
		r.scores = make([]float32, len(m.tools))
	}
	m.addLift(m.docsOf(set), r.words, vector, allowed, scores, r.scores[:len(m.tools)])
}

// readChanges reads the stored entries again if another process changed them, and merges what is pending here.
func (l *Learner) readChanges(ctx context.Context) error {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.mu.Lock()
	known := l.version
	l.mu.Unlock()
	entries, version, err := l.o.Disk.Learned(ctx, known)
	if err != nil || entries == nil {
		return err
	}
	fresh := newEvidenceStore()
	for k, v := range entries {
		fresh.addEntry(k, v)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh.mergeAll(l.pending)
	l.evidence, l.version, l.dirty = fresh, version, true
	return nil
}

// rebuildModels builds the models anew if evidence has changed or a day has passed. It works on a copy, so that neither
// searches nor recording wait for it.
func (l *Learner) rebuildModels() {
	today := l.o.Now().UnixMilli() / day
	l.mu.Lock()
	if !l.dirty && l.built == today {
		l.mu.Unlock()
		return
	}
	l.dirty, l.built = false, today
	b := &evidenceStore{uses: maps.Clone(l.evidence.uses), approved: maps.Clone(l.evidence.approved)}
	l.mu.Unlock()
	profiles := map[string]bool{}
	for _, u := range b.uses {
		profiles[u.profile] = true
	}
	models := make(map[string]*profileModel, len(profiles))
	usage := map[tool.ID]float64{}
	for p := range profiles {
		t := newTraining(b, p, l.o.Now(), hashFNV(l.o.Model))
		t.addUsage(usage)
		m := t.buildModel()
		if len(m.tools) == 0 {
			continue
		}
		m.trust = t.crossValidate()
		models[p] = m
	}
	l.models.Store(&models)
	l.usage.Store(&usage)
}

// sweepEvery is how often surplus entries are looked for while nothing is pending.
const sweepEvery = time.Hour

// Flush writes what is pending and drops what is surplus. The errors are those of the Disk; what could not be written
// stays pending, within bounds.
func (l *Learner) Flush(ctx context.Context) error {
	l.disk.Lock()
	defer l.disk.Unlock()
	now, sweeps := l.o.Now(), l.o.Sweeps()
	l.mu.Lock()
	written := l.pending
	if written.isEmpty() && (!sweeps || now.Sub(l.swept) < sweepEvery) {
		l.mu.Unlock()
		return nil
	}
	var extra []string
	if sweeps {
		l.swept = now
		extra = l.evidence.surplusKeys(now, l.knownTools())
	}
	l.evidence.removeKeys(extra)
	written.removeKeys(extra)
	l.pending = newEvidenceStore()
	l.mu.Unlock()
	if written.isEmpty() && len(extra) == 0 {
		return nil
	}
	var dropped []string
	before, after, err := l.o.Disk.ChangeLearned(ctx, append(written.allKeys(), keyForgotten),
		func(now map[string][]byte) map[string][]byte {
			dropped = written.applyForgotten(readForgotten(now[keyForgotten]))
			put := written.mergeInto(now)
			for _, k := range extra {
				put[k] = nil
			}
			return put
		})
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		written.mergeAll(l.pending)
		l.pending = written
		l.evidence.removeKeys(l.pending.trimToBounds())
		return fmt.Errorf("write what was learned: %w", err)
	}
	if before == l.version && len(dropped) == 0 {
		l.version = after
	} // else another process wrote in between, and the next look reads all
	return nil
}

// knownTools returns a function that reports whether a tool is in the catalogue. While there is none, it reports true.
func (l *Learner) knownTools() func(tool.ID) bool {
	if l.o.Catalog == nil {
		return func(tool.ID) bool { return true }
	}
	set := l.o.Catalog.Set()
	if set == nil || set.Len() == 0 { // not loaded yet, which shows nothing about any tool
		return func(tool.ID) bool { return true }
	}
	return func(id tool.ID) bool {
		_, ok := set.Get(id)
		return ok
	}
}

// allKeys returns the keys of all entries, in no order.
func (b *evidenceStore) allKeys() []string {
	return slices.Concat(slices.Collect(maps.Keys(b.uses)), slices.Collect(maps.Keys(b.missed)),
		slices.Collect(maps.Keys(b.approved)))
}

// mergeInto returns the entries to store when b is added to those stored now, encoded. It runs inside the transaction,
// so that nothing another process wrote is lost.
func (b *evidenceStore) mergeInto(now map[string][]byte) map[string][]byte {
	there := newEvidenceStore()
	for k, v := range now {
		there.addEntry(k, v)
	}
	there.mergeAll(b)
	put := make(map[string][]byte, b.countEntries())
	for k := range b.uses {
		put[k] = encodeUse(there.uses[k])
	}
	for k := range b.missed {
		put[k] = encodeMissed(there.missed[k])
	}
	for k := range b.approved {
		put[k] = encodeApproval(there.approved[k])
	}
	return put
}

// trimToBounds bounds what waits for a disk that cannot be written to. It returns the keys of what it dropped.
func (b *evidenceStore) trimToBounds() []string {
	var out []string
	for _, list := range [][]string{slices.Sorted(maps.Keys(b.uses)), slices.Sorted(maps.Keys(b.missed))} {
		out = append(out, list[min(len(list), maxPending):]...)
	}
	b.removeKeys(out)
	return out
}

// maxPending bounds the pieces of evidence, and as many missed requests, that wait to be written.
const maxPending = 4096
