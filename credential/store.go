package credential

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// Store is a file of credentials. Several processes may share it: each reads it for every use. It is safe for
// concurrent use.
type Store struct {
	path string
	aead cipher.AEAD

	mu sync.Mutex // held while this process changes the file

	reading sync.Mutex // guards what was read last
	seen    fs.FileInfo
	known   []sealedEntry // of seen; never changed
}

// New returns the Store of a file, which need not exist. The key has 32 bytes; the error of any other is of code
// Invalid.
func New(path string, key []byte) (*Store, error) {
	if len(key) != keySize {
		return nil, &tool.Error{Code: tool.Invalid, Op: "open credentials", Msg: "the key does not have 32 bytes"}
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &Store{path: path, aead: aead}, nil
}

// Value returns a user's credential, and false if there is none, or none that this key opens for this user, server and
// address. The error is of code Internal if the file cannot be read.
func (s *Store) Value(user string, server Server, name string) (string, bool, error) {
	all, err := s.read()
	if err != nil {
		return "", false, err
	}
	for _, e := range all {
		if e.User == user && e.Server == server.Name && e.Name == name {
			value, ok := open(s.aead, e.Sealed, boundTo(user, server, name))
			return value, ok, nil
		}
	}
	return "", false, nil
}

// Set stores a credential of a user, in place of an earlier one. It is on the disk when Set returns. Errors are of code
// Invalid for what cannot be stored, Unavailable if there is no room, Internal for a file that cannot be changed.
func (s *Store) Set(user User, server Server, name, value string) error {
	if err := checkValue(name, value); err != nil {
		return err
	}
	return s.change(func(all []sealedEntry) ([]sealedEntry, error) {
		all = slices.DeleteFunc(all, func(e sealedEntry) bool {
			return e.User == user.Key && e.Server == server.Name && e.Name == name
		})
		own := 0
		for _, e := range all {
			if e.User == user.Key {
				own++
			}
		}
		if own >= maxPerUser || len(all) >= maxEntries {
			return nil, &tool.Error{
				Code: tool.Unavailable, Op: "store credential", Msg: "there are too many credentials",
				Hint: "remove some that are not needed",
			}
		}
		return append(all, sealedEntry{
			Entry: Entry{
				User: user.Key, Who: user.Name, Server: server.Name, Name: name,
				Set: time.Now().UTC().Truncate(time.Second),
			},
			Sealed: seal(s.aead, value, boundTo(user.Key, server, name)),
		}), nil
	})
}

// Replace replaces the value of a credential by next, or removes the credential if next is "". It reports false, and
// changes nothing, unless the value is the one in before: what was removed or replaced meanwhile does not come back.
// Errors are those of Set.
func (s *Store) Replace(user string, server Server, name, before, next string) (bool, error) {
	if next != "" {
		if err := checkValue(name, next); err != nil {
			return false, err
		}
	}
	err := s.change(func(all []sealedEntry) ([]sealedEntry, error) {
		for i, e := range all {
			if e.User != user || e.Server != server.Name || e.Name != name {
				continue
			}
			value, ok := open(s.aead, e.Sealed, boundTo(user, server, name))
			if !ok || value != before {
				break
			}
			if next == "" {
				return slices.Delete(all, i, i+1), nil
			}
			all[i].Sealed = seal(s.aead, next, boundTo(user, server, name))
			return all, nil
		}
		return nil, errReplaced
	})
	if errors.Is(err, errReplaced) {
		return false, nil
	}
	return err == nil, err
}

// errReplaced ends a change of a value that is not the expected one any more.
var errReplaced = errors.New("the value was changed meanwhile")

// List returns the credentials of a user, by server and name.
func (s *Store) List(user string) ([]Entry, error) {
	all, err := s.All()
	return slices.DeleteFunc(all, func(e Entry) bool { return e.User != user }), err
}

// All returns the credentials of all users, for the operator: by user, server and name.
func (s *Store) All() ([]Entry, error) {
	all, err := s.read()
	out := make([]Entry, len(all))
	for i, e := range all {
		out[i] = e.Entry
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
	})
	return out, err
}

// Remove removes credentials of a user, and returns how many: those of a server, or of all servers if it is "", of one
// name, or of all names if it is "". They are gone from the disk when Remove returns.
func (s *Store) Remove(user, server, name string) (int, error) {
	removed := 0
	err := s.change(func(all []sealedEntry) ([]sealedEntry, error) {
		before := len(all)
		all = slices.DeleteFunc(all, func(e sealedEntry) bool {
			return e.User == user && (server == "" || e.Server == server) && (name == "" || e.Name == name)
		})
		removed = before - len(all)
		return all, nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// file is the content of the file.
type file struct {
	Version int           `json:"version"`
	Entries []sealedEntry `json:"entries"`
}

// read returns the entries of the file, none if it does not exist. The slice must not be changed. A file that is the
// same as at the last time is not read again: each change makes another one.
func (s *Store) read() ([]sealedEntry, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.seen, s.known = nil, nil
		return nil, nil
	}
	if err == nil && s.seen != nil && os.SameFile(s.seen, info) && s.seen.Size() == info.Size() &&
		s.seen.ModTime().Equal(info.ModTime()) {
		return s.known, nil
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(s.path)
	}
	var f file
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err == nil && f.Version != 1 {
		err = fmt.Errorf("version %d is not known", f.Version)
	}
	if err != nil {
		return nil, fileError("read", err)
	}
	s.seen, s.known = info, f.Entries
	return f.Entries, nil
}

// change replaces the file by what edit makes of its entries, alone among all processes.
func (s *Store) change(edit func([]sealedEntry) ([]sealedEntry, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := atomicfile.Lock(s.path)
	if err != nil {
		return fileError("changed", err)
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	if all, err = edit(slices.Clone(all)); err != nil {
		return err
	}
	b, err := json.Marshal(file{1, all})
	if err == nil {
		err = atomicfile.Write(s.path, b, 0o600)
	}
	if err != nil {
		return fileError("written", err)
	}
	return nil
}

// fileError returns the Internal error of the file.
func fileError(what string, err error) error {
	return &tool.Error{
		Code: tool.Internal, Op: "credentials", Msg: "the file of credentials cannot be " + what,
		Hint: "check its permissions, and whether the disk is full", Err: err,
	}
}
