package config

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Change describes what Reload found to be different. Its methods group the settings by what has to be done about them.
type Change struct {
	Before, Now *Config
	// Restart lists the keys of settings whose change takes effect only after a restart, each once.
	Restart []string
}

// Servers reports whether the servers of the file have changed.
func (c Change) Servers() bool { return !reflect.DeepEqual(c.Before.Servers, c.Now.Servers) }

// Profiles reports whether the profiles have changed.
func (c Change) Profiles() bool {
	return len(c.Before.Profiles)+len(c.Now.Profiles) > 0 && !reflect.DeepEqual(c.Before.Profiles, c.Now.Profiles)
}

// Listing reports whether the settings of tools/list have changed.
func (c Change) Listing() bool {
	a, b := c.Before.Serve, c.Now.Serve
	return a.Mode != b.Mode || a.Threshold != b.Threshold || a.Summary != b.Summary || a.MaxResult != b.MaxResult ||
		!slices.Equal(a.Follows, b.Follows) || !slices.Equal(a.Always, b.Always)
}

// Confirmation reports whether the settings of confirmation have changed.
func (c Change) Confirmation() bool {
	a, b := c.Before.Serve, c.Now.Serve
	return a.Confirm != b.Confirm || a.ConfirmTimeout != b.ConfirmTimeout ||
		!slices.Equal(a.ConfirmTools, b.ConfirmTools) || !slices.Equal(a.ConfirmExcept, b.ConfirmExcept)
}

// Trust reports whether who is trusted has changed.
func (c Change) Trust() bool {
	return !reflect.DeepEqual(c.Before.Trust, c.Now.Trust) || !slices.Equal(trustedNames(c.Before), trustedNames(c.Now))
}

// trustedNames lists the servers of the file that are marked as trusted.
func trustedNames(c *Config) (names []string) {
	for _, s := range c.Servers {
		if s.Trust {
			names = append(names, s.Name)
		}
	}
	return names
}

// settleTime is the age from which the modification time of a file proves that it has not changed since: a younger file
// may be written again within the resolution of its file system's clock.
const settleTime = 3 * time.Second

// watchedFile is a file as it was at the last look. Loader.mu guards it.
type watchedFile struct {
	path     string
	optional bool              // it may be missing
	info     fs.FileInfo       // nil if the next look has to read it
	sum      [sha256.Size]byte // of the text, or of the error of reading it
}

// hasChanged reports whether the file's text, or the error of reading it, differs from the last look. It reads the file
// only if its metadata do not prove that it is the same. So an error counts as a change once, and is reported once.
func (w *watchedFile) hasChanged() bool {
	info, err := os.Stat(w.path)
	if err == nil && w.info != nil && os.SameFile(w.info, info) && w.info.Size() == info.Size() &&
		w.info.ModTime().Equal(info.ModTime()) && time.Since(info.ModTime()) > settleTime {
		return false
	}
	w.info = info
	b, err := readBounded(w.path)
	if errors.Is(err, fs.ErrNotExist) && w.optional {
		b, err = nil, nil
	}
	if err != nil {
		b = []byte("\x00" + err.Error()) // never the text of a usable file
	}
	sum := sha256.Sum256(b)
	changed := sum != w.sum
	w.sum = sum
	return changed
}

// watchFile has Reload look at a file, beginning with the text it has now.
func (l *Loader) watchFile(w *watchedFile) {
	w.hasChanged()
	w.info = nil // the text may be newer than what is read next
	l.watched = append(l.watched, w)
}

// Reload reads the file again if it has changed, and returns nil if nothing is different. A file that cannot be read or
// used leaves everything as it was, and its error is returned once.
func (l *Loader) Reload() (*Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := false
	for _, w := range l.watched {
		changed = w.hasChanged() || changed
	}
	if !changed {
		return nil, nil
	}
	f, err := l.readFile()
	if err != nil {
		return nil, err
	}
	now, origins, err := l.applyLayers(f)
	if err != nil {
		return nil, err
	}
	out := &Change{Before: l.Config(), Now: now}
	for _, s := range Settings() {
		before, after := fieldOf(out.Before, s.Key), fieldOf(now, s.Key)
		if s.live || reflect.DeepEqual(before.Interface(), after.Interface()) {
			continue
		}
		after.Set(before) // the program still works with the old value
		if !l.reported[s.Key] {
			l.reported[s.Key] = true
			out.Restart = append(out.Restart, s.Key)
		}
	}
	l.file, l.origins = f, origins
	l.now.Store(now)
	return out, nil
}

// Invalidate makes the next Reload read the files as if they had changed, and report again what needs a restart.
func (l *Loader) Invalidate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.watched {
		w.sum, w.info = [sha256.Size]byte{1}, nil
	}
	l.reported = map[string]bool{}
}

// UnknownVariables lists the variables of an environment, as os.Environ has it, that look like ours and are none.
func UnknownVariables(environ []string) []string {
	known := Variables()
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "TOOLDEX_") && !slices.Contains(known, name) {
			out = append(out, name)
		}
	}
	return out
}

// Variables lists the environment variables that are read.
func Variables() []string {
	out := []string{Variable}
	for _, s := range Settings() {
		out = append(out, s.Env)
	}
	return out
}

// Environ lists the environment of the process, as os.Environ does.
func Environ() []string { return os.Environ() }
