package store

import (
	"context"
	"os"

	"tooldex/tool"
)

// Backend is durable state that several processes share: a file ([Store]) or a database. All backends make the promises
// of the methods of Store, and pass the tests of package storetest. A Backend is safe for concurrent use.
type Backend interface {
	// Location says where the state lies, for people: the path of a file, or an address without its password.
	Location() string
	// Size returns how many bytes the state takes.
	Size(ctx context.Context) (int64, error)
	// Close ends what is kept open. The Backend is not used afterwards.
	Close() error
	// Health describes what is wrong, as far as this Backend has seen. It is empty while all is well, and does not
	// wait.
	Health() []string
	// Check reads all that is stored and returns what is damaged, nil if nothing is.
	Check(ctx context.Context) error

	// Generation returns the number of the last change of tools and what belongs to them.
	Generation(ctx context.Context) (uint64, error)
	// ReadHead returns the generation together with the stamp of that state and the servers.
	ReadHead(ctx context.Context) (Head, error)
	// Changed receives a value soon after another process has changed something, so that a caller need not wait for its
	// next look. It may miss changes. It is nil, and never receives, for a backend that does not report changes.
	Changed() <-chan struct{}
	// Owner reports whether this process is the one that does what one of those that share the state can do for all,
	// such as asking servers again and dropping what is old. It does not block. Ask before each piece of work: when the
	// owner ends, in any way, another process becomes it within seconds. Where processes do not take turns, as on a
	// file, each is an owner.
	Owner() bool

	// Load reads all of one moment, without the preferences, what was learned and what was counted.
	Load(ctx context.Context, v View) (*Snapshot, error)
	// LoadMoving is Load that gives the records to move in parts, which may replace their tools.
	LoadMoving(ctx context.Context, v View, move func(part []Record)) (*Snapshot, error)
	// LoadServers reads the records of some servers, the sources of the same names, the decisions about what these
	// servers offer, and all servers and overlays; no vectors and no analyses.
	LoadServers(ctx context.Context, servers []string) (*Snapshot, error)
	// ReadDerived reads what was made of some tools, if the generation is still gen.
	ReadDerived(ctx context.Context, v View, gen uint64, hashes []tool.Hash,
		textOf func(analysis []byte) (TextHash, bool)) (*Snapshot, error)
	// Models counts the vectors of every model, and those of texts among them.
	Models(ctx context.Context, texts map[TextHash]bool) ([]ModelCount, error)
	// Write makes the changes of b, all or none, and returns the new generation. They are durable when it returns nil.
	Write(ctx context.Context, b *Batch) (gen uint64, err error)
	// Compact drops the vectors and analyses that are not in used, if the generation is still that of used.
	Compact(ctx context.Context, used Used) (*Compaction, error)

	// Entries calls fn with everything that is stored, of all models and versions, as it is at one moment.
	Entries(ctx context.Context, fn func(Entry) error) error
	// Fill replaces everything by what from puts, all or nothing. Unless replace is set, it refuses a state with
	// entries.
	Fill(ctx context.Context, replace bool, from func(put func(Entry) error) error) error

	// Preferences returns those of all profiles and the number of their last change; nil if that is known.
	Preferences(ctx context.Context, known uint64) (map[string]Preference, uint64, error)
	// SetPreferences stores those of a profile, if the stored ones still have the version base.
	SetPreferences(ctx context.Context, profile string, base uint64, value []byte) (version uint64, err error)
	// Learned returns what was learned from use and the number of its last change; nil if that is known.
	Learned(ctx context.Context, known uint64) (entries map[string][]byte, version uint64, err error)
	// ChangeLearned puts what change makes of the entries of keys, and no other process comes between. Change must not
	// call the Backend.
	ChangeLearned(ctx context.Context, keys []string,
		change func(now map[string][]byte) map[string][]byte) (before, after uint64, err error)
	// Counts is Learned for what was counted of use.
	Counts(ctx context.Context, known uint64) (entries map[string][]byte, version uint64, err error)
	// ChangeCounts is ChangeLearned for what was counted of use.
	ChangeCounts(ctx context.Context, keys []string,
		change func(now map[string][]byte) map[string][]byte) (before, after uint64, err error)
}

// Remembering is a Backend that a process can begin with while its state cannot be reached, from what it remembers of
// an earlier run: ReadHead and Preferences then answer as they did last.
type Remembering interface {
	Backend
	// Remember says that there is an index of this state, which the next process could begin with.
	Remember(h Head)
	// Unreached says why the state was not reached since this process began; nil once it was. It does not block.
	Unreached() error
}

var _ Backend = (*Store)(nil)

// Location returns the file's path.
func (s *Store) Location() string { return s.path }

// Size returns the size of the file. The errors are those of [Store.Load].
func (s *Store) Size(context.Context) (int64, error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0, s.explainError(err)
	}
	return info.Size(), nil
}

// Close does nothing: no operation leaves the file open.
func (s *Store) Close() error { return nil }

// Changed returns nil: a file does not report changes. Ask for the [Store.Generation] instead.
func (s *Store) Changed() <-chan struct{} { return nil }

// Owner returns true: every process that uses a file works for itself.
func (s *Store) Owner() bool { return true }
