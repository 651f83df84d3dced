package service

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/config"
	"tooldex/gateway"
	"tooldex/upstream"
)

// importsAtOnce bounds the servers that are asked at the same time. The gateway starts fewer programs at once.
const importsAtOnce = 32

// lookInterval is how often the states of servers are looked at while they are imported.
const lookInterval = time.Second

// ImportServers asks live servers for their tools, several at a time, and stores what each offers as soon as it has
// answered. It calls done for each that is not disabled, concurrently, with what was stored or why nothing was, and
// reports progress, which names what is being installed. The servers need not be configured. It returns when all are
// done; its own error is that of closing the gateway.
func (s *Service) ImportServers(ctx context.Context, servers []upstream.Server, progress Progress,
	done func(catalog.Report, error),
) error {
	x := s.NewServerImport(servers)
	x.Run(ctx, nil, progress, done)
	return x.Close()
}

// ServerImport is an import of live servers in two steps: Try starts them and changes nothing, Run stores their tools.
// Servers that Try has started stay connected for Run. Close it after use.
type ServerImport struct {
	s       *Service
	servers []upstream.Server
	gw      *gateway.Gateway
}

// NewServerImport returns the import of these servers, which starts none yet. They need not be configured.
func (s *Service) NewServerImport(servers []upstream.Server) *ServerImport {
	gw := s.NewGateway(gateway.Options{})
	gw.Set(MergeServers(slices.Clone(servers), nil))
	return &ServerImport{s, slices.Clone(servers), gw}
}

// Close stops the servers.
func (x *ServerImport) Close() error { return x.gw.Close() }

// CheckVariables returns why servers could not even be started here: their variables that are not set. Disabled servers
// are left out.
func (x *ServerImport) CheckVariables() map[string]error {
	failed := map[string]error{}
	for _, server := range x.servers {
		if server.Disabled {
			continue
		}
		if err := gateway.CheckVariables(server, config.LookupEnv); err != nil {
			failed[server.Name] = err
		}
	}
	return failed
}

// Try starts the servers that are not disabled, lists their tools, and returns why it failed, by name. It stores
// nothing.
func (x *ServerImport) Try(ctx context.Context, progress Progress) map[string]error {
	failed, mu := map[string]error{}, sync.Mutex{}
	x.each(ctx, nil, progress, func(up *gateway.Upstream) {
		if _, err := up.Tools(ctx); err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed[up.Name()] = err
		}
	})
	return failed
}

// Run stores the tools of the servers, without those in skip, as ImportServers does.
func (x *ServerImport) Run(ctx context.Context, skip map[string]error, progress Progress,
	done func(catalog.Report, error),
) {
	x.each(ctx, skip, progress, func(up *gateway.Upstream) { done(x.s.Catalog.Sync(ctx, up)) })
}

// each calls do for each server that is neither disabled nor in skip, several at a time, and reports progress.
func (x *ServerImport) each(ctx context.Context, skip map[string]error, progress Progress, do func(*gateway.Upstream)) {
	slots := make(chan struct{}, importsAtOnce)
	var imports sync.WaitGroup
	var finished atomic.Int64
	ended := make(chan struct{})
	go func() {
		for ticker := time.NewTicker(lookInterval); ; {
			select {
			case <-ticker.C:
				progress(importStage(x.gw.Status()), int(finished.Load()), len(x.servers))
			case <-ended:
				ticker.Stop()
				return
			}
		}
	}()
	defer close(ended)
	for _, server := range x.servers {
		up, ok := x.gw.Upstream(server.Name)
		if !ok || skip[server.Name] != nil { // disabled, or not wanted
			continue
		}
		imports.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			do(up)
			finished.Add(1)
		})
	}
	imports.Wait()
}

// A step of an import of files ends with the file that reaches one of these. Few steps are fast, but lose more when the
// program is stopped, and need more memory.
const (
	stepBytes = 2 << 20 // two steps are in memory: one is stored, the next is read
	stepFiles = 1000
)

// ImportFiles imports the content of files, folders and archives, as sources.OpenFiles lists them: tools, then
// overlays, which may change these tools. It returns the servers that the files name, whose tools it does not ask for.
// It calls done with what was stored of one or several files, or why nothing was, one call at a time; a file that
// cannot be read does not stop the others.
func (s *Service) ImportFiles(ctx context.Context, paths []string, done func(error, ...catalog.Report)) []upstream.Server {
	files, err := sources.OpenFiles(paths)
	if err != nil {
		done(err)
		return nil
	}
	defer func() { _ = files.Close() }() // they are only read from
	files.Known = s.Catalog.KnownDigest
	var one sync.Mutex // done is called for files that cannot be read while what others hold is stored
	calm := func(err error, reports ...catalog.Report) {
		one.Lock()
		defer one.Unlock()
		done(err, reports...)
	}
	r := &fileReader{files: files, failed: func(err error) { calm(err) }, progress: s.o.Progress}
	r.servers = map[string]upstream.Server{}
	err = s.Catalog.Import(ctx, r.steps(), func(reports []catalog.Report, err error) { calm(err, reports...) })
	if err != nil {
		done(err)
	}
	for _, o := range r.overlays {
		report, err := s.Catalog.ApplyOverlay(ctx, o)
		done(err, report)
	}
	return slices.SortedFunc(maps.Values(r.servers), func(a, b upstream.Server) int { return cmp.Compare(a.Name, b.Name) })
}

// fileReader reads files step by step, and collects what they hold beside tools.
type fileReader struct {
	files    *sources.Files
	failed   func(error)
	progress Progress
	overlays []*sources.Overlay
	servers  map[string]upstream.Server // by name; the last of a name counts
}

// steps returns the sources of the files, as many at a time as an import is to store in one step.
func (r *fileReader) steps() iter.Seq[[]sources.Source] {
	return func(yield func([]sources.Source) bool) {
		for read, batch := range r.files.Batches(stepBytes, stepFiles) {
			var step []sources.Source
			for _, file := range batch {
				if file.Err != nil {
					r.failed(file.Err)
					continue
				}
				if file.Overlay != nil {
					r.overlays = append(r.overlays, file.Overlay)
				}
				for _, one := range file.Servers {
					r.servers[one.Name] = one
				}
				step = append(step, file.Sources...)
			}
			if len(step) > 0 && !yield(step) {
				return
			}
			r.progress("importing files", read, r.files.Len())
		}
	}
}

// importStage says what is going on: which servers are being installed, if any are.
func importStage(states []upstream.Status) string {
	var names []string
	for _, st := range states {
		if st.State == upstream.Installing {
			names = append(names, st.Server)
		}
	}
	if len(names) == 0 {
		return "asking servers"
	}
	return "asking servers, installing " + strings.Join(names, ", ")
}
