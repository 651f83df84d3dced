package httpapi

import (
	"cmp"
	"context"

	"github.com/labstack/echo/v4"

	"tooldex/metrics"
	"tooldex/tool"
)

// Metrics counts what is done and tells of it. Searches and calls are counted by the Searcher and the Caller; what a
// Searcher does for a selection must not be counted by it too. Its methods are safe for concurrent use.
type Metrics interface {
	// Selected counts an answered selection: what was handed out, what that cost in tokens, what all tools would have
	// cost more, and whether the cache answered. It does not block.
	Selected(tools []tool.ID, tokens, saved int, cached bool)
	// Report tells what was done within a window, one of 1h, 24h, 7d and all. Another is Invalid.
	Report(ctx context.Context, window string) (*metrics.Metrics, error)
}

// defaultWindow is the window of a request that names none.
const defaultWindow = "24h"

var metricsParams = []param{{
	name: "window", text: defaultWindow + " if left out",
	values: []any{"1h", "24h", "7d", "all"},
}}

// prometheusPath is where Prometheus asks.
const prometheusPath = "/metrics"

func (s *Server) getMetrics(c echo.Context) error {
	v := readQuery(c)
	window := cmp.Or(v.text("window"), defaultWindow)
	if err := v.done(); err != nil {
		return err
	}
	if s.o.Metrics == nil {
		return &tool.Error{Code: tool.NotFound, Op: "metrics", Msg: "nothing is counted here"}
	}
	m, err := s.o.Metrics.Report(c.Request().Context(), window)
	if err != nil {
		return err
	}
	return writeJSON(c, m)
}
