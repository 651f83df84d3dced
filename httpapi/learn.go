package httpapi

import (
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Learner is told what clients search for and what they call then, and what they say of answers. None of its methods
// may block, and all must be safe for concurrent use.
type Learner interface {
	// Searched is told what an asker was shown.
	Searched(who tool.Asker, res *tool.Result)
	// Called is told of a call that the tool answered without an error.
	Called(who tool.Asker, id tool.ID)
	// Told is told what a client says. An error is of code Invalid.
	Told(who tool.Asker, f tool.Feedback) error
}

// sessionHeader is where a client that serves several conversations says which one a request belongs to.
const sessionHeader = "X-Session-Id"

// ownSession makes the name of a conversation that of a conversation of whoever bears the token: with another one, the
// same name is that of another. "" stays so.
func ownSession(c echo.Context, name string) string {
	if who := access.PrincipalOf(c.Request().Context()); who.Key != "" && name != "" {
		return who.Key + " " + name
	}
	return name
}

// anonymousAsker says who a request is from: the program by the first word of its User-Agent, the session by its header, or else
// by the address.
func anonymousAsker(c echo.Context) tool.Asker {
	agent := c.Request().UserAgent()
	client, _, _ := strings.Cut(agent, "/")
	session := ownSession(c, c.Request().Header.Get(sessionHeader))
	if session == "" {
		session = c.RealIP() + " " + agent
	}
	return tool.Asker{Client: cutText(client, 100), Session: cutText(session, 400)}
}

func cutText(s string, most int) string {
	return strings.ToValidUTF8(sanitize.Cut(s, most), "")
}

func (s *Server) recordSearch(c echo.Context, res *tool.Result) {
	if s.o.Learner != nil {
		s.o.Learner.Searched(anonymousAsker(c), res)
	}
}

func (s *Server) recordCall(c echo.Context, id tool.ID, res *tool.CallResult) {
	if res.IsError {
		return
	}
	if s.o.Learner != nil {
		s.o.Learner.Called(anonymousAsker(c), id)
	}
	if s.o.Selector != nil {
		s.o.Selector.Called(s.o.Profile, ownSession(c, c.Request().Header.Get(sessionHeader)), id)
	}
}

// feedbackRequest is the body of POST /api/feedback.
type feedbackRequest struct {
	Query string `json:"query" jsonschema:"what was searched for"`
	Tool  string `json:"tool" jsonschema:"the tool, by its id or the name under which clients call it"`
	Wrong bool   `json:"wrong,omitempty" jsonschema:"the tool was wrong for it; otherwise it was right"`
}

func (s *Server) postFeedback(c echo.Context) error {
	var r feedbackRequest
	if err := readBody(c, &r); err != nil {
		return err
	}
	if s.o.Learner == nil {
		return &tool.Error{Code: tool.Denied, Op: "feedback", Msg: "nothing is learned here"}
	}
	if strings.TrimSpace(r.Query) == "" {
		return invalid("query", "is empty")
	}
	t, err := s.currentSet().Resolve(r.Tool)
	if err != nil {
		return err
	}
	if err := s.o.Learner.Told(anonymousAsker(c), tool.Feedback{Request: r.Query, Tool: t.ID(), Wrong: r.Wrong}); err != nil {
		return err
	}
	return writeJSON(c, health{"ok"})
}
