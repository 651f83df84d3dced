package selection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"

	"tooldex/store"
	"tooldex/tool"
)

// Disk stores preferences durably.
type Disk interface {
	// Preferences returns all, by profile, and the number of the last change; nil if that is the known one.
	Preferences(ctx context.Context, known uint64) (map[string]store.Preference, uint64, error)
	// SetPreferences replaces what has the version base, zero for what is not there. It is durable once it returns. The
	// error wraps tool.ErrConflict when what is there has another version.
	SetPreferences(ctx context.Context, profile string, base uint64, value []byte) (uint64, error)
}

// PreferenceKeeper holds the preferences of all profiles, as they were when it last looked at its disk. It is safe for
// concurrent use.
type PreferenceKeeper struct {
	disk Disk
	log  *slog.Logger
	none Preferred
	all  atomic.Pointer[map[string]*Preferred]

	mu      sync.Mutex // held while the disk is looked at
	version uint64
}

// NewPreferenceKeeper returns a PreferenceKeeper with what is stored. The errors are those of the disk. Nil for log
// means no log.
func NewPreferenceKeeper(ctx context.Context, disk Disk, log *slog.Logger) (*PreferenceKeeper, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	k := &PreferenceKeeper{disk: disk, log: log}
	k.all.Store(&map[string]*Preferred{})
	_, err := k.Refresh(ctx)
	return k, err
}

// Refresh takes over what other processes have stored, and reports whether anything changed. Preferences that cannot be
// read stay as they were, and are logged.
func (k *PreferenceKeeper) Refresh(ctx context.Context) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	stored, version, err := k.disk.Preferences(ctx, k.version)
	if err != nil {
		return false, fmt.Errorf("read preferences: %w", err)
	}
	if version == k.version {
		return false, nil
	}
	now := maps.Clone(*k.all.Load())
	for profile, s := range stored {
		if now[profile] != nil && now[profile].Version == s.Version {
			continue
		}
		var p Preferences
		if err := json.Unmarshal(s.Value, &p); err != nil {
			k.log.Warn("stored preferences cannot be read", "profile", profile, "error", err)
			continue
		}
		now[profile] = newPreferred(p, s.Version)
	}
	k.all.Store(&now)
	k.version = version
	return true, nil
}

// Preferred returns what a profile prefers; it is never nil. It does not block, and gives the same pointer until that
// changes.
func (k *PreferenceKeeper) Preferred(profile string) *Preferred {
	if p := (*k.all.Load())[profile]; p != nil {
		return p
	}
	return &k.none
}

// Set stores what a profile prefers, which Check has passed, if what is stored has the version base; zero stands for
// none. It returns the new version. The error wraps tool.ErrConflict if another has changed it, and this Keeper then
// knows the change.
func (k *PreferenceKeeper) Set(ctx context.Context, profile string, base uint64, p Preferences) (uint64, error) {
	value, err := json.Marshal(p)
	if err != nil {
		return 0, fmt.Errorf("write preferences: %w", err)
	}
	version, err := k.disk.SetPreferences(ctx, profile, base, value)
	if err != nil && !errors.Is(err, tool.ErrConflict) {
		return 0, err
	}
	if _, stale := k.Refresh(ctx); stale != nil && err == nil {
		err = stale
	}
	return version, err
}
