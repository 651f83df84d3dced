package httpapi

import (
	"context"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
	"tooldex/upstream"
)

// Operator starts and stops upstream servers. Its errors are *tool.Error, NotFound for an unknown server.
// *gateway.Gateway is one.
type Operator interface {
	// Start returns when the server runs.
	Start(ctx context.Context, server string) error
	// Stop returns when the server has ended. The next call of one of its tools starts it again.
	Stop(server string) error
	// Log returns what the server printed last and what happened to it, oldest first.
	Log(server string) ([]upstream.LogLine, error)
}

// serverLog is what a server printed last, and what happened to it.
type serverLog struct {
	Lines []upstream.LogLine `json:"lines" jsonschema:"oldest first"`
}

// startSuffix ends the paths of starts, which take as long as the server does.
const startSuffix = "/start"

// operatedServer returns the server that a path names, or an error if there is no Operator.
func (s *Server) operatedServer(c echo.Context) (string, error) {
	if err := readQuery(c).done(); err != nil {
		return "", err
	}
	path := strings.TrimPrefix(c.Request().URL.EscapedPath(), "/api/servers/")
	name, err := url.PathUnescape(path[:strings.LastIndexByte(path, '/')])
	if err != nil {
		return "", invalidField("the server", "is not escaped correctly")
	}
	if s.o.Operator == nil {
		return "", &tool.Error{Code: tool.NotFound, Op: "find server", Msg: "servers cannot be managed here"}
	}
	return name, nil
}

// startServer answers POST /api/servers/{server}/start.
func (s *Server) startServer(c echo.Context) error {
	name, err := s.operatedServer(c)
	if err != nil {
		return err
	}
	if err := s.o.Operator.Start(c.Request().Context(), name); err != nil {
		return err
	}
	return writeJSON(c, health{"ok"})
}

// stopServer answers POST /api/servers/{server}/stop.
func (s *Server) stopServer(c echo.Context) error {
	name, err := s.operatedServer(c)
	if err != nil {
		return err
	}
	if err := s.o.Operator.Stop(name); err != nil {
		return err
	}
	return writeJSON(c, health{"ok"})
}

// getServerLog answers GET /api/servers/{server}/log.
func (s *Server) getServerLog(c echo.Context) error {
	name, err := s.operatedServer(c)
	if err != nil {
		return err
	}
	lines, err := s.o.Operator.Log(name)
	if err != nil {
		return err
	}
	return writeJSON(c, serverLog{orEmpty(lines)})
}
