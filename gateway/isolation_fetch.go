package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// Beside the home of an isolated server stand the mark that its package was fetched and served, and a lock.
const (
	fetchedSuffix = ".fetched"
	lockSuffix    = ".lock"
)

// isolateServer has x run in bubblewrap. A server that a package runner starts and that may not use the network has its
// package fetched first, until it has started once. The caller calls the returned function when the start has ended.
func (d *dialer) isolateServer(ctx context.Context, x *expandedServer) (ended func(started bool), err error) {
	i := x.isolation
	i.home, i.dropped, i.dir = isolatedHome(d.opts.Dir, d.cfg.Name), !x.runner, x.dir
	if x.dir != "" && !i.sees(x.dir) {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "start server",
			Msg:  fmt.Sprintf("server %q: its isolate does not name its cwd, %s", d.cfg.Name, x.dir),
			Hint: "add the folder to read or write, or leave cwd out",
		}
	}
	if err := i.makeHome(); err != nil {
		return nil, homeError(d.cfg.Name, err)
	}
	ended = func(bool) {}
	if x.runner && !i.network && i.home != "" {
		if ended, err = d.fetchOnce(ctx, x); err != nil {
			return nil, err
		}
	}
	if err := x.isolate(i, d.cfg.Name); err != nil {
		ended(false)
		return nil, err
	}
	return ended, nil
}

// homeError reports that the home of an isolated server cannot be used.
func homeError(server string, err error) error {
	return &tool.Error{
		Code: tool.Internal, Op: "start server", Msg: fmt.Sprintf("the folder of the isolated server %q cannot be written", server),
		Hint: "check that the data directory can be written", Err: err,
	}
}

// fetchOnce fetches the package of a server unless a start of the same command succeeded before. Other processes that
// start the server wait until ended is called, which remembers a success.
func (d *dialer) fetchOnce(ctx context.Context, x *expandedServer) (ended func(started bool), err error) {
	home := x.isolation.home
	unlock, err := lockFile(ctx, home+lockSuffix)
	if err != nil {
		return nil, homeError(d.cfg.Name, err)
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{d.cfg.Command}, d.cfg.Args...), "\x00")))
	want := hex.EncodeToString(sum[:])
	if have, err := os.ReadFile(home + fetchedSuffix); err == nil && string(have) == want {
		unlock()
		return func(bool) {}, nil
	}
	if err := d.fetchPackage(ctx, x); err != nil {
		unlock()
		return nil, err
	}
	return func(started bool) {
		defer unlock()
		if !started {
			return
		}
		if err := replaceFile(home+fetchedSuffix, []byte(want)); err != nil {
			d.logger.Warn("that a package was fetched cannot be kept", "error", err)
		}
	}, nil
}

// fetchPackage runs the command of a server with the network, until the package runner has installed it. The server
// then sees none of its folders, no variables but those that reach a registry, and an empty home: what it saw in an
// earlier run without the network cannot leave by this one.
func (d *dialer) fetchPackage(ctx context.Context, x *expandedServer) error {
	i := &isolation{network: true, memory: x.isolation.memory, home: x.isolation.home}
	if err := errors.Join(os.RemoveAll(i.home), i.makeHome()); err != nil {
		return homeError(d.cfg.Name, err)
	}
	y := &expandedServer{command: x.command, args: x.args, env: map[string]string{}, redact: x.redact, runner: true}
	for name, value := range x.env {
		switch {
		case isInherited(name), name == "SSL_CERT_FILE", name == "SSL_CERT_DIR", name == "NODE_EXTRA_CA_CERTS":
			y.env[name] = value
		}
	}
	if err := y.isolate(i, d.cfg.Name); err != nil {
		return err
	}
	d.record.addLine(upstream.FromGateway, "its package is fetched, with the network and without its folders")
	p, err := startProcess(y, childEnvironment(y, d.opts), d.logger, d.record)
	if err != nil {
		return &tool.Error{
			Code: tool.Unavailable, Op: "start server", Err: err,
			Msg: fmt.Sprintf("the package of server %q cannot be fetched", d.cfg.Name),
		}
	}
	d.process.Store(p)
	_ = p.stdin.Close() // a server that runs already ends then
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, p.stdout)
	}()
	err = awaitInstallation(ctx, p)
	p.stopProcess(func() time.Duration { return unused }, true)
	_ = p.stdout.Close()
	<-drained
	if err != nil {
		return &tool.Error{
			Code: tool.Timeout, Op: "start server", Err: err,
			Msg:  fmt.Sprintf("the package of server %q was not fetched in time", d.cfg.Name),
			Hint: "check that the registry can be reached, and that env names the variables of a proxy; or allow more time by startTimeout",
		}
	}
	d.record.addLine(upstream.FromGateway, "the fetch of its package has ended; it is started without the network")
	return nil
}

// awaitInstallation returns when a package runner has ended, or has started the server; or with the reason why ctx
// ended.
func awaitInstallation(ctx context.Context, p *process) error {
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-p.exited:
			return nil
		case <-t.C:
			if !p.installs() {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
