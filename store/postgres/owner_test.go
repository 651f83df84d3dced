package postgres

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tooldex/internal/pgtest"
)

// ownersOf returns which of some stores are owners.
func ownersOf(all []*Store) (out []int) {
	for i, s := range all {
		if s != nil && s.Owner() {
			out = append(out, i)
		}
	}
	return out
}

// soon waits for what happens in its own time.
func soon(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not within 30 seconds: %s", what)
		}
	}
}

// waitForOwner waits until one store is the owner, and returns which. It fails if ever two are.
func waitForOwner(t *testing.T, all []*Store) (first int) {
	t.Helper()
	soon(t, "an owner", func() bool {
		now := ownersOf(all)
		if len(now) > 1 {
			t.Fatalf("%v are owners", now)
		}
		if len(now) == 1 {
			first = now[0]
		}
		return len(now) == 1
	})
	return first
}

// TestOneOwner has three processes of one tenant, and one of another. Each tenant has one owner; when it ends, or loses
// its session, another takes over.
func TestOneOwner(t *testing.T) {
	ctx := context.Background()
	server := pgtest.Start(t)
	other := open(t, server.URL("other"))
	all := []*Store{open(t, server.URL("t")), open(t, server.URL("t")), open(t, server.URL("t"))}
	first := waitForOwner(t, all)
	if waitForOwner(t, []*Store{other}) != 0 {
		t.Error("another tenant has no owner")
	}
	gone := all[first]
	all[first] = nil
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	if gone.Owner() {
		t.Error("a store that was closed is an owner")
	}
	waitForOwner(t, all)

	// The server ends the sessions of the owners, which learn of it with their next look.
	var ended []uint32
	for _, pid := range lockHolders(t, other) {
		if _, err := other.pool.Exec(ctx, `SELECT pg_terminate_backend($1::int)`, int32(pid)); err != nil {
			t.Fatal(err)
		}
		ended = append(ended, pid)
	}
	if len(ended) != 2 {
		t.Fatalf("%d sessions hold locks, want one for each tenant", len(ended))
	}
	soon(t, "owners with other sessions", func() bool {
		now := lockHolders(t, other)
		return len(now) == 2 && !slices.ContainsFunc(now, func(pid uint32) bool { return slices.Contains(ended, pid) }) &&
			len(ownersOf(all)) == 1
	})
	server.Kill()
	soon(t, "no owner without a database", func() bool { return len(ownersOf(all)) == 0 })
	server.Restart()
	waitForOwner(t, all)
}

// lockHolders returns the processes of the server that hold the lock of a tenant's owner.
func lockHolders(t *testing.T, s *Store) []uint32 {
	t.Helper()
	rows, err := s.pool.Query(t.Context(), `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[uint32])
	if err != nil {
		t.Fatal(err)
	}
	return out
}
