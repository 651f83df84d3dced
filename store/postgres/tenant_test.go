package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"tooldex/internal/pgtest"
	"tooldex/store"
	"tooldex/store/storetest"
	"tooldex/tool"
	"tooldex/upstream"
)

// fill writes a row to every table.
func fill(t *testing.T, s *Store) {
	t.Helper()
	ctx := context.Background()
	entries := func(map[string][]byte) map[string][]byte { return map[string][]byte{"a": []byte("x")} }
	_, err := s.Write(ctx, &store.Batch{
		Records: storetest.Records(0, 3), Vectors: map[store.TextHash]store.Vector{{1}: {}},
		Analyses: map[tool.Hash][]byte{{1}: []byte("x")}, Servers: []upstream.Server{{Name: "s"}},
		Sources: []store.SourceState{{Name: "s"}}, Overlays: map[string][]byte{"o": nil}, Trust: map[tool.ID][]byte{"a/b": []byte("x")},
	})
	_, err2 := s.SetPreferences(ctx, "p", 0, []byte("x"))
	_, _, err3 := s.ChangeLearned(ctx, nil, entries)
	_, _, err4 := s.ChangeCounts(ctx, nil, entries)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
}

// tables returns the tables with tenants, as the database has them.
func tables(t *testing.T, s *Store) []string {
	t.Helper()
	rows, err := s.pool.Query(context.Background(), `SELECT relname::text FROM pg_class
		WHERE relnamespace = 'tooldex'::regnamespace AND relkind = 'r' AND relname <> 'schema_version'`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(out) < 11 {
		t.Fatal(out, err)
	}
	return out
}

// TestTenantsAreApart looks at every table as another tenant, and as none, and tries to change what is there.
func TestTenantsAreApart(t *testing.T) {
	ctx := context.Background()
	server := pgtest.Start(t)
	one, other := open(t, server.URL("one")), open(t, server.URL("other"))
	fill(t, one)
	for _, table := range tables(t, one) {
		var mine, theirs int
		err := errors.Join(
			one.pool.QueryRow(ctx, `SELECT count(*) FROM `+table).Scan(&mine),
			other.pool.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE tenant <> 'other'`).Scan(&theirs))
		if err != nil || mine == 0 || theirs != 0 {
			t.Errorf("%s: its tenant sees %d rows, another %d of them, %v", table, mine, theirs, err)
		}
		if _, err := other.pool.Exec(ctx, `UPDATE `+table+` SET tenant = 'one'`); err == nil && table == "head" {
			t.Errorf("%s: a tenant took the name of another", table)
		}
		if tag, err := other.pool.Exec(ctx, `DELETE FROM `+table+` WHERE tenant = 'one'`); err != nil || tag.RowsAffected() > 0 {
			t.Errorf("%s: another tenant deleted %v, %v", table, tag, err)
		}
	}
	none, err := pgx.Connect(ctx, server.Address("tooldex", "tooldex"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = none.Close(ctx) }()
	for _, table := range tables(t, one) {
		n := -1
		if err := none.QueryRow(ctx, `SELECT count(*) FROM tooldex.`+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: a session without a tenant sees %d rows, %v", table, n, err)
		}
	}
	if gen, err := other.Write(ctx, &store.Batch{Records: storetest.Records(5, 6)}); err != nil || gen != 2 {
		t.Errorf("the first change of another tenant has generation %d, %v", gen, err)
	}
	snap, err := one.Load(ctx, store.View{})
	if err != nil || len(snap.Records) != 3 {
		t.Errorf("%d records, %v", len(snap.Records), err)
	}
}

// TestUnboundRoleIsRefused holds Open to refusing roles that would see every tenant.
func TestUnboundRoleIsRefused(t *testing.T) {
	server := pgtest.Start(t)
	server.Exec(`CREATE ROLE beyond LOGIN BYPASSRLS; GRANT CREATE ON DATABASE tooldex TO beyond`)
	for _, role := range []string{"postgres", "beyond"} {
		_, err := Open(context.Background(), server.Address(role, "tooldex"))
		if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), role) {
			t.Errorf("role %s: %v, want Invalid", role, err)
		}
	}
}

// TestFirstOpensAtOnce has many open an empty database at once: one makes the tables, and all work.
func TestFirstOpensAtOnce(t *testing.T) {
	server := pgtest.Start(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := Open(context.Background(), server.URL("t"))
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Generation(context.Background()); err != nil {
				t.Error(err)
			}
			_ = s.Close()
		})
	}
	all.Wait()
	server.Exec(`UPDATE tooldex.schema_version SET version = 99`)
	if _, err := Open(context.Background(), server.URL("t")); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("tables of a newer version: %v, want Invalid", err)
	}
}

func TestAddressesThatCannotBe(t *testing.T) {
	for _, address := range []string{
		"", "secret", "mysql://u:secret@h/d", "postgres://u:secret@h:port/d", "postgres://u:secret @h/d", "postgres://%zzsecret",
		"postgres://u:secret@h/d?sslmode=maybe", "postgres://u:secret@h/d?sslmode=verify-full&sslrootcert=/not/there",
		"postgres://u:secret@h/d?tenant=" + strings.Repeat("x", 101),
	} {
		_, err := Open(context.Background(), address)
		var own *tool.Error
		if !errors.As(err, &own) || own.Code != tool.Invalid || own.Hint == "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want Invalid with a hint and without the password", address, err)
		}
	}
	_, err := Open(context.Background(), "postgres://u:secret@127.0.0.1:1/d?password=secret")
	if tool.CodeOf(err) != tool.Unavailable || strings.Contains(err.Error(), "secret") {
		t.Errorf("nobody listens: %v, want Unavailable", err)
	}
}
