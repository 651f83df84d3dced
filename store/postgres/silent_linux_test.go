package postgres

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"tooldex/internal/pgtest"
	"tooldex/store"
	"tooldex/store/storetest"
	"tooldex/tool"
)

// TestVanishedInChange cuts a process off in the middle of a change that has locked the tenant. The server ends its
// session and undoes its change, so that another process can soon change something.
func TestVanishedInChange(t *testing.T) {
	// All of 127.0.0.0/8 is this machine: other tests have other addresses.
	own := fmt.Sprintf("127.83.%d.%d", os.Getpid()>>8&255, os.Getpid()&255)
	database := pgtest.StartWith(t, pgtest.Options{Listen: own, From: "127.0.0.0/8"})
	cut := make(chan struct{})
	address := cutProxy(t, own+":5432", cut)
	vanishes := open(t, "postgres://tooldex@"+address+"/tooldex?sslmode=disable&tenant=t")
	other := open(t, database.URL("t"))
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	locked := make(chan struct{})
	ended.Go(func() {
		_, _, err := vanishes.change(ctx, ofCatalogue, func(ctx context.Context, tx pgx.Tx, _ head, _ uint64) error {
			if _, err := tx.Exec(ctx, `INSERT INTO overlay (name, body) VALUES ('half', '')`); err != nil {
				t.Error(err)
			}
			close(cut)
			close(locked)
			<-ctx.Done()
			return ctx.Err()
		})
		if tool.CodeOf(err) != tool.Timeout {
			t.Errorf("the change that was cut off: %v", err)
		}
	})
	<-locked
	soon, stop := context.WithTimeout(t.Context(), 4*mostSilence)
	defer stop()
	if _, err := other.Write(soon, &store.Batch{Records: storetest.Records(0, 1)}); err != nil {
		t.Errorf("a change of another process: %v", err)
	}
	cancel()
	ended.Wait()
	snap, err := other.Load(t.Context(), store.View{})
	if err != nil || len(snap.Overlays) != 0 || len(snap.Records) != 1 {
		t.Errorf("stored are %d overlays and %d tools, %v", len(snap.Overlays), len(snap.Records), err)
	}
}

// cutProxy passes bytes on to an address, and back, until cut is closed. Then it reads on and drops what it reads.
func cutProxy(t *testing.T, to string, cut <-chan struct{}) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(func() {
		_ = l.Close()
		end()
		all.Wait()
	})
	pass := func(to, from net.Conn) {
		defer context.AfterFunc(ctx, func() { _ = from.Close() })()
		for b := make([]byte, 1<<16); ; {
			n, err := from.Read(b)
			select {
			case <-cut:
				_, _ = io.Copy(io.Discard, from) // until the test ends
				return
			default:
			}
			if n > 0 {
				_, err = to.Write(b[:n])
			}
			if err != nil {
				_ = to.Close() // the other side notices the end
				return
			}
		}
	}
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				_ = conn.Close()
				continue
			}
			all.Go(func() { pass(server, conn) })
			all.Go(func() { pass(conn, server) })
		}
	})
	return l.Addr().String()
}
