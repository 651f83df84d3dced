package postgres

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"sync"

	"tooldex/internal/atomicfile"
	"tooldex/store"
	"tooldex/tool"
)

// memory is a file with what a process needs to begin without the database. Its zero value remembers nothing.
type memory struct {
	path string
	mu   sync.Mutex
	kept remembered // guarded by mu
}

// remembered is the content of the file. Preferences are kept with the head, since they hide tools.
type remembered struct {
	Location    string // whose state it is
	Head        store.Head
	Read        bool // the preferences were read, so that those below are all there are
	Preferences map[string]store.Preference
	Version     uint64 // of the preferences
}

// usable reports whether a process can begin with it.
func (r *remembered) usable() bool { return r.Location != "" && r.Read }

var _ store.Remembering = (*Store)(nil)

// OpenRemembering is Open for a process that serves: it keeps in a file what it needs to begin while the database
// cannot be reached, and then begins with that. Until the database is reached, ReadHead and Preferences answer as they
// did last, and everything else is Unavailable. Without such a file of the same address the errors are those of Open.
// The file has the configuration of servers as it is stored, so only its owner can read it.
func OpenRemembering(ctx context.Context, address, file string) (*Store, error) {
	s, err := newStore(ctx, address)
	if err != nil {
		return nil, err
	}
	s.memory.path = file
	var found remembered
	b, readErr := os.ReadFile(file)
	if readErr == nil && json.Unmarshal(b, &found) == nil && found.Location == s.location {
		s.memory.kept = found
	}
	err = s.reach(ctx)
	if err != nil && (tool.CodeOf(err) != tool.Unavailable || !s.memory.kept.usable()) {
		s.pool.Close()
		return nil, err
	}
	return s, nil
}

// Unreached implements [store.Remembering].
func (s *Store) Unreached() error {
	if s.reached.Load() {
		return nil
	}
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if s.health.away != nil {
		return s.health.away
	}
	return &tool.Error{Code: tool.Unavailable, Op: "open store", Msg: "the database at " + s.location + " was not reached yet"}
}

// Remember implements [store.Remembering].
func (s *Store) Remember(h store.Head) {
	s.memory.keep(func(r *remembered) bool {
		r.Location, r.Head = s.location, h
		return true
	})
}

// rememberPreferences keeps the preferences of a version. Nil are those that are kept, and none before there are any.
func (s *Store) rememberPreferences(all map[string]store.Preference, version uint64) {
	s.memory.keep(func(r *remembered) bool {
		if all == nil && r.Read {
			return false
		}
		r.Read, r.Preferences, r.Version = true, maps.Clone(all), version
		return true
	})
}

// keep changes what is kept, and writes the file if change returns true. That may fail: the next process is then not
// able to begin without the database.
func (m *memory) keep(change func(*remembered) bool) {
	if m.path == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !change(&m.kept) || !m.kept.usable() {
		return
	}
	if b, err := json.Marshal(m.kept); err == nil {
		_ = atomicfile.Write(m.path, b, 0o600)
	}
}

// recall returns what is kept, if the database was never reached and cannot be now.
func (s *Store) recall(err error) (remembered, bool) {
	if s.reached.Load() || tool.CodeOf(err) != tool.Unavailable {
		return remembered{}, false
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.kept, s.memory.kept.usable()
}
