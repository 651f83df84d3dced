package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"

	"tooldex/catalog/sources"
	"tooldex/mcpsrv"
	"tooldex/tool"
	"tooldex/tools/internal/gauge"
)

// idleSessions is how many sessions are opened to measure what one costs.
const idleSessions = 2000

// nearest answers every search with the same five tools.
type nearest struct{ alive }

func (n nearest) Search(context.Context, tool.Query) (*tool.Result, error) {
	res := &tool.Result{Tools: []tool.Hit{}, Confident: true}
	for _, t := range n.set.All()[:5] {
		res.Tools = append(res.Tools, tool.Hit{
			ID: t.ID(), Name: t.Name, Server: t.Server,
			Exposed: n.set.Exposed(t.ID()),
		})
	}
	return res, nil
}

// idleRows measures what the process keeps for a session over HTTP that does nothing more: one that was opened, and one
// that also searched in dynamic mode and so has tools enabled.
func idleRows(ctx context.Context, c config) ([]row, error) {
	files, err := gauge.Dumps(c.data)
	if err != nil {
		return nil, err
	}
	content, err := sources.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	tools, err := content.Sources[0].Tools(ctx)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, one := range []struct {
		what  string
		lines []string
	}{
		{"opened", nil},
		{"with five tools enabled", []string{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"x"}}}`}},
	} {
		bytes, goroutines, err := costOfIdle(ctx, idleSessions, tools, one.lines)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{
			"memory of an idle HTTP session, " + one.what,
			fmt.Sprintf("%.1f KB, %.1f goroutines", bytes/1000, goroutines), "", true,
		})
	}
	return rows, nil
}

// costOfIdle opens many sessions, sends lines in each, and returns the memory and goroutines that one of them keeps.
func costOfIdle(ctx context.Context, many int, tools []*tool.Tool, lines []string) (bytes, goroutines float64,
	err error,
) {
	n := nearest{alive{tool.NewSet(tools, "")}}
	srv := mcpsrv.New(mcpsrv.Options{Searcher: n, Caller: n, Catalog: n, Mode: mcpsrv.Dynamic})
	defer func() { _ = srv.Close() }()
	h := srv.Handler()
	open := func() error {
		session := ""
		for _, line := range append([]string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		}, lines...) {
			req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(line))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
			req.Header.Set("Mcp-Session-Id", session)
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, req)
			if answer.Code >= 300 {
				return fmt.Errorf("%s answers %d: %s", line, answer.Code, answer.Body)
			}
			if id := answer.Header().Get("Mcp-Session-Id"); id != "" {
				session = id
			}
		}
		return nil
	}
	if err := open(); err != nil { // what the first makes, all share
		return 0, 0, err
	}
	before, routines := kept(), runtime.NumGoroutine()
	for range many {
		if err := open(); err != nil {
			return 0, 0, err
		}
	}
	return float64(kept()-before) / float64(many), float64(runtime.NumGoroutine()-routines) / float64(many), nil
}

// kept is how much memory is in use after a collection, stacks with it.
func kept() int64 {
	runtime.GC()
	runtime.GC() // what the first had to finish
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
