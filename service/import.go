package service

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/catalog"
	"tooldex/catalog/sources"
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
	gw := s.NewGateway(gateway.Options{})
	gw.Set(MergeServers(slices.Clone(servers), nil))
	slots := make(chan struct{}, importsAtOnce)
	var imports sync.WaitGroup
	var finished atomic.Int64
	ended := make(chan struct{})
	go func() {
		for ticker := time.NewTicker(lookInterval); ; {
			select {
			case <-ticker.C:
				progress(importStage(gw.Status()), int(finished.Load()), len(servers))
			case <-ended:
				ticker.Stop()
				return
			}
		}
	}()
	defer close(ended)
	for _, server := range servers {
		up, ok := gw.Upstream(server.Name)
		if !ok { // disabled
			continue
		}
		imports.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			report, err := s.Catalog.Sync(ctx, up)
			finished.Add(1)
			done(report, err)
		})
	}
	imports.Wait()
	s.InspectFeatures(ctx, gw.Features())
	return gw.Close()
}

// A step of an import of files ends with the file that reaches one of these. Few steps are fast, but lose more when the
// program is stopped, and need more memory.
const (
	stepBytes   = 4 << 20
	stepSources = 1000
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
	r := &fileReader{files: files, failed: func(err error) { done(err) }, progress: s.o.Progress}
	if err := s.Catalog.Import(ctx, r.steps(), func(reports []catalog.Report, err error) { done(err, reports...) }); err != nil {
		done(err)
	}
	for _, o := range r.overlays {
		report, err := s.Catalog.ApplyOverlay(ctx, o)
		done(err, report)
	}
	return r.servers
}

// fileReader reads files step by step, and collects what they hold beside tools.
type fileReader struct {
	files    *sources.Files
	failed   func(error)
	progress Progress
	overlays []*sources.Overlay
	servers  []upstream.Server
}

// steps returns the sources of the files, as many at a time as an import is to store in one step.
func (r *fileReader) steps() iter.Seq[[]sources.Source] {
	return func(yield func([]sources.Source) bool) {
		var step []sources.Source
		bytes := 0
		for i := range r.files.Len() {
			content, n, err := r.files.Read(i)
			if err != nil {
				r.failed(err)
				continue
			}
			if content.Overlay != nil {
				r.overlays = append(r.overlays, content.Overlay)
			}
			r.servers = MergeServers(r.servers, content.Servers)
			step, bytes = append(step, content.Sources...), bytes+n
			if bytes < stepBytes && len(step) < stepSources {
				continue
			}
			if !yield(step) {
				return
			}
			r.progress("importing files", i+1, r.files.Len())
			step, bytes = nil, 0
		}
		if len(step) > 0 {
			yield(step)
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
