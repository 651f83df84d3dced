package main

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/gateway"
	"tooldex/tool"
)

// gateway connects to the configured servers, each when it is first needed.
func (a *app) gateway(s *stack) (*gateway.Gateway, error) { return a.gatewayWith(s, gateway.Options{}) }

// gatewayWith is gateway for a caller that wants to hear of changes. What else o leaves open is filled in.
func (a *app) gatewayWith(s *stack, o gateway.Options) (*gateway.Gateway, error) {
	servers, err := a.servers(s)
	if err != nil {
		return nil, err
	}
	if _, err := a.allowed(); err != nil {
		return nil, err
	}
	o.Logger, o.Version, o.AllowPrivate = a.log, version, list(a.getenv("TOOLDEX_ALLOW_PRIVATE"))
	known := &counts{}
	o.Known = func(server string) int { return known.get(s.catalog.Set(), server) }
	if !s.demo {
		o.Dir = a.upstreamDir()
	}
	gw := gateway.New(o)
	gw.Set(servers)
	s.running.gw.Store(gw)
	return gw, nil
}

// upstreamDir is where it is kept what servers offer beside tools, the tokens of logins, and how servers are.
func (a *app) upstreamDir() string { return filepath.Join(a.dataDir, "upstreams") }

// running tells a search how the servers are, from when there is a gateway to them.
type running struct {
	gw atomic.Pointer[gateway.Gateway]
}

func (r *running) Status() []tool.Status {
	if gw := r.gw.Load(); gw != nil {
		return gw.Status()
	}
	return nil
}

// counts tells how many tools there are of a server. It counts once for each state of the catalogue: searches ask
// often.
type counts struct {
	mu    sync.Mutex
	of    *tool.Set
	tools map[string]int
}

func (c *counts) get(set *tool.Set, server string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != set {
		c.of, c.tools = set, map[string]int{}
		for _, t := range set.All() {
			c.tools[t.Server]++
		}
	}
	return c.tools[server]
}

// withTimeout bounds ctx, unless d is zero.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
