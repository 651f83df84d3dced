package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"tooldex/internal/redact"
	"tooldex/store"
	"tooldex/store/postgres"
	"tooldex/tool"
)

// CopyStore copies everything stored from one place to another, verified: see [store.Copy]. A place is a data directory
// or the address of a database. The error is NotFound if from does not exist, and as at store.Copy for the rest. No
// error has a password in it.
func CopyStore(ctx context.Context, from, to string, replace bool) (*store.Copied, error) {
	source, err := openPlace(ctx, from, true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }() // it was only read
	target, err := openPlace(ctx, to, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = target.Close() }() // what was written is durable
	return store.Copy(ctx, source, target, replace)
}

// openPlace opens what lies at a data directory or the address of a database. A missing directory is made, unless it
// must exist.
func openPlace(ctx context.Context, place string, mustExist bool) (store.Backend, error) {
	switch {
	case postgres.Handles(place):
		return OpenStore(ctx, place, os.TempDir(), store.Options{})
	case strings.Contains(place, "://"):
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "copy", Msg: redact.Address(place) + " is not the address of a database that can be used",
			Hint: "give a data directory, or postgres://USER@HOST/DATABASE",
		}
	}
	if _, err := os.Stat(filepath.Join(place, store.FileName)); err != nil && mustExist {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "copy", Msg: "there is no " + store.FileName + " in " + place,
			Hint: "give a data directory, or postgres://USER@HOST/DATABASE", Err: err,
		}
	}
	return OpenStore(ctx, "", place, store.Options{})
}
