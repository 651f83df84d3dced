package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// copying is one COPY.
type copying struct {
	from    string                 // the folder that sources are seen from
	ignored func(name string) bool // tells what of it is left out, by its path with slashes
	owner   *owner                 // nil for that of who copies
}

type owner struct{ uid, gid int }

// readOwner reads what follows --chown=: numbers, since a root may have no names.
func readOwner(s string) (*owner, error) {
	if s == "" {
		return nil, nil
	}
	user, group, ok := strings.Cut(s, ":")
	if !ok {
		group = user
	}
	uid, err := strconv.Atoi(user)
	if err != nil {
		return nil, fmt.Errorf("owner %q: want numbers, UID:GID", s)
	}
	gid, err := strconv.Atoi(group)
	if err != nil {
		return nil, fmt.Errorf("owner %q: want numbers, UID:GID", s)
	}
	return &owner{uid, gid}, nil
}

// ignoring reads a .dockerignore. Names with exceptions are refused.
func ignoring(text string) (func(string) bool, error) {
	var patterns []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		anywhere := strings.TrimPrefix(line, "**/")
		if strings.HasPrefix(line, "!") || strings.Contains(anywhere, "**") {
			return nil, fmt.Errorf("%q in .dockerignore is not known here", line)
		}
		if _, err := path.Match(line, ""); err != nil {
			return nil, fmt.Errorf("%q in .dockerignore: %w", line, err)
		}
		patterns = append(patterns, strings.TrimPrefix(line, "/"))
	}
	return func(name string) bool {
		for _, p := range patterns {
			if matches(p, name) {
				return true
			}
		}
		return false
	}, nil
}

// matches reports whether a pattern means a file, or a folder that it is in.
func matches(pattern, name string) bool {
	last, anywhere := strings.CutPrefix(pattern, "**/")
	parts := strings.Split(name, "/")
	for i := range parts {
		whole := strings.Join(parts[:i+1], "/")
		if ok, err := path.Match(pattern, whole); ok && err == nil {
			return true
		}
		if !anywhere {
			continue
		}
		if ok, err := path.Match(last, parts[i]); ok && err == nil {
			return true
		}
	}
	return false
}

// do copies sources to a place in root: of folders what is in them, of files themselves.
func (c copying) do(root, workdir string, sources []string, to string) error {
	many := len(sources) > 1 || strings.HasSuffix(to, "/") || to == "."
	if !path.IsAbs(to) {
		to = path.Join(workdir, to)
	}
	to = filepath.Join(root, filepath.FromSlash(to))
	for _, s := range sources {
		rel := strings.TrimPrefix(path.Clean("/"+s), "/")
		from := filepath.Join(c.from, filepath.FromSlash(rel))
		info, err := os.Lstat(from)
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			err = c.tree(from, to)
		case many:
			err = c.file(from, filepath.Join(to, filepath.Base(from)), info)
		default:
			err = c.file(from, to, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c copying) tree(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.from, name)
		if err != nil {
			return err
		}
		if c.ignored != nil && rel != "." && c.ignored(filepath.ToSlash(rel)) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		return c.file(name, filepath.Join(to, below), info)
	})
}

// file copies one file, link or empty folder.
func (c copying) file(from, to string, info fs.FileInfo) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	switch {
	case info.IsDir():
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file", from)
	default:
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			return err
		}
	}
	if err := os.Chmod(to, info.Mode()&(fs.ModePerm|fs.ModeSticky)); err != nil {
		return err
	}
	if c.owner == nil {
		return nil
	}
	return os.Lchown(to, c.owner.uid, c.owner.gid)
}
