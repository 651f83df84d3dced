package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// stoppingProxy passes bytes on. While it is stopped, it accepts connections and bytes and keeps them.
type stoppingProxy struct {
	address, to string

	mu      sync.Mutex
	resumed *sync.Cond // stopped has become false
	stopped bool       // guarded by mu
}

func (p *stoppingProxy) stop(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = yes
	p.resumed.Broadcast()
}

// await returns when the proxy is not stopped.
func (p *stoppingProxy) await() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.stopped {
		p.resumed.Wait()
	}
}

func (p *stoppingProxy) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go p.pass(conn)
	}
}

func (p *stoppingProxy) pass(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	p.await()
	to, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.to)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	go p.transfer(to, conn)
	p.transfer(conn, to)
}

// transfer copies what one side sends until it ends, and then ends the other.
func (p *stoppingProxy) transfer(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	for b := make([]byte, 32<<10); ; {
		n, err := from.Read(b)
		p.await()
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return
		}
	}
}
