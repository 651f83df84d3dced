package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// Keeper keeps what clients' files held before they were changed: for each change NNNNNN.before with the old content
// and NNNNNN.json with the Change, numbered in a folder of the client. Only their owner can read these files, since
// they hold secrets. Two processes must not use a Dir at the same time.
type Keeper struct {
	Dir string // the folder connect of the data directory, made by Keep
}

// Change is one change of a client's file, with what Undo needs.
type Change struct {
	Client  string      `json:"client"`
	Path    string      `json:"path"`
	Existed bool        `json:"existed"` // false: undoing removes the file
	Mode    fs.FileMode `json:"mode"`    // before the change; for a new file, that of the file to write
	Time    time.Time   `json:"time"`
	Own     string      `json:"own"`     // the name of the server that was added
	Gone    []Taken     `json:"gone"`    // the servers that were taken out
	Written string      `json:"written"` // the SHA-256 of what was written, in hexadecimal
	// Profile is the change of the client's profile; nil if there was none.
	Profile *ProfileChange `json:"profile,omitempty"`

	file string // of the keeper, without extension; only Last sets it
}

// Taken names a server that was taken out of a section.
type Taken struct {
	Section []string `json:"section"`
	Name    string   `json:"name"`
}

// Sum returns the SHA-256 of a text in hexadecimal, the form of Change.Written.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Keep stores a change and what the file held before it. When it returns nil, both are on the disk, so that the file
// may be written. The error is Internal.
func (k Keeper) Keep(c Change, before []byte) error {
	dir := filepath.Join(k.Dir, c.Client)
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return backupError(dir, err)
	}
	number := 1
	if names, err := k.listChanges(c.Client); err != nil {
		return err
	} else if len(names) > 0 {
		if _, err := fmt.Sscanf(filepath.Base(names[len(names)-1]), "%d", &number); err == nil {
			number++
		}
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return backupError(dir, err)
	}
	base := filepath.Join(dir, fmt.Sprintf("%06d", number))
	for _, f := range []struct {
		path string
		text []byte
	}{{base + ".before", before}, {base + ".json", b}} { // the change last: Last must find the backup of each
		if err := atomicfile.Write(f.path, f.text, 0o600); err != nil {
			return backupError(dir, err)
		}
	}
	return nil
}

// backupError returns the Internal error for a backup that cannot be written or read.
func backupError(dir string, err error) error {
	return &tool.Error{Code: tool.Internal, Op: "keep backup", Msg: "the backup in " + dir +
		" cannot be written or read", Hint: "see that the data directory is writable", Err: err}
}

// listChanges returns the paths of the changes of a client, oldest first: six digits sort as numbers do.
func (k Keeper) listChanges(client string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(k.Dir, client, "*.json"))
	if err != nil {
		return nil, backupError(k.Dir, err)
	}
	slices.Sort(names)
	return names, nil
}

// Last returns the last change of a client's files, and the content before it. If path is not empty, only changes of
// that file count. The error is NotFound if there is no change.
func (k Keeper) Last(client, path string) (Change, []byte, error) {
	names, err := k.listChanges(client)
	if err != nil {
		return Change{}, nil, err
	}
	for _, name := range slices.Backward(names) {
		b, err := os.ReadFile(name)
		if err != nil {
			return Change{}, nil, backupError(name, err)
		}
		var c Change
		if err := json.Unmarshal(b, &c); err != nil {
			return Change{}, nil, backupError(name, err)
		}
		if path != "" && c.Path != path {
			continue
		}
		c.file = name[:len(name)-len(".json")]
		before, err := os.ReadFile(c.Before())
		if err != nil {
			return Change{}, nil, backupError(name, err)
		}
		return c, before, nil
	}
	return Change{}, nil, &tool.Error{
		Code: tool.NotFound, Op: "undo", Msg: "nothing was changed for " + client,
		Hint: "tooldex connect " + client + " does",
	}
}

// Before returns the path of the backup. The change must come from Last.
func (c Change) Before() string { return c.file + ".before" }

// Forget removes a change and its backup, and makes the client's profile what it was before. The change must come from
// Last.
func (k Keeper) Forget(c Change) error {
	if c.Profile != nil {
		if err := k.setProfile(c.Profile.Name, c.Profile.Before); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Remove(c.file+".json"), os.Remove(c.Before())); err != nil {
		return backupError(k.Dir, err)
	}
	return nil
}

// Undo restores the content before a change, byte for byte. A file that did not exist is removed, but not a symbolic
// link to it; a file that is missing now is made again with its old mode. Undo reports false, and does nothing, if the
// file was changed since: then Document.Restore may help.
func Undo(c Change, before []byte) (bool, error) {
	now, err := os.ReadFile(c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !c.Existed {
			return true, nil
		}
		return true, Write(c.Path, nil, before, c.Mode)
	case err != nil:
		return false, writeError(c.Path, err)
	case c.Existed && bytes.Equal(now, before):
		return true, nil
	case Sum(now) != c.Written:
		return false, nil
	case !c.Existed:
		if err := os.Remove(resolveLinks(c.Path)); err != nil {
			return false, writeError(c.Path, err)
		}
		return true, nil
	}
	if err := Write(c.Path, now, before, c.Mode); err != nil {
		return false, err
	}
	return true, nil
}
