package clients

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// Write replaces the content of a file in one step: readers see the old text or the new one. An existing file keeps its
// mode. Where path is a symbolic link, the file that it points to is replaced or made. A missing file is made with
// mode, and its folder with it. Was is what the file held when it was read, nil if it did not exist: if the file holds
// anything else by now, the error is Unavailable and nothing is written. Other errors are Invalid, also that for a file
// that is read-only.
func Write(path string, was, text []byte, mode fs.FileMode) error {
	target := resolveLinks(path)
	now, err := os.ReadFile(target)
	gone := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !gone:
		return writeError(path, err)
	case gone != (was == nil) || !bytes.Equal(now, was):
		return &tool.Error{
			Code: tool.Unavailable, Op: "write client", Msg: path + " was changed meanwhile",
			Hint: "close the client and try again",
		}
	}
	if err := CheckWritable(path); err != nil {
		return err
	}
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	} else if err := atomicfile.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return writeError(path, err)
	}
	if err := atomicfile.Write(target, text, mode); err != nil {
		return writeError(path, err)
	}
	return nil
}

// CheckWritable returns an Invalid error for a file that its owner may not write. Replacing it would work, but somebody
// protected it, or a program makes it anew.
func CheckWritable(path string) error {
	const ownerMayWrite = 0o200
	info, err := os.Stat(resolveLinks(path))
	if err != nil || info.Mode().Perm()&ownerMayWrite != 0 {
		return nil // a missing file is made; other errors are those of writing
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "write client", Msg: path + " is read-only",
		Hint: "allow its owner to write it, for example by chmod u+w, or edit it by hand",
	}
}

// resolveLinks follows symbolic links from a path, even to a file that does not exist, which filepath.EvalSymlinks
// cannot.
func resolveLinks(path string) string {
	const most = 40 // links, as in Linux: a loop ends there
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			dir := filepath.Dir(path)
			if real, err := filepath.EvalSymlinks(dir); err == nil { // before Join removes ".." lexically
				dir = real
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return path
}

// writeError returns the Invalid error for a client's file that cannot be written.
func writeError(path string, err error) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "write client", Msg: path + " cannot be written",
		Hint: "see that you may write the file and its folder", Err: err,
	}
}
