package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	bolt "go.etcd.io/bbolt"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// Recovery reports what [Recover] did.
type Recovery struct {
	Backup  string   // the path of the old file now; "" if there was none
	Tools   int      // how many were read and are in the new file
	Servers int      // likewise
	Damaged []Damage // what could not be read
	Err     error    // why the old file could not be read to its end; nil if it could
}

// Recover replaces the file in dir by a new one, in one step. The new file has the tools, servers, source states,
// overlays, preferences, and what was learned and counted, as far as they can still be read. If the tree of the old
// file is damaged, tools, servers, source states and preferences are searched page by page, and some may come back that
// had been removed. Vectors are not taken along: they can be made again.
//
// The old file stays under the name tooldex.db.damaged-<time>. Other processes notice and go on with the new file.
// Recover is for a file that [Open] or [Store.Check] reports as damaged. The errors are those of [Open]; the old file
// is then unchanged.
func Recover(ctx context.Context, dir string, o Options) (*Recovery, error) {
	s := newStore(dir, o)
	before, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := Open(dir, o)
		return &Recovery{}, err
	}
	if err != nil {
		return nil, s.explainError(err)
	}
	out := &Recovery{}
	err = s.withExclusiveLock(ctx, func(db *bolt.DB) error {
		if now, err := os.Stat(s.path); err != nil || !os.SameFile(before, now) {
			return &tool.Error{
				Code: tool.Unavailable, Op: "recover", Msg: s.path + " was replaced meanwhile",
				Hint: "look whether it is still damaged", Err: err,
			}
		}
		saved := s.salvageFile(ctx, db)
		if isOpenError(saved.err) {
			return saved.err
		}
		if saved.err != nil || slices.ContainsFunc(saved.Damaged, func(d Damage) bool {
			return d.Kind == "bucket" || d.Kind == "page"
		}) {
			if err := saved.scanPages(s.path); err != nil {
				return s.explainError(err)
			}
		}
		beside, err := s.buildFile(func(tx *bolt.Tx) error { return s.writeSalvaged(tx, saved, s.readNumbersOf(db)) })
		if err != nil {
			return s.explainError(err)
		}
		if out.Backup, err = s.keepAside("damaged"); err != nil {
			return errors.Join(err, removeFile(beside))
		}
		out.Tools, out.Servers, out.Damaged, out.Err = len(saved.Records), len(saved.Servers), saved.Damaged, saved.err
		return s.explainAny(atomicfile.Replace(beside, s.path))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// salvaged is what could be read of a damaged file. err is what ended the reading; nil if it came to the end.
type salvaged struct {
	*Snapshot
	notes       map[kvBucket]map[string][]byte // by bucket and key
	preferences map[string]Preference          // by profile
	err         error
}

// salvageFile reads what it can of a file that may fail anywhere. Without a db, because the file could not be opened
// for writing, it opens the file for reading, which requires less of it to be whole.
func (s *Store) salvageFile(ctx context.Context, db *bolt.DB) *salvaged {
	into := &salvaged{Snapshot: newSnapshot(), notes: map[kvBucket]map[string][]byte{}}
	if db == nil {
		into.err = s.withFile(ctx, true, func(db *bolt.DB) error {
			return catchPanic(func() error {
				return db.View(func(tx *bolt.Tx) error { return s.readReadable(tx, into) })
			})
		})
		return into
	}
	into.err = catchPanic(func() error {
		tx, err := db.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // nothing was to be written
		return s.readReadable(tx, into)
	})
	return into
}

// readReadable reads each part of the file that can be read. A part that makes bbolt panic does not prevent the others.
func (s *Store) readReadable(tx *bolt.Tx, into *salvaged) error {
	if info, err := os.Stat(s.path); err == nil && info.Size() < tx.Size() {
		into.err = fmt.Errorf("truncated to %d of %d bytes", info.Size(), tx.Size())
	}
	if _, err := s.hasLayout(tx); err != nil {
		return err
	}
	for _, name := range []string{bucketTools, bucketServers, bucketSources, bucketOverlays} {
		if tx.Bucket([]byte(name)) == nil {
			into.Damaged = append(into.Damaged, Damage{Kind: "bucket", Key: name, Err: errTruncated})
		}
	}
	var errs []error
	for _, read := range []func(){ // one that fails leaves the others
		func() { into.readTools(tx, nil) },
		func() { into.readRest(tx) },
		func() { into.notes[learnedBucket] = learnedBucket.getAll(tx, into.Snapshot) },
		func() { into.notes[countBucket] = countBucket.getAll(tx, into.Snapshot) },
		func() { into.preferences = readPreferences(tx, into.Snapshot) },
	} {
		errs = append(errs, catchPanic(func() error {
			read()
			return nil
		}))
	}
	return errors.Join(append(errs, into.err)...)
}

// writeSalvaged writes what was saved to an empty file, with numbers beyond those of the old one, so that processes
// with data from the old file notice.
func (s *Store) writeSalvaged(tx *bolt.Tx, saved *salvaged, old changeNumbers) error {
	if err := s.initializeFile(tx); err != nil {
		return err
	}
	b := &Batch{Records: saved.Records, Servers: saved.Servers, Overlays: saved.Overlays, Trust: saved.Trust}
	for _, st := range saved.Sources {
		st.Digest = [32]byte{} // some of its tools may be gone: look at it again
		b.Sources = append(b.Sources, st)
	}
	if err := s.applyBatch(tx, b); err != nil {
		return err
	}
	if len(saved.preferences) > 0 {
		version := uint64(0)
		for _, p := range saved.preferences {
			version = max(version, p.Version)
		}
		if err := s.putPreferences(tx, saved.preferences, version); err != nil {
			return err
		}
	}
	for n, entries := range saved.notes {
		if len(entries) > 0 {
			if err := s.putEntries(tx, n, entries, 1); err != nil {
				return err
			}
		}
	}
	return old.writeBeyond(tx)
}
