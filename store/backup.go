package store

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// A backup is a zip file of two files: the manifest, and the store's file without free pages. The limits bound what a
// file from elsewhere can make Restore read.
const (
	backupFormat   = 1 // raised when an older program could not read it
	backupManifest = "manifest.json"
	maxManifest    = 64 << 10 // bytes
	maxBackup      = 64 << 30 // bytes of the store's file
)

// Manifest describes the content of a backup.
type Manifest struct {
	Format     int       `json:"format"`
	Version    string    `json:"version,omitempty"` // of the program that made it
	Made       time.Time `json:"made"`
	Layout     int       `json:"layout"`
	Generation uint64    `json:"generation"`
	Tools      int       `json:"tools"`
	Servers    int       `json:"servers"`
	Bytes      int64     `json:"bytes"`  // of the store's file in it
	SHA256     string    `json:"sha256"` // of the same
}

// Backup writes the state of one moment to a file, replacing it in one step. Other processes may write before and after
// that moment. All is verified first: the error is Internal if the store is damaged, Invalid if the file cannot be
// written, and otherwise one of those of [Store.Load]. Version is that of the program, for the manifest.
func (s *Store) Backup(ctx context.Context, file, version string) (*Manifest, error) {
	m := &Manifest{Format: backupFormat, Version: version, Made: time.Now().UTC().Truncate(time.Second), Layout: layout}
	var copied string
	err := s.readCurrent(ctx, func(tx *bolt.Tx) error {
		// A backup of a damaged store would be trusted when it is needed most.
		if err := s.checkTx(tx); err != nil {
			return err
		}
		m.Generation = readGeneration(tx)
		m.Tools, m.Servers = countValues(tx, bucketTools), countValues(tx, bucketServers)
		var err error
		copied, err = newStoreAt(file).buildFile(func(to *bolt.Tx) error { return copyBuckets(tx, to, nil) })
		return writeError(file, err)
	})
	if copied != "" {
		defer func() { _ = os.Remove(copied) }() // it is in the backup then, or there is none
	}
	if err != nil {
		return nil, err
	}
	if err := m.packZip(copied, file); err != nil {
		return nil, writeError(file, err)
	}
	return m, nil
}

// newStoreAt returns a store whose file is path, under any name.
func newStoreAt(path string) *Store {
	s := newStore("", Options{})
	s.path = path
	return s
}

// writeError explains why a backup could not be written; nil for nil.
func writeError(file string, err error) error {
	if err == nil {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "back up", Msg: file + " cannot be written",
		Hint: "see that the folder is there and may be written to, and that the disk is not full", Err: err,
	}
}

// countValues returns how many values a bucket should have by its sum.
func countValues(tx *bolt.Tx, bucket string) int {
	return int(readSum(tx, bucket).values)
}

// packZip writes the zip file, and sets the size and the checksum in m on the way: the manifest comes last in the file.
func (m *Manifest) packZip(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	return atomicfile.Create(to, 0o600, func(w io.Writer) error {
		z := zip.NewWriter(w)
		part, err := z.Create(FileName)
		if err != nil {
			return err
		}
		h := sha256.New()
		if m.Bytes, err = io.Copy(io.MultiWriter(part, h), f); err != nil {
			return err
		}
		m.SHA256 = hex.EncodeToString(h.Sum(nil))
		if part, err = z.Create(backupManifest); err != nil {
			return err
		}
		b, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			return err
		}
		if _, err := part.Write(append(b, '\n')); err != nil {
			return err
		}
		return z.Close()
	})
}

// Restore replaces the store in dir by the content of a backup, in one step, after all of it was verified. The old file
// stays under the name tooldex.db.before-restore-<time>, which is returned; "" if there was none. Other processes
// notice and go on with the restored state. The error is Invalid for a file that is no backup, is damaged, or is of
// another version, and otherwise as at [Open]; the store is then unchanged.
func Restore(ctx context.Context, dir, file string, o Options) (*Manifest, string, error) {
	s := newStore(dir, o)
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return nil, "", s.explainError(err)
	}
	m, beside, err := s.unpackBeside(ctx, file)
	if err != nil {
		return nil, "", err
	}
	// Unpacking and verifying take long, so they come before the lock.
	kept, err := s.replaceBy(ctx, beside, "before-restore", func(*bolt.DB, *bolt.Tx) error { return nil })
	if err != nil {
		return nil, "", err
	}
	return m, kept, nil
}

