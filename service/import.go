package service

import (
	"context"
	"slices"
	"sync"

	"tooldex/catalog"
	"tooldex/gateway"
	"tooldex/upstream"
)

// importsAtOnce bounds the servers that are asked at the same time. Starting them is mostly waiting, so it does not
// depend on the number of processors.
const importsAtOnce = 8

// ImportServers asks live servers for their tools, several at a time, and stores what each offers as soon as it has
// answered. It calls done for each that is not disabled, concurrently, with what was stored or why nothing was. The
// servers need not be configured. It returns when all are done; its own error is that of closing the gateway.
func (s *Service) ImportServers(ctx context.Context, servers []upstream.Server, done func(catalog.Report, error)) error {
	gw := s.NewGateway(gateway.Options{})
	gw.Set(MergeServers(slices.Clone(servers), nil))
	slots := make(chan struct{}, importsAtOnce)
	var imports sync.WaitGroup
	for _, server := range servers {
		up, ok := gw.Upstream(server.Name)
		if !ok { // disabled
			continue
		}
		imports.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			done(s.Catalog.Sync(ctx, up))
		})
	}
	imports.Wait()
	return gw.Close()
}
