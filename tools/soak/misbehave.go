package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// misbehave has clients and servers do what they should not.
func (l *load) misbehave(ctx context.Context, repeat func(time.Duration, string, func(context.Context) error)) {
	repeat(3*time.Second, "storm of changes", func(ctx context.Context) error {
		return l.call(ctx, stormy, "stir_up", 200, "stirred")
	})
	repeat(7*time.Second, "kill of a server", l.killMortal)
	repeat(11*time.Second, "server that ends in mid-call", func(ctx context.Context) error {
		err := l.call(ctx, mortal, "fall_over", 0, "")
		var answered *refusal
		if errors.As(err, &answered) && answered.status == http.StatusServiceUnavailable {
			return nil
		}
		return fmt.Errorf("it is answered %w", err)
	})
	repeat(time.Second, "client that leaves in mid-call", func(ctx context.Context) error {
		leaves, leave := context.WithTimeout(ctx, 200*time.Millisecond)
		defer leave()
		if err := l.call(leaves, steady, "take_nap", 5000, "awake"); err == nil {
			return errors.New("it is answered before its time")
		}
		return nil
	})
	repeat(10*time.Second, "client that does not read an answer", func(ctx context.Context) error {
		body := `{"arguments":{"n":8000000}}`
		return l.stall(ctx, fmt.Sprintf("POST /api/tools/%s/fill_page/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", steady, len(body), body))
	})
	repeat(5*time.Second, "client that does not read a stream", func(ctx context.Context) error {
		id, err := l.begin(ctx)
		if err != nil {
			return err
		}
		return l.stall(ctx, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+id+"\r\n\r\n")
	})
	repeat(2*time.Second, "client that sends half a header", func(ctx context.Context) error {
		return l.stall(ctx, "GET /search?q=a HTTP/1.1\r\nHost: loc")
	})
	repeat(2*time.Second, "client that sends half a body", func(ctx context.Context) error {
		return l.stall(ctx, "POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
	})
	repeat(3*time.Second, "JSON that is a bomb", func(ctx context.Context) error {
		return errors.Join(l.bomb(ctx, strings.Repeat("[", 100_000)), l.bomb(ctx,
			`{"query":[`+strings.Repeat("0,", 400_000)+`0]}`))
	})
}

// stall sends something and reads nothing, for as long as no honest client would wait. It returns at once.
func (l *load) stall(ctx context.Context, text string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(l.base, "http://"))
	if err != nil {
		return err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096) // so that little is taken without being read
	}
	if _, err := io.WriteString(c, text); err != nil {
		return errors.Join(err, c.Close())
	}
	closing, cancel := context.WithTimeout(ctx, 40*time.Second)
	context.AfterFunc(closing, func() {
		cancel()
		_ = c.Close()
	})
	return nil
}

func (l *load) bomb(ctx context.Context, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+"/search", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := l.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusBadRequest {
		return fmt.Errorf("a bomb is answered %d: %w", res.StatusCode, err)
	}
	return nil
}

// killMortal kills a server that the command has started, if it runs.
func (l *load) killMortal(context.Context) error {
	for _, pid := range children(l.cmd.Process.Pid) {
		if play(pid) != mortal {
			continue
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			return err
		}
		if err := p.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	return nil
}
