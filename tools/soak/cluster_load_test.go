package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// TestCountAttempts asks a server that closes a connection when it has read the second request on it. The client sends
// that request again without an error, and both attempts are counted.
func TestCountAttempts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			if _, err := http.ReadRequest(in); err == nil {
				fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				_, _ = http.ReadRequest(in) // its end is all the same
			}
			_ = conn.Close()
		}
	}()
	for want := int64(1); want <= 2; want++ {
		var n atomic.Int64
		status, body, err := fetch(countAttempts(t.Context(), &n), http.MethodGet, "http://"+l.Addr().String(), "", nil)
		if err != nil || status != http.StatusOK || string(body) != "ok" || n.Load() != want {
			t.Errorf("%d attempts, want %d: %d %q %v", n.Load(), want, status, body, err)
		}
	}
}
