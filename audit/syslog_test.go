//go:build !windows && !plan9

package audit

import (
	"bytes"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"tooldex/tool"
)

// syslogSocket listens where a syslog daemon would, and returns the anchors that come. Its end is that of the daemon.
func syslogSocket(t *testing.T, path string) (anchors <-chan Anchor, end func()) {
	t.Helper()
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^<85>\S+ +\S+ \S+ tooldex\[\d+\]: audit anchor (\d+:[0-9a-f]{64}) of ".*audit"\n$`)
	out := make(chan Anchor, 100)
	go func() {
		defer close(out)
		b := make([]byte, 2000)
		for {
			n, err := l.Read(b)
			if err != nil {
				return
			}
			m := form.FindSubmatch(b[:n])
			if m == nil {
				t.Errorf("syslog is sent %q", b[:n])
				continue
			}
			a, err := ParseAnchor(string(m[1]))
			if err != nil {
				t.Error(err)
			}
			out <- a
		}
	}()
	end = sync.OnceFunc(func() { _ = l.Close(); _ = os.Remove(path) })
	t.Cleanup(end)
	return out, end
}

// lockedLog is a log that a test reads while it is written.
type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// TestSyslogAnchor has anchors sent to a real socket, takes the daemon away and brings it back: records are written
// meanwhile without delay, the newest anchor arrives afterwards, and with it a removed end shows.
func TestSyslogAnchor(t *testing.T) {
	short, err := os.MkdirTemp("", "syslog") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	socket, dir := filepath.Join(short, "log"), filepath.Join(t.TempDir(), "audit")
	anchors, end := syslogSocket(t, socket)
	var said lockedLog
	l := New(Options{Dir: dir, Syslog: "unix://" + socket, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	record := func() {
		t.Helper()
		if err := l.writeRecord(&Record{Kind: Change, Action: "add server", Subject: "probe"}); err != nil {
			t.Fatal(err)
		}
	}
	arrives := func(seq uint64) Anchor {
		t.Helper()
		late := time.After(20 * time.Second)
		for {
			select {
			case a := <-anchors:
				if a.Seq == seq {
					return a
				}
			case <-late:
				t.Fatalf("the anchor of record %d does not come", seq)
			}
		}
	}
	record()
	arrives(1)
	for range 500 {
		record()
	}
	early, err := os.ReadFile(filepath.Join(dir, fileName(1)))
	if err != nil {
		t.Fatal(err)
	}
	arrives(501)

	end() // the daemon is gone
	begin := time.Now()
	for range 500 {
		record()
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("without syslog 500 records took %v", took)
	}
	for tick := time.Tick(5 * time.Millisecond); said.count("cannot be sent to syslog") == 0; {
		<-tick
	}
	anchors, _ = syslogSocket(t, socket) // and back
	last := arrives(1001)
	for tick := time.Tick(5 * time.Millisecond); said.count("is sent to syslog again") == 0; {
		<-tick
	}
	if n := said.count("cannot be sent"); n != 1 {
		t.Errorf("its absence is logged %d times", n)
	}
	record()
	if err := l.Close(); err != nil { // which sends the last one
		t.Fatal(err)
	}
	final := arrives(1002)
	for name, a := range map[string]Anchor{"middle": last, "last": final} {
		if r, err := Verify(t.Context(), dir, a); err != nil || !r.OK() {
			t.Errorf("the whole log by the %s anchor: %+v, %v", name, r, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, fileName(1)), early, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, headName)); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(t.Context(), dir, last); err != nil || r.OK() {
		t.Errorf("a removed end does not show: %+v, %v", r, err)
	}
}

// TestSyslogThatHangs has a daemon that takes nothing: neither records nor the end wait for it.
func TestSyslogThatHangs(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and reads nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for name, address := range map[string]string{"nobody": "unix:///nonexistent/log", "silent": "tcp://" + silent.Addr().String()} {
		l := New(Options{Dir: filepath.Join(t.TempDir(), "audit"), Syslog: address})
		begin := time.Now()
		for range 100 {
			if err := l.writeRecord(&Record{Kind: Change, Action: "x", Subject: "y"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil || time.Since(begin) > 5*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(begin))
		}
		if err := l.Close(); err != nil {
			t.Errorf("%s: a second Close: %v", name, err)
		}
	}
}

func TestCheckSyslog(t *testing.T) {
	for address, good := range map[string]bool{
		"": true, "local": true, "udp://logs.example:514": true, "tcp://[::1]:601": true, "unix:///dev/log": true,
		"here": false, "udp://logs.example": false, "https://logs.example:1": false, "unix://dev/log": false, "tcp://h:1/x": false,
		"%": false,
	} {
		if err := CheckSyslog(address); (err == nil) != good || err != nil && tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%q: %v", address, err)
		}
	}
}
