package httpapi

import (
	"strings"

	"github.com/labstack/echo/v4"
)

// The panel is one page at the root, and the files it consists of.
const (
	panelPage  = "/"
	panelFiles = "/panel/"
)

// mountPanel adds the routes of the panel, if there is one.
func (s *Server) mountPanel() {
	if s.o.Panel == nil {
		return
	}
	h := echo.WrapHandler(s.o.Panel)
	for _, path := range []string{panelPage, panelFiles + "*"} {
		s.echo.GET(path, h)
		s.echo.HEAD(path, h)
	}
}

// isPanelPath reports whether a path is the panel's. Its files are the same for all, and its script asks for the token.
func (s *Server) isPanelPath(path string) bool {
	return s.o.Panel != nil && (path == panelPage || strings.HasPrefix(path, panelFiles))
}
