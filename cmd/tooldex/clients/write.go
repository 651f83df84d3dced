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

// Write puts text in the place of a file in one step: whoever reads it sees the old text or the new one. A file that is
// there keeps its mode, and where path is a symbolic link, what it points to is replaced, or made. A file that is not
// there is made with mode, and its folder too. Was is what the file held when it was read, nil if it was not there: if
// it holds anything else by now, the error is Unavailable, and nothing is written.
func Write(path string, was, text []byte, mode fs.FileMode) error {
	target := behind(path)
	now, err := os.ReadFile(target)
	gone := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !gone:
		return unwritten(path, err)
	case gone != (was == nil) || !bytes.Equal(now, was):
		return &tool.Error{
			Code: tool.Unavailable, Op: "write client", Msg: path + " was changed meanwhile",
			Hint: "close the client and try again",
		}
	}
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	} else if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return unwritten(path, err)
	}
	if err := atomicfile.Write(target, text, mode); err != nil {
		return unwritten(path, err)
	}
	return nil
}

// behind follows symbolic links from a path, also to a file that is not there.
func behind(path string) string {
	const most = 40 // links
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			dir := filepath.Dir(path)
			if real, err := filepath.EvalSymlinks(dir); err == nil { // before ".." is taken away
				dir = real
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return path
}

func unwritten(path string, err error) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "write client", Msg: path + " cannot be written",
		Hint: "see that you may write the file and its folder", Err: err,
	}
}
