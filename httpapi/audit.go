package httpapi

import (
	"context"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
)

// Auditor records calls and changes. Its methods are safe for concurrent use.
type Auditor interface {
	// Refused records a call that the Server refuses by itself: of a name that is no tool for this client, in which
	// case c has no ID, or of a disabled tool.
	Refused(ctx context.Context, name string, c tool.Call, err error)
	// Changed records an operation that changes what is kept, with the path of its request. err says why it was not
	// done, and is nil if it was.
	Changed(ctx context.Context, who tool.Asker, action, subject string, err error)
}

// feedbackID is the operation that takes feedback about tools, and changes none.
const feedbackID = "feedback"

// askerOf describes who makes a call.
func (s *Server) askerOf(c echo.Context) tool.Asker {
	who := anonymousAsker(c)
	who.Profile, who.Via = s.o.Profile, "api"
	return who
}

// recordRefusal reports a refused call to the auditor, if there is one.
func (s *Server) recordRefusal(c echo.Context, name string, call tool.Call, err error) {
	if s.o.Auditor != nil {
		call.Who = s.askerOf(c)
		s.o.Auditor.Refused(c.Request().Context(), name, call, err)
	}
}

// recordChanges wraps the handler of an operation that changes something, so that the auditor learns of each run.
func (s *Server) recordChanges(id string, handle echo.HandlerFunc) echo.HandlerFunc {
	if s.o.Auditor == nil || id == feedbackID {
		return handle
	}
	return func(c echo.Context) error {
		subject := c.Request().URL.Path
		if query := c.Request().URL.RawQuery; query != "" { // it says, for example, whose preferences they are
			subject += "?" + query
		}
		err := handle(c)
		s.o.Auditor.Changed(c.Request().Context(), s.askerOf(c), id, subject, err)
		return err
	}
}

// needsConfirmation reports whether a person has to confirm each call of t.
func (s *Server) needsConfirmation(t *tool.Tool) bool { return s.o.Confirms != nil && s.o.Confirms(t) }
