package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"tooldex/tool"
)

// fileError returns the Invalid error for a file that cannot be read.
func fileError(op, path string, err error) error {
	return &tool.Error{Code: tool.Invalid, Op: op, Msg: "file " + path +
		" cannot be read", Hint: "check the path and the file's permissions", Err: causeOf(err)}
}

// causeOf strips the operation and the path from an error of package os, where the message names the path already.
func causeOf(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// maxSmall bounds files that people write by hand, and arguments, in bytes. Anything longer is a mistake.
const maxSmall = 16 << 20

// readSmall is os.ReadFile, with an error for a file of more than maxSmall bytes.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readMost(f)
}

// readMost is io.ReadAll, with an error for more than maxSmall bytes.
func readMost(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSmall+1))
	if err == nil && len(b) > maxSmall {
		err = fmt.Errorf("it has more than %d MiB", maxSmall>>20)
	}
	return b, err
}
