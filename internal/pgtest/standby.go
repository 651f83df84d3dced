package pgtest

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Standby makes a copy of a running server with pg_basebackup, and starts it as a standby that ends with the test. It
// returns when the server waits for the standby with every commit.
func (s *Server) Standby() *Server {
	s.t.Helper()
	return s.StandbyWith(Options{})
}

// StandbyWith is Standby, for one that can be reached otherwise than on its socket once it is promoted.
func (s *Server) StandbyWith(o Options) *Server {
	s.t.Helper()
	out := newServer(s.t, o)
	s.fill(out)
	return out
}

// Rejoin kills a server if it runs, and makes it a standby of s, as Standby does. It loses its data and keeps its
// address.
func (s *Server) Rejoin(old *Server) {
	s.t.Helper()
	old.Kill()
	if err := os.RemoveAll(old.data()); err != nil {
		s.t.Fatal(err)
	}
	s.fill(old)
}

// fill copies s to a server without data, starts that server as a standby, and returns when commits wait for it.
func (s *Server) fill(out *Server) {
	s.t.Helper()
	out.run("pg_basebackup", "-h", s.dir, "-U", "postgres", "-D", out.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	out.Restart()
	s.Exec(`ALTER SYSTEM SET synchronous_standby_names = '*'`) // after the copy, which must not wait for another
	s.Exec(`SELECT pg_reload_conf()`)
	s.waitFor(`SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')`)
}

// Promote makes a standby a server that takes changes, and returns when it does.
func (s *Server) Promote() {
	s.t.Helper()
	s.run("pg_ctl", "promote", "-D", s.data(), "-w") // a session of the standby could be cancelled by what it replays
}

// BothURL is the address of two servers, of which the one that takes changes is used.
func (s *Server) BothURL(other *Server, tenant string) string {
	escape := strings.NewReplacer("/", "%2F").Replace
	return "postgres://tooldex@/tooldex?host=" + escape(s.dir) + "," + escape(other.dir) +
		"&sslmode=disable&target_session_attrs=read-write&tenant=" + tenant
}

// waitFor returns when a query answers true.
func (s *Server) waitFor(query string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.Address("postgres", "tooldex"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // it was only read from
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for yes := false; !yes; <-tick.C {
		if err := conn.QueryRow(ctx, query).Scan(&yes); err != nil {
			s.t.Fatalf("%s: %v", query, err)
		}
	}
}