// VerifyBackup reads all of a backup and checks it as Restore does. It needs as much room in the folder for temporary
// files as the backup has bytes.
func VerifyBackup(ctx context.Context, file string) (*Manifest, error) {
	dir, err := os.MkdirTemp("", "tooldex-verify-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	m, _, err := newStore(dir, Options{}).unpackBeside(ctx, file)
	return m, errors.Join(err, os.RemoveAll(dir))
}

// unpackBeside extracts the store's file from a backup to a path beside that of s, verifies it and returns the path. If
// it fails, no file is left.
func (s *Store) unpackBeside(ctx context.Context, file string) (_ *Manifest, _ string, err error) {
	bad := func(what string, err error) error {
		return &tool.Error{
			Code: tool.Invalid, Op: "read backup", Msg: file + " " + what,
			Hint: "give a file that tooldex index backup wrote", Err: err,
		}
	}
	// The manifest is read first, so that a backup of a newer program gives an error that says so.
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, "", bad("cannot be read as a backup", err)
	}
	defer func() { _ = z.Close() }() // only read from
	m, err := readManifest(&z.Reader)
	if err != nil {
		return nil, "", bad("has no manifest that can be read", err)
	}
	if m.Format > backupFormat || m.Layout > layout {
		return nil, "", &tool.Error{
			Code: tool.Invalid, Op: "read backup",
			Msg: fmt.Sprintf("%s was made by tooldex %s, which is newer", file, m.Version), Hint: "upgrade tooldex",
		}
	}
	if m.Layout < layout {
		return nil, "", &tool.Error{
			Code: tool.Invalid, Op: "read backup",
			Msg:  fmt.Sprintf("%s has layout %d, this version reads layout %d only", file, m.Layout, layout),
			Hint: "restore it with tooldex " + m.Version + ", which made it",
		}
	}
	beside := atomicfile.Beside(s.path)
	defer func() {
		if err != nil {
			err = errors.Join(err, removeFile(beside))
		}
	}()
	if err = m.unpackStore(&z.Reader, beside); err != nil {
		return nil, "", bad("is damaged, or the disk is full", err)
	}
	inner := newStoreAt(beside)
	if err = inner.ensureLayout(ctx); err == nil {
		err = inner.Check(ctx)
	}
	if err != nil {
		return nil, "", bad("is damaged", rootCause(err))
	}
	return m, beside, nil
}

// rootCause returns the cause of an error whose message names a temporary file, which means nothing to a user.
func rootCause(err error) error {
	var te *tool.Error
	if errors.As(err, &te) && te.Err != nil {
		return te.Err
	}
	return err
}

// readManifest reads the manifest and checks that its numbers are possible.
func readManifest(z *zip.Reader) (*Manifest, error) {
	f, err := z.Open(backupManifest)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	b, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(m); err != nil {
		return nil, err
	}
	if m.Format < 1 || m.Layout < 1 || m.Bytes <= 0 || m.Bytes > maxBackup {
		return nil, errors.New("its manifest makes no sense")
	}
	return m, nil
}

// unpackStore writes the store's file from the backup. It fails unless size and checksum are those of the manifest.
func (m *Manifest) unpackStore(z *zip.Reader, to string) error {
	f, err := z.Open(FileName)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	h := sha256.New()
	return atomicfile.Create(to, 0o600, func(w io.Writer) error {
		// Reading one byte too many shows a part that is longer than the manifest says, without unpacking all of it.
		n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(f, m.Bytes+1))
		if err != nil {
			return err
		}
		if n != m.Bytes || hex.EncodeToString(h.Sum(nil)) != m.SHA256 {
			return errors.New("the file in it does not match its manifest")
		}
		return nil
	})
}
