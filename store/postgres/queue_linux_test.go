package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"tooldex/internal/pgtest"
	"tooldex/store"
	"tooldex/tool"
)

// envQueue has the address at which this program is to wait for its turn, and to keep it until it is killed.
const envQueue = "TOOLDEX_TEST_QUEUE"

func TestMain(m *testing.M) {
	if address := os.Getenv(envQueue); address != "" {
		s, err := Open(context.Background(), address)
		if err != nil {
			panic(err)
		}
		_, _ = s.Queue(context.Background())
		fmt.Println("mine")
		select {}
	}
	os.Exit(m.Run())
}

// startHolder starts a process that has the turn at an address, and returns it when it has.
func startHolder(t *testing.T, address string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envQueue+"="+address)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "mine\n" {
		t.Fatalf("the process that takes the turn says %q, %v", line, err)
	}
	return cmd
}

// overlay returns a batch that was decided on the present generation.
func overlay(t *testing.T, s *Store, name string) *store.Batch {
	t.Helper()
	gen, err := s.Generation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &store.Batch{Base: gen, Overlays: map[string][]byte{name: nil}}
}

// TestHolderVanishes kills and stops processes that have the turn. Before that, a change without a turn is refused, but
// no read, and no change of another tenant. Afterwards, a process that waits gets the turn.
func TestHolderVanishes(t *testing.T) {
	server := pgtest.Start(t)
	s, other := open(t, server.URL("t")), open(t, server.URL("other"))
	for _, how := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		holder := startHolder(t, server.URL("t"))
		if _, err := s.Write(t.Context(), overlay(t, s, "a")); !errors.Is(err, store.ErrChanged) {
			t.Errorf("a change in the turn of another: %v, want ErrChanged", err)
		}
		if _, err := s.Load(t.Context(), store.View{}); err != nil {
			t.Error(err)
		}
		if _, err := other.Write(t.Context(), overlay(t, other, "a")); err != nil {
			t.Errorf("another tenant: %v", err)
		}
		if err := holder.Process.Signal(how); err != nil {
			t.Fatal(err)
		}
		queued, leave := s.Queue(t.Context())
		if queued.Value(turnOf{s}).(*turn).conn == nil {
			t.Errorf("%v: no turn within %v", how, mostQueued)
		}
		if _, err := s.Write(queued, overlay(t, s, "a")); err != nil {
			t.Errorf("%v: the change in its turn: %v", how, err)
		}
		leave()
	}
}

// TestTurnIsLost has the server end the session of a turn. Another takes its turn meanwhile, and Queue takes it again.
func TestTurnIsLost(t *testing.T) {
	server := pgtest.Start(t)
	a, b := open(t, server.URL("t")), open(t, server.URL("t"))
	first, leaveFirst := a.Queue(t.Context())
	for _, pid := range lockHolders(t, b) {
		if _, err := b.pool.Exec(t.Context(), `SELECT pg_terminate_backend($1::int)`, int32(pid)); err != nil {
			t.Fatal(err)
		}
	}
	second, leaveSecond := b.Queue(t.Context())
	late := overlay(t, a, "a")
	if _, err := b.Write(second, overlay(t, b, "b")); err != nil {
		t.Errorf("the turn that followed: %v", err)
	}
	if _, err := a.Write(first, late); !errors.Is(err, store.ErrChanged) {
		t.Errorf("the turn that was lost: %v, want ErrChanged", err)
	}
	leaveSecond()
	again, nothing := a.Queue(first)
	if _, err := a.Write(again, overlay(t, a, "a")); err != nil {
		t.Error(err)
	}
	nothing()
	if n := len(lockHolders(t, b)); n != 1 {
		t.Errorf("%d sessions hold locks, want that of the turn", n)
	}
	leaveFirst()
	if n := len(lockHolders(t, b)); n != 0 {
		t.Errorf("%d sessions hold locks after all turns", n)
	}
}

// TestQueueGivesUp has callers whose time ends while another has the turn, and one whose address permits one connection
// only. They go on without a turn, and nothing stays locked.
func TestQueueGivesUp(t *testing.T) {
	server := pgtest.Start(t)
	a, b := open(t, server.URL("t")), open(t, server.URL("t"))
	_, leave := a.Queue(t.Context())
	for _, s := range []*Store{a, b} { // the same process, and another
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		queued, give := s.Queue(short)
		if _, err := s.Write(queued, overlay(t, s, "a")); tool.CodeOf(err) != tool.Timeout {
			t.Errorf("a change whose time has ended: %v, want Timeout", err)
		}
		give()
		cancel()
	}
	leave()
	single := open(t, server.URL("t")+"&pool_max_conns=1")
	queued, give := single.Queue(t.Context())
	if _, err := single.Write(queued, overlay(t, single, "a")); err != nil {
		t.Errorf("with one connection: %v", err)
	}
	give()
	soon(t, "no locks", func() bool { return len(lockHolders(t, b)) == 0 })
}
