package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/tools/internal/provenance"
)

// mostChanged is by what part of it memory after many changes may exceed that after an import.
const mostChanged = .2

// changesPage compares the memory of a process right after it has imported a catalogue with that after many changes
// that leave the same tools. It returns an error if that is more than mostChanged allows.
func changesPage(ctx context.Context, c config) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Memory after changes\n\n%s\n\n", provenance.Line(ctx, "bench changes"))
	fmt.Fprintf(&b, "Memory is what Go's heap has in use after a collection. A change gives one server another "+
		"tool, or takes one\naway. After %d of them each server offers what it did at first. Memory is looked at after each "+
		"thousand.\n\n", c.changes)
	b.WriteString("| tools | after the import | the most meanwhile | after the changes | more |\n|---|---|---|---|---|\n")
	var failed error
	for _, size := range growthSizes() {
		if size > min(c.tools, 10_000) {
			break
		}
		fresh, most, changed, err := memoryOf(ctx, c, size, c.changes)
		if err != nil {
			return "", err
		}
		more := changed/fresh - 1
		fmt.Fprintf(&b, "| %d | %.1f MB | %.1f MB | %.1f MB | %.0f %% |\n", size, fresh, most, changed, 100*more)
		if more > mostChanged {
			failed = fmt.Errorf("%d tools take %.0f %% more memory after %d changes", size, 100*more, c.changes)
		}
	}
	if failed != nil {
		fmt.Fprint(os.Stderr, b.String())
	}
	return b.String(), failed
}

// memoryOf imports a catalogue of this size into a folder of its own, and makes so many changes of it. It returns the
// memory before, the most after any thousand of them, and after all.
func memoryOf(ctx context.Context, c config, size, changes int) (before, most, after float64, err error) {
	dir, err := os.MkdirTemp("", "tooldex-bench")
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	from := filepath.Join(dir, "catalogue")
	if err := writeLarge(ctx, c, strconv.Itoa(size), from); err != nil {
		return 0, 0, 0, err
	}
	s, err := service.Open(ctx, service.Options{Dir: filepath.Join(dir, "data"), Use: service.ToSearch})
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { _ = s.Close() }()
	var failed []error
	s.ImportFiles(ctx, []string{from}, func(err error, _ ...catalog.Report) { failed = append(failed, err) })
	if err := errors.Join(failed...); err != nil {
		return 0, 0, 0, err
	}
	before = heapMB()
	servers := serverNames(s.Catalog.Set())
	for k := range changes {
		src := changedServer{servers[k/2%len(servers)], k / 2, s.Catalog.Set()}
		var one sources.Source = src
		if k%2 == 1 {
			one = restoredServer{src}
		}
		if _, err := s.Catalog.Sync(ctx, one); err != nil {
			return 0, 0, 0, err
		}
		if k%1000 == 999 {
			now := heapMB()
			most = max(most, now)
			fmt.Fprintf(os.Stderr, "%d tools: %d changes: %.1f MB\n", size, k+1, now)
		}
	}
	if n := s.Catalog.Set().Len(); n != size {
		return 0, 0, 0, fmt.Errorf("%d tools are %d after the changes", size, n)
	}
	after = heapMB()
	return before, max(most, after), after, nil
}

// restoredServer offers what the server offered before the change that added a tool.
type restoredServer struct{ changedServer }

// Tools returns the tools of changedServer without the one that was added.
func (s restoredServer) Tools(ctx context.Context) ([]*tool.Tool, error) {
	all, err := s.changedServer.Tools(ctx)
	var out []*tool.Tool
	for _, t := range all {
		if t.Name != s.added() {
			out = append(out, t)
		}
	}
	return out, err
}

// serverNames returns the servers of a set.
func serverNames(set *tool.Set) (out []string) {
	for _, n := range set.Servers() {
		out = append(out, n.Name)
	}
	return out
}

// heapMB returns how much memory Go's heap has in use after a collection.
func heapMB() float64 {
	for range 2 { // pools are emptied by the second
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
