package main

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"slices"

	"tooldex/tool"
)

// fileError tells why a file could not be read.
func fileError(op, path string, err error) error {
	return &tool.Error{Code: tool.Invalid, Op: op, Msg: "file " + path + " cannot be read", Hint: "check the path and the file's permissions", Err: cause(err)}
}

// cause leaves out what an error of the os package says of the path.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// sortedKeys lists the keys of m in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
