package metrics

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

// Disk stores entries durably. Several processes may use one. A store.Backend is one.
type Disk interface {
	// Counts returns all entries and the number of their last change. If that number is known, entries is nil.
	Counts(ctx context.Context, known uint64) (entries map[string][]byte, version uint64, err error)
	// ChangeCounts calls change with the existing entries of keys and applies the changes that it returns, nil to
	// remove an entry, in one transaction. It returns the numbers of the change before and of this one.
	ChangeCounts(ctx context.Context, keys []string, change func(now map[string][]byte) map[string][]byte) (before,
		after uint64, err error)
}

// Options configure a Meter. The zero value counts until the process ends.
type Options struct {
	// Disk stores the counts. With nil they end with the Meter.
	Disk Disk
	// Catalog is for the number of tools, and the categories of selected ones; nil: neither is reported.
	Catalog tool.Catalog
	// Sessions returns how many sessions are open, for Prometheus; with nil that is not reported.
	Sessions func() int
	// Servers returns the state of each configured server by name. With nil they are not reported.
	Servers func() map[string]ServerState
	// Messages returns how many bytes of messages of servers are in memory, and how many messages found no room. With
	// nil they are not reported.
	Messages func() (held, refused int64)
	// Version is that of the program, for Prometheus; "" if it is not to be reported.
	Version string
	// Flush is the time between two writes; zero means 5 seconds.
	Flush time.Duration
	// Sweeps reports whether this process drops counts that are too old, also those of others. It is asked each time,
	// and must not block. With nil, each process does with what it writes.
	Sweeps func() bool
	// Logger receives a warning when counts cannot be stored or read; nil means no log.
	Logger *slog.Logger
}

// ServerState is what is reported of a server.
type ServerState struct {
	Works    bool // its last start or call did not fail
	Restarts int  // its starts after a failure, by this process
}

// withDefaults returns o with its defaults filled in.
func (o Options) withDefaults() Options {
	o.Flush = cmp.Or(o.Flush, 5*time.Second)
	if o.Disk == nil {
		o.Disk = &memoryDisk{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Meter counts searches, selections and calls. It is safe for concurrent use. Counts stay in memory until the next
// flush; reports include them.
type Meter struct {
	o       Options
	stop    chan struct{}
	stopped sync.Once
	tasks   sync.WaitGroup

	// disk is held while the disk is read or written. It is taken before mu.
	disk sync.Mutex

	answers [maxStatus]atomic.Int64 // HTTP answers of this process, by status

	quotaMu sync.Mutex
	quota   map[quotaRefusal]int64 // what this process refused, at most maxQuota tokens and kinds

	mu      sync.Mutex
	loaded  bool   // loadCounts has succeeded
	version uint64 // of stored
	// stored is what the disk held when last read. Its entries are replaced, never changed.
	stored    map[slot]*counts
	writing   map[int64]*counts // by minute: what is being written
	pending   map[int64]*counts // by minute: what is still to be written
	fruitless []fruitless       // the last searches that found nothing, oldest first
}

// fruitless is a search that found nothing.
type fruitless struct {
	at   time.Time
	text string
}

// Bounds of what is remembered of fruitless searches.
const (
	maxFruitless = 500
	maxText      = 300 // bytes
)

// maxStatus is above every status of HTTP.
const maxStatus = 600

// Answered counts an answer over HTTP. It does not block. The counts are those of this process: they are not stored,
// since that would write to the disk whenever a monitor asks.
func (m *Meter) Answered(status int) {
	if status > 0 && status < maxStatus {
		m.answers[status].Add(1)
	}
}

// quotaRefusal is what a quota refused: of which token, and which limit.
type quotaRefusal struct{ who, kind string }

// maxQuota bounds the tokens that are told apart; what other tokens are refused counts under otherProfiles.
const maxQuota = 1000

// QuotaRefused counts a request or a call that the quota of a token did not permit, in this process. It does not block.
func (m *Meter) QuotaRefused(who, kind string) {
	m.quotaMu.Lock()
	defer m.quotaMu.Unlock()
	if m.quota == nil {
		m.quota = map[quotaRefusal]int64{}
	}
	one := quotaRefusal{who, kind}
	if _, ok := m.quota[one]; !ok && len(m.quota) >= maxQuota {
		one.who = otherProfiles
	}
	m.quota[one]++
}

// New returns a Meter that has counted nothing yet.
func New(o Options) *Meter {
	return &Meter{
		o: o.withDefaults(), stop: make(chan struct{}),
		stored: map[slot]*counts{}, pending: map[int64]*counts{},
	}
}

// addCounts changes the counts of this minute.
func (m *Meter) addCounts(add func(*counts)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	minute := minuteOf(time.Now())
	if m.pending[minute] == nil {
		m.pending[minute] = newCounts()
	}
	add(m.pending[minute])
}

// Start begins to write counts, and to read those of other processes, in the background. Close ends it.
func (m *Meter) Start() { m.tasks.Go(m.runFlusher) }

// runFlusher flushes at intervals until Close.
func (m *Meter) runFlusher() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(m.o.Flush)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
		}
		err := m.Flush(ctx)
		if err == nil {
			err = m.loadCounts(ctx)
		}
		if err != nil && !failing { // what was not written is tried again
			m.o.Logger.Warn("metrics could not be stored or read; this is tried again", "err", err)
		}
		failing = err != nil
	}
}

// closeGrace is how long Close waits for the disk.
const closeGrace = 3 * time.Second

