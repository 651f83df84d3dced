package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"tooldex/access"
)

// replica is one server with a data directory of its own.
type replica struct {
	c      *cluster
	number int
	base   string

	mu    sync.Mutex
	cmd   *exec.Cmd     // guarded by mu
	ended chan struct{} // closed when cmd has ended
}

// start starts the process, for the first time or again.
func (r *replica) start(ctx context.Context) error {
	listen, reached := r.c.net.listen(r.number)
	r.base = "http://" + reached
	log, err := os.OpenFile(filepath.Join(r.c.dir, fmt.Sprintf("replica%d.log", r.number)),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd := r.c.net.within(r.number, r.c.bin, "serve", "--listen", listen, "--log-level", "info",
		"--config", filepath.Join(r.c.dir, "tooldex.yaml"), "--tokens", filepath.Join(r.c.dir, "tokens.yaml"),
		"--data-dir", filepath.Join(r.c.dir, fmt.Sprint("data", r.number)))
	cmd.Env = append(os.Environ(), "TOOLDEX_STORE="+r.c.net.store(r.number, tenantNames[0]),
		"TOOLDEX_TOKEN="+access.NewSecret())
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed at last
		close(ended)
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cmd, r.ended = cmd, ended
	return nil
}

// ready waits until the replica answers that it is ready, without a warning. It starts a process that has ended, as a
// supervisor would.
func (r *replica) ready(ctx context.Context) error {
	last := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		status, body, err := fetch(ctx, http.MethodGet, r.base+"/readyz", "", nil)
		if err == nil && status == http.StatusOK && !bytes.Contains(body, []byte("warnings")) {
			return nil
		}
		last = fmt.Sprintf("%d %s %v", status, body, err)
		select {
		case <-r.ended:
			if err := r.start(ctx); err != nil {
				return err
			}
		default:
		}
		if !pause(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("replica %d is not ready: %s", r.number, last)
}

// warm has the replica open every tenant. A tenant that it never opened could not be opened without the database.
func (r *replica) warm(ctx context.Context) error {
	for _, h := range r.c.people {
		status, body, err := fetch(ctx, http.MethodGet, r.base+"/search?q=invoice", h.token, nil)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("a first search of %s: %d %.300s %w", h.tenant, status, body, err)
		}
	}
	return nil
}

// kill ends the process with kill -9, and returns when it has ended.
func (r *replica) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd != nil {
		_ = r.cmd.Process.Kill() // it may have ended
		<-r.ended
	}
}
