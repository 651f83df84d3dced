package service

import (
	"context"
	"path/filepath"

	"tooldex/config"
	"tooldex/internal/atomicfile"
	"tooldex/store"
	"tooldex/store/postgres"
	"tooldex/tool"
)

// OpenStore opens the state of the setting store: the database at address, or the file in dir if address is "". O is
// for the file. The folder is made in either case, since the index of this process lies there. The errors are those of
// store.Open and postgres.Open, and Invalid for an address that is none of a database. The caller closes the Backend.
func OpenStore(ctx context.Context, address, dir string, o store.Options) (store.Backend, error) {
	return openStore(ctx, address, dir, o, func(ctx context.Context, address, _ string) (*postgres.Store, error) {
		return postgres.Open(ctx, address)
	})
}

// lastState is the name of the file from which a process that serves begins while the database is away.
const lastState = "last-state.json"

// openStore is OpenStore that opens a database by a function, which gets the path of lastState.
func openStore(ctx context.Context, address, dir string, o store.Options,
	open func(ctx context.Context, address, file string) (*postgres.Store, error),
) (store.Backend, error) {
	if address == "" {
		s, err := store.Open(dir, o)
		if err != nil { // a nil *Store in an interface would not be nil
			return nil, err
		}
		return s, nil
	}
	if !postgres.Handles(address) {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "open store", Msg: "the setting store is not the address of a database",
			Hint: "write postgres://USER@HOST/DATABASE, or leave it out to keep the tools in a file",
		}
	}
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return nil, &tool.Error{
			Code: tool.Internal, Op: "open store", Msg: "cannot make the data directory " + dir,
			Hint: "choose another with --data-dir", Err: err,
		}
	}
	s, err := open(ctx, address, filepath.Join(dir, lastState))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// RequireFile refuses what is done to the file of the tools while they are in a database. The error is Invalid.
func RequireFile(c *config.Config, op string) error {
	if c.Store == "" {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: op, Msg: "the tools are in a database, not in a file",
		Hint: "use the database's own tools, such as pg_dump and pg_restore, or unset store",
	}
}
