package httpapi

import (
	"cmp"
	"context"

	"github.com/labstack/echo/v4"

	"tooldex/metrics"
	"tooldex/tool"
)

// Metrics counts what is done and reports it. The Searcher and the Caller count searches and calls; the searches of a
// selection must not be counted as such. Its methods are safe for concurrent use.
type Metrics interface {
	// Selected counts an answered selection: its tools, their cost in tokens, how many tokens more all tools would have
	// cost, and whether the cache answered. It does not block.
	Selected(tools []tool.ID, tokens, saved int, cached bool)
	// Answered counts an answer by its status, 499 for a request whose client went away. It does not block.
	Answered(status int)
	// Report returns what was done within a window: 1h, 24h, 7d or all. Any other is Invalid.
	Report(ctx context.Context, window string) (*metrics.Metrics, error)
	// Uses returns how often each tool was called in all time, and when last; tools that were never called are left
	// out.
	Uses(ctx context.Context) (map[tool.ID]metrics.Use, error)
}

// toolUses returns how often tools were called, nil where that is not counted.
func (s *Server) toolUses(ctx context.Context) (map[tool.ID]metrics.Use, error) {
	if s.o.Metrics == nil {
		return nil, nil
	}
	return s.o.Metrics.Uses(ctx)
}

// defaultWindow is the window of a request that names none.
const defaultWindow = "24h"

var metricsParams = []param{{
	name: "window", text: defaultWindow + " if left out",
	values: []any{"1h", "24h", "7d", "all"},
}}

// prometheusPath is where Prometheus scrapes.
const prometheusPath = "/metrics"

// getMetrics answers GET /api/metrics.
func (s *Server) getMetrics(c echo.Context) error {
	v := readQuery(c)
	window := cmp.Or(v.text("window"), defaultWindow)
	if err := v.done(); err != nil {
		return err
	}
	if s.o.Metrics == nil {
		return &tool.Error{Code: tool.NotFound, Op: "metrics", Msg: "metrics are not available here"}
	}
	m, err := s.o.Metrics.Report(c.Request().Context(), window)
	if err != nil {
		return err
	}
	return writeJSON(c, m)
}
