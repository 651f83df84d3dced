package postgres

import (
	"context"
	"testing"
	"time"

	"tooldex/internal/pgtest"
	"tooldex/store"
	"tooldex/store/storetest"
	"tooldex/tool"
)

// waitFor receives from a channel, and fails the test if nothing comes for long.
func waitFor(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		t.Fatalf("nothing came: %s", what)
	}
}

// TestChangesAreTold has one process change something, and another hear of it.
func TestChangesAreTold(t *testing.T) {
	ctx := context.Background()
	server := pgtest.Start(t)
	a, b := open(t, server.URL("t")), open(t, server.URL("t"))
	waitFor(t, "the first look", b.Changed())
	for i := range 5 {
		gen, err := a.Write(ctx, &store.Batch{Records: storetest.Records(i, i+1)})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, "a change", b.Changed())
		if now, err := b.Generation(ctx); err != nil || now != gen {
			t.Errorf("generation %d, %v; want %d", now, err, gen)
		}
	}
	var events int
	var last uint64
	err := b.pool.QueryRow(ctx, `SELECT count(*), max(seq) FROM event WHERE kind = 'generation'`).Scan(&events, &last)
	if gen, _ := a.Generation(ctx); err != nil || events != 5 || last != gen {
		t.Errorf("%d events up to %d, %v; want 5 up to %d", events, last, err, gen)
	}
}

// TestServerIsKilled kills the server and starts it again: what was acknowledged is there, nothing is acknowledged
// meanwhile, and all works again by itself.
func TestServerIsKilled(t *testing.T) {
	ctx := context.Background()
	server := pgtest.Start(t)
	s := open(t, server.URL("t"))
	waitFor(t, "the first look", s.Changed())
	gen, err := s.Write(ctx, &store.Batch{Records: storetest.Records(0, 100)})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the change", s.Changed())
	for round := range 3 {
		server.Kill()
		for _, try := range []func() error{
			func() error { _, err := s.Write(ctx, &store.Batch{Records: storetest.Records(500, 501)}); return err },
			func() error { _, err := s.Generation(ctx); return err },
			func() error { _, err := s.SetPreferences(ctx, "p", 0, nil); return err },
		} {
			if err := try(); tool.CodeOf(err) != tool.Unavailable {
				t.Errorf("while it is away: %v, want Unavailable", err)
			}
		}
		if len(s.Health()) != 1 {
			t.Errorf("health is %q while the server is away", s.Health())
		}
		server.Restart()
		waitFor(t, "the return", s.Changed())
		if now, err := s.Generation(ctx); err != nil || now != gen || len(s.Health()) > 0 {
			t.Fatalf("round %d: generation %d, %v, health %q; want %d", round, now, err, s.Health(), gen)
		}
		snap, err := s.Load(ctx, store.View{})
		if err != nil || len(snap.Records) != 100+round {
			t.Fatalf("round %d: %d records, %v", round, len(snap.Records), err)
		}
		if gen, err = s.Write(ctx, &store.Batch{Records: storetest.Records(100+round, 101+round)}); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "its own change", s.Changed())
	}
}

// TestReadOnlyServer connects to a server that takes no changes, as a standby does not.
func TestReadOnlyServer(t *testing.T) {
	server := pgtest.Start(t)
	open(t, server.URL("t"))
	server.Exec(`ALTER ROLE tooldex SET default_transaction_read_only = on`)
	_, err := Open(context.Background(), server.URL("t"))
	if tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("opened for changes: %v, want Unavailable", err)
	}
}
