package postgres

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"

	"tooldex/store"
	"tooldex/tool"
)

// schema is the schema of all tables. It is the search path of every connection.
const schema = "tooldex"

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock that a migration holds, so that two processes do not migrate at once.
const migrationLock = 0x746f6f6c // "tool"

// migrate brings the tables up to date, in one transaction. It does nothing, and needs no rights, where they are.
func (s *Store) migrate(ctx context.Context, conn *pgx.Conn) error {
	steps, err := fs.Glob(migrations, "migrations/*.sql") // sorted by name, which begins with the version
	if err != nil {
		return err
	}
	if have, err := schemaVersion(ctx, conn); err != nil || have == len(steps) {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock); err != nil {
			return err
		}
		have, err := schemaVersion(ctx, tx) // another process may have been faster
		if err != nil {
			return err
		}
		if have > len(steps) {
			return &tool.Error{
				Code: tool.Invalid, Op: "open store",
				Msg:  fmt.Sprintf("the tables at %s have version %d, this program knows %d", s.location, have, len(steps)),
				Hint: "upgrade tooldex",
			}
		}
		if have == 0 {
			if err := createSchema(ctx, tx); err != nil {
				return err
			}
		}
		for _, step := range steps[have:] {
			text, err := migrations.ReadFile(step)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, string(text)); err != nil {
				return fmt.Errorf("%s: %w", path.Base(step), err)
			}
		}
		_, err = tx.Exec(ctx, `UPDATE schema_version SET version = $1`, len(steps))
		return err
	})
}

// createSchema makes the schema, unless somebody with more rights has, and the table of its version.
func createSchema(ctx context.Context, tx pgx.Tx) error {
	var exists bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)`, schema).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		if _, err := tx.Exec(ctx, `CREATE SCHEMA `+schema); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `CREATE TABLE schema_version AS SELECT 0 AS version`)
	return err
}

// querier is a pool, a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// schemaVersion returns how many migrations the tables have seen; zero if there are no tables. It reads the catalogue
// as a table: to_regclass may answer from a cache that is older than a lock that was waited for.
func schemaVersion(ctx context.Context, q querier) (version int, err error) {
	var exists bool
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version')`,
		schema).Scan(&exists)
	if err != nil || !exists {
		return 0, err
	}
	err = q.QueryRow(ctx, `SELECT version FROM schema_version`).Scan(&version)
	return version, err
}

// ensureHead makes the head of the tenant. The first generation is 1, so that zero can stand for none.
func ensureHead(ctx context.Context, conn *pgx.Conn) error {
	stamp := newStamp()
	_, err := conn.Exec(ctx, `INSERT INTO head (seq, generation, stamp) VALUES (1, 1, $1) ON CONFLICT DO NOTHING`, stamp[:])
	return err
}

// newStamp returns a stamp that no other state has.
func newStamp() (stamp store.Stamp) {
	_, _ = rand.Read(stamp[:]) // it never fails
	return stamp
}
