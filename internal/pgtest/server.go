package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TB is the part of [testing.TB] that servers need. A program that is no test can implement it.
type TB interface {
	// Helper marks the function that calls it as a helper of the test.
	Helper()
	// Cleanup has a function called at the end.
	Cleanup(end func())
	// Fatal ends the test as failed, and does not return.
	Fatal(args ...any)
	// Fatalf is Fatal with a format.
	Fatalf(format string, args ...any)
	// Skip ends the test where PostgreSQL is not installed, and does not return.
	Skip(args ...any)
}

var _ TB = testing.TB(nil)

// Options say how servers can be reached. The zero value is for one that answers on its socket alone.
type Options struct {
	Listen string // an address at which it also answers, at the usual port; "" for none
	From   string // the network, as 10.0.0.0/8, from which that address may be used without a password
	// Sync has commits wait for the disk, as they do where data matters. Without it they survive the death of the server,
	// but not the loss of power, and a server that was killed starts without writing each of its files to the disk first.
	Sync bool
}

// Server is a PostgreSQL server of one test. The test that started it may stop and start it.
type Server struct {
	t    TB
	o    Options
	bin  string   // the folder of the programs
	dir  string   // data, socket and log
	as   []string // the command that runs programs as another user; empty to run them as this one
	cmd  *exec.Cmd
	done chan struct{} // closed when the server has ended
}

// newServer returns a server without data, in a folder of its own, that ends with the test.
func newServer(t TB, o Options) *Server {
	t.Helper()
	s := &Server{t: t, o: o, bin: findPrograms(t)}
	var err error
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil { // the path of a socket has at most 107 bytes
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		_ = os.RemoveAll(s.dir) // it is the system's temporary folder
	})
	s.asOtherUser()
	return s
}

// Start makes a database cluster and starts a server on it, which ends with the test. The database tooldex is empty
// but for the schema of that name, which the role tooldex owns: it has no other rights. The test is skipped, with a
// message, where PostgreSQL is not installed.
func Start(t TB) *Server {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith is Start, for a server that can be reached otherwise than on its socket.
func StartWith(t TB, o Options) *Server {
	t.Helper()
	s := newServer(t, o)
	s.run("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if o.From != "" {
		s.permit(o.From)
	}
	s.Restart()
	ctx := context.Background()
	s.exec(ctx, "postgres", `CREATE ROLE tooldex LOGIN`)
	s.exec(ctx, "postgres", `CREATE DATABASE tooldex`)
	s.exec(ctx, "tooldex", `CREATE SCHEMA tooldex AUTHORIZATION tooldex`)
	return s
}

// permit lets all roles connect from a network without a password.
func (s *Server) permit(network string) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.data(), "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, "host all all %s trust\n", network)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// findPrograms returns the folder of the newest PostgreSQL.
func findPrograms(t TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is valid
	if len(found) > 0 {
		return filepath.Dir(slices.Max(found))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	t.Skip("PostgreSQL is not installed (apt-get install postgresql)")
	return ""
}

// asOtherUser has the programs run as the user postgres if this one is root, since they refuse to run as root.
func (s *Server) asOtherUser() {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		return
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		s.t.Skip("PostgreSQL does not run as root, and there is no user postgres: ", err)
	}
	uid, _ := strconv.Atoi(u.Uid) // numbers on all systems but Windows
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(s.dir, uid, gid); err != nil {
		s.t.Fatal(err)
	}
	s.as = []string{"setpriv", "--reuid=" + u.Uid, "--regid=" + u.Gid, "--clear-groups"}
}

// data returns the folder of the cluster.
func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command returns a command that runs one of the programs.
func (s *Server) command(program string, args ...string) *exec.Cmd {
	all := slices.Concat(s.as, []string{filepath.Join(s.bin, program)}, args)
	cmd := exec.CommandContext(context.Background(), all[0], all[1:]...)
	cmd.Dir = s.dir
	return cmd
}

// run runs one of the programs to its end.
func (s *Server) run(program string, args ...string) {
	s.t.Helper()
	if out, err := s.command(program, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// deadline bounds how long a server may take to start.
const deadline = 2 * time.Minute

// Restart starts the server if it does not run, and returns when it answers.
func (s *Server) Restart() {
	s.t.Helper()
	for limit := time.Now().Add(deadline); ; {
		out, err := os.CreateTemp(s.dir, "log")
		if err != nil {
			s.t.Fatal(err)
		}
		s.cmd = s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses="+s.o.Listen,
			"-c", "max_connections=200")
		s.cmd.Stdout, s.cmd.Stderr = out, out
		if err := s.cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		s.done = make(chan struct{})
		go func(cmd *exec.Cmd, done chan struct{}) {
			_ = cmd.Wait() // how it ended is seen by what does not answer
			_ = out.Close()
			close(done)
		}(s.cmd, s.done)
		if s.answers(limit) {
			return
		}
		if time.Now().After(limit) {
			text, _ := os.ReadFile(out.Name())
			s.Kill()
			s.t.Fatalf("PostgreSQL does not start:\n%s", text)
		}
		// After a kill, processes of the old server may hold its memory for a moment: try again.
	}
}

// answers waits until the server answers, and returns false if it ends or limit is reached before.
func (s *Server) answers(limit time.Time) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(limit) {
		if conn, err := pgx.Connect(context.Background(), s.Address("postgres", "postgres")); err == nil {
			_ = conn.Close(context.Background())
			return true
		}
		select {
		case <-s.done:
			return false
		case <-tick.C:
		}
	}
	return false
}

// Kill ends the server at once, with the processes that serve its connections, as a crash of the machine does. It
// returns when it has ended, and does nothing if there is none.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	// Those that serve connections would answer for a moment after the server has gone.
	pid := strconv.Itoa(s.cmd.Process.Pid)
	children, _ := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children")) // elsewhere than on Linux there is none
	_ = s.cmd.Process.Kill()                                                         // it may have ended already
	<-s.done
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			if p, err := os.FindProcess(n); err == nil {
				_ = p.Kill() // it may have ended by itself
			}
		}
	}
	s.cmd = nil
}

// Address returns the address of a database for a role.
func (s *Server) Address(role, database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s&sslmode=disable", role, database, strings.ReplaceAll(s.dir, "/", "%2F"))
}

// URL returns the address of the database tooldex for the role tooldex, as a tenant.
func (s *Server) URL(tenant string) string {
	return s.Address("tooldex", "tooldex") + "&tenant=" + tenant
}

// Exec executes a statement on the database tooldex as a superuser.
func (s *Server) Exec(statement string) {
	s.t.Helper()
	s.exec(context.Background(), "tooldex", statement)
}

func (s *Server) exec(ctx context.Context, database, statement string) {
	s.t.Helper()
	conn, err := pgx.Connect(ctx, s.Address("postgres", database))
	if err == nil {
		_, err = conn.Exec(ctx, statement)
		_ = conn.Close(ctx)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}