// Close writes what was counted and ends the Meter. It returns the error of the last write, and is idempotent.
func (m *Meter) Close() error {
	var err error
	m.stopped.Do(func() {
		close(m.stop)
		m.tasks.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		err = m.Flush(ctx)
	})
	return err
}

// loadCounts replaces stored by the content of the disk, if that has changed. Entries with an unknown key are ignored.
func (m *Meter) loadCounts(ctx context.Context) error {
	m.disk.Lock()
	defer m.disk.Unlock()
	m.mu.Lock()
	known := m.version
	m.mu.Unlock()
	entries, version, err := m.o.Disk.Counts(ctx, known)
	if err != nil {
		return fmt.Errorf("read what was counted: %w", err)
	}
	if entries == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.loaded = true
		return nil
	}
	stored := make(map[slot]*counts, len(entries))
	for key, b := range entries {
		if s, ok := parseSlot(key); ok {
			stored[s] = decodeCounts(b)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stored, m.version, m.loaded = stored, version, true
	return nil
}

// Flush writes what was counted since the last time. Errors are those of the Disk; what could not be written is tried
// again next time.
func (m *Meter) Flush(ctx context.Context) error {
	m.disk.Lock()
	defer m.disk.Unlock()
	sweeps := m.o.Sweeps != nil && m.o.Sweeps()
	m.mu.Lock()
	if len(m.pending) == 0 && !(sweeps && m.hasOld()) {
		m.mu.Unlock()
		return nil
	}
	written := m.pending
	// Counting continues in a new map while the old one is written. Reports see both.
	m.writing, m.pending = written, map[int64]*counts{}
	m.mu.Unlock()
	sums, before, after, err := m.writeCounts(ctx, spreadOverSlots(written))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writing = nil
	if err != nil {
		// What was counted during the failed write is added to what was not written.
		for minute, c := range m.pending {
			if written[minute] == nil {
				written[minute] = newCounts()
			}
			written[minute].addAll(c)
		}
		m.pending = written
		return fmt.Errorf("write what was counted: %w", err)
	}
	for s, c := range sums {
		if c == nil {
			delete(m.stored, s)
			continue
		}
		m.stored[s] = c
	}
	// If no other process wrote, stored is what the disk holds now, and need not be read again.
	if before == m.version {
		m.version = after
	} // else another process wrote in between, and the next load reads everything
	return nil
}

// hasOld reports whether counts are stored that are too old. The caller holds mu.
func (m *Meter) hasOld() bool {
	now := minuteOf(time.Now())
	for s := range m.stored {
		if s.isOld(now) {
			return true
		}
	}
	return false
}

// spreadOverSlots adds the counts of minutes to all slots that they belong to.
func spreadOverSlots(minutes map[int64]*counts) map[slot]*counts {
	out := map[slot]*counts{}
	for minute, c := range minutes {
		for _, s := range slotsOf(minute) {
			if out[s] == nil {
				out[s] = newCounts()
			}
			out[s].addAll(c)
			if s.kind != forever { // only the last call of all time is asked for
				clear(out[s].Last)
			}
		}
	}
	return out
}

// writeCounts adds to the stored entries in one transaction, and removes those that are too old if it is for this
// process to do. It returns the entries as they are then, nil for those removed. The caller holds disk.
func (m *Meter) writeCounts(ctx context.Context, more map[slot]*counts) (sums map[slot]*counts, before, after uint64,
	err error,
) {
	now, sweeps := minuteOf(time.Now()), m.o.Sweeps == nil || m.o.Sweeps()
	m.mu.Lock()
	sums = map[slot]*counts{}
	for s := range m.stored {
		if sweeps && s.isOld(now) {
			sums[s] = nil
		}
	}
	m.mu.Unlock()
	var keys []string
	for s := range more {
		keys = append(keys, s.storeKey())
	}
	slices.Sort(keys)
	before, after, err = m.o.Disk.ChangeCounts(ctx, keys, func(stored map[string][]byte) map[string][]byte {
		put := map[string][]byte{}
		for s := range sums {
			put[s.storeKey()] = nil
		}
		for s, c := range more {
			sum := decodeCounts(stored[s.storeKey()])
			sum.addAll(c)
			maps.DeleteFunc(sum.Last, func(_ string, at int64) bool { return at > latest(time.Now()) })
			sums[s], put[s.storeKey()] = sum, sum.encodeCounts()
		}
		return put
	})
	return sums, before, after, err
}

// memoryDisk is a Disk whose content ends with the process. The zero value is empty.
type memoryDisk struct {
	mu      sync.Mutex
	entries map[string][]byte
	version uint64
}

// Counts implements Disk.
func (d *memoryDisk) Counts(_ context.Context, known uint64) (map[string][]byte, uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known == d.version {
		return nil, known, nil
	}
	return maps.Clone(d.entries), d.version, nil
}

// ChangeCounts implements Disk.
func (d *memoryDisk) ChangeCounts(_ context.Context, _ []string,
	change func(map[string][]byte) map[string][]byte) (before,
	after uint64, err error,
) {
	d.mu.Lock()
	defer d.mu.Unlock()
	put := change(d.entries)
	if d.entries == nil {
		d.entries = map[string][]byte{}
	}
	for key, b := range put {
		if b == nil {
			delete(d.entries, key)
			continue
		}
		d.entries[key] = b
	}
	d.version++
	return d.version - 1, d.version, nil
}
