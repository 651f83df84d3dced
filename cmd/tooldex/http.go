package main

import (
	"context"
	"tooldex/gateway"
	"tooldex/mcpsrv"
)

func (a *app) serveHTTP(ctx context.Context, addr string, s *stack, gw *gateway.Gateway, srv *mcpsrv.Server) error {
	return nil
}
