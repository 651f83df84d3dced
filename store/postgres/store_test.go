package postgres

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"tooldex/internal/pgtest"
	"tooldex/store"
	"tooldex/store/storetest"
)

// open opens a tenant's state; it is closed with the test.
func open(t testing.TB, address string) *Store {
	t.Helper()
	s, err := Open(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestBackend holds the database to what all backends promise, each test with a tenant of its own.
func TestBackend(t *testing.T) {
	server := pgtest.Start(t)
	var tenants atomic.Int32
	storetest.Run(t, func(t testing.TB) storetest.Opener {
		tenant := fmt.Sprint("t", tenants.Add(1))
		return func(t testing.TB) store.Backend { return open(t, server.URL(tenant)) }
	})
}
