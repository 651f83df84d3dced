package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// crowd is how many connections a server has to carry that ask nothing.
const crowd = 10_000

// crowdMemory is what one of them may take, in bytes.
const crowdMemory = 48 << 10

// TestCrowd opens thousands of connections that have asked once and stay, and some that never finish asking. Others are
// answered meanwhile, and the memory of each is bounded.
func TestCrowd(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("opens thousands of connections, and measures memory")
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < crowd*3/2 {
		t.Skipf("%d files may be open, want %d (%v)", files.Cur, crowd*3/2, err)
	}
	s := newStopping(t, "--demo", "--listen", "127.0.0.1:0")
	s.listening()
	addr := strings.TrimPrefix(s.base, "http://")
	before := residentOf(t, s.cmd.Process.Pid)
	conns := make([]net.Conn, crowd)
	var openers sync.WaitGroup
	for from := range 50 {
		openers.Go(func() {
			for i := from; i < crowd; i += 50 {
				conns[i] = settle(t, addr)
			}
		})
	}
	openers.Wait()
	defer func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	if t.Failed() {
		return
	}
	each := (residentOf(t, s.cmd.Process.Pid) - before) / crowd
	t.Logf("%d connections at rest take %d bytes of memory each", crowd, each)
	if each > crowdMemory {
		t.Errorf("that is more than %d", crowdMemory)
	}
	for range 200 { // these never end their headers
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, "GET /search?q=a HTTP/1.1\r\nHost: loc"); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		res, err := http.Get(s.base + "/search?q=open+a+merge+proposal")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("a search is answered %d, %v", res.StatusCode, err)
		}
		_ = res.Body.Close()
	}
	for _, i := range []int{0, crowd / 2, crowd - 1} { // they are still served
		if status := healthOver(conns[i]); status != http.StatusOK {
			t.Errorf("connection %d has %d", i, status)
		}
	}
}

// settle opens a connection and asks once.
func settle(t *testing.T, addr string) net.Conn {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return nil
	}
	if status := healthOver(c); status != http.StatusOK {
		t.Errorf("a new connection is answered %d", status)
	}
	return c
}

// healthOver returns the status of an answer, 0 if there is none.
func healthOver(c net.Conn) int {
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return 0
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// residentOf reads how many bytes of memory a process has.
func residentOf(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
