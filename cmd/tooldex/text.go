package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"tooldex/tool"
)

// fileError tells why a file could not be read.
func fileError(op, path string, err error) error {
	return &tool.Error{
		Code: tool.Invalid, Op: op, Msg: "file " + path + " cannot be read",
		Hint: "check the path and the file's permissions", Err: cause(err),
	}
}

// cause leaves out what an error of the os package says of the path.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// maxSmall bounds what is read of a file that people write by hand, and of arguments: what is longer is something else.
const maxSmall = 16 << 20

// readSmall is os.ReadFile for such a file.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readMost(f)
}

// readMost is io.ReadAll for as much as such a file may hold.
func readMost(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSmall+1))
	if err == nil && len(b) > maxSmall {
		err = fmt.Errorf("it has more than %d MiB", maxSmall>>20)
	}
	return b, err
}

// sortedKeys lists the keys of m in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
