package main

import (
	"context"
	"time"

	"tooldex/gateway"
)

// gateway connects to the configured servers, each when it is first needed.
func (a *app) gateway(s *stack) (*gateway.Gateway, error) { return a.gatewayWith(s, nil) }

func (a *app) gatewayWith(s *stack, announced func(server string)) (*gateway.Gateway, error) {
	servers, err := a.servers(s)
	if err != nil {
		return nil, err
	}
	gw := gateway.New(gateway.Options{Logger: a.log, Version: version, OnListChanged: announced})
	gw.Set(servers)
	return gw, nil
}

// withTimeout bounds ctx, unless d is zero.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
