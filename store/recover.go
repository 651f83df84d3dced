package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// Recovery tells what [Recover] did.
type Recovery struct {
	Backup  string // where the old file lies now; "" if there was none
	Tools   int    // tools, servers and overlays that could be read and are in the new file
	Servers int
	Damaged []Damage // what could not
	Err     error    // why the old file could not be read to its end; nil if it could
}

// Recover moves the file in dir aside, as tooldex.db.damaged-<time>, and starts a new one with the tools, servers, source
// states, overlays, preferences, what was learned and what was counted that can still be read. Vectors are not taken along: they
// can be made again. It is for a file that [Open] or [Store.Check] calls damaged, and is never done unasked. Other processes
// notice and go on with the new file.
func Recover(ctx context.Context, dir string, o Options) (*Recovery, error) {
	s := newStore(dir, o)
	out := &Recovery{}
	saved := &salvaged{Snapshot: newSnapshot()}
	if _, err := os.Stat(s.path); err == nil {
		if out.Backup, out.Err = s.salvage(ctx, saved); out.Backup == "" {
			return nil, out.Err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, s.explain(err)
	}
	out.Tools, out.Servers, out.Damaged = len(saved.Records), len(saved.Servers), saved.Damaged
	fresh, err := Open(dir, o)
	if err != nil {
		return nil, err
	}
	b := &Batch{Records: saved.Records, Servers: saved.Servers, Overlays: saved.Overlays}
	for _, st := range saved.Sources {
		st.Digest = [32]byte{} // some of its tools may be gone: look at it again
		b.Sources = append(b.Sources, st)
	}
	if _, err = fresh.Write(ctx, b); err != nil {
		return out, err
	}
	if len(saved.preferences) > 0 {
		if err := fresh.restorePreferences(ctx, saved.preferences); err != nil {
			return out, err
		}
	}
	for n, entries := range saved.notes {
		if len(entries) == 0 {
			continue
		}
		if _, _, err := fresh.changeNotes(ctx, n, nil, func(map[string][]byte) map[string][]byte { return entries }); err != nil {
			return out, err
		}
	}
	return out, nil
}

// salvaged is what could be read of a damaged file.
type salvaged struct {
	*Snapshot
	notes       map[notes]map[string][]byte
	preferences map[string]Preference
}

// salvage reads what it can of a file that may fail anywhere, moves it aside and returns where to; "" if it could not. It
// does so under the exclusive lock where the file can still be opened, so that no write of another process falls between.
// What was read before reading failed is kept.
func (s *Store) salvage(ctx context.Context, into *salvaged) (backup string, err error) {
	var moveErr error
	err = s.section(ctx, false, func(db *bolt.DB) error {
		err := db.View(func(tx *bolt.Tx) error { return s.readable(tx, into) })
		backup, moveErr = s.setAside()
		return err
	})
	if tool.CodeOf(err) == tool.Timeout { // healthy enough to be locked: someone is at work in it
		return "", err
	}
	if backup == "" { // not to be opened for writing, or a system that does not rename open files
		if len(into.Records)+len(into.Servers)+len(into.Overlays) == 0 {
			*into = salvaged{Snapshot: newSnapshot()}
			err = s.view(ctx, func(tx *bolt.Tx) error { return s.readable(tx, into) })
		}
		backup, moveErr = s.setAside()
	}
	if moveErr != nil {
		return "", moveErr
	}
	return backup, err
}

func (s *Store) readable(tx *bolt.Tx, into *salvaged) error {
	n, err := s.layoutOf(tx)
	if err != nil {
		return err
	}
	if n != layout {
		return fmt.Errorf("layout %d is not read", n)
	}
	for _, name := range []string{bucketTools, bucketServers, bucketSources, bucketOverlays} {
		if tx.Bucket([]byte(name)) == nil {
			into.Damaged = append(into.Damaged, Damage{Kind: "bucket", Key: name, Err: errTruncated})
		}
	}
	into.readTools(tx)
	into.readRest(tx)
	into.notes = map[notes]map[string][]byte{learnedNotes: learnedNotes.all(tx, into.Snapshot), countNotes: countNotes.all(tx, into.Snapshot)}
	into.preferences = preferences(tx, into.Snapshot)
	return nil
}

func (s *Store) setAside() (string, error) {
	stamp := time.Now().UTC().Format("20060102T150405.000")
	backup := s.path + ".damaged-" + stamp
	if err := os.Rename(s.path, backup); err != nil {
		return "", s.explain(err)
	}
	return backup, s.explainNil(syncDir(filepath.Dir(s.path)))
}
