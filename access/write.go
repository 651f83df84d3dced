package access

import (
	"errors"
	"fmt"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// replaceFile replaces a file, in one step, by one that only this user can read.
func replaceFile(path string, data []byte) error {
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return writeError(path, err)
	}
	return nil
}

// writeError returns the error of a file that cannot be written.
func writeError(path string, err error) error {
	return &tool.Error{
		Code: tool.Internal, Op: "write tokens", Msg: path + " cannot be written",
		Hint: "check the permissions, and whether the disk is full", Err: err,
	}
}

// lockFile keeps other processes from editing the file. unlock ends that. The error is Unavailable if another process
// edits it for seconds.
func lockFile(path string) (unlock func(), err error) {
	unlock, err = atomicfile.Lock(path)
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "write tokens", Msg: fmt.Sprintf("another process is changing %s", path),
			Hint: "try again; if no process does, remove " + path + ".lock", Err: err,
		}
	case err != nil:
		return nil, writeError(path, err)
	}
	return unlock, nil
}
