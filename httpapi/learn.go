package httpapi

import (
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Learner learns from what clients search for, what they call then, and what they say about answers. No method may
// block, and all are safe for concurrent use.
type Learner interface {
	// RecordSearch receives what a client was shown.
	RecordSearch(who tool.Asker, res *tool.Result)
	// RecordCall receives a call that the tool answered without an error.
	RecordCall(who tool.Asker, id tool.ID)
	// RecordFeedback receives a client's feedback. Errors are of code Invalid.
	RecordFeedback(who tool.Asker, f tool.Feedback) error
}

// sessionHeader is how a client that serves several conversations says which one a request belongs to.
const sessionHeader = "X-Session-Id"

// ownSession makes the name of a conversation unique to the token: under another token the same name is another
// conversation. "" stays "".
func ownSession(c echo.Context, name string) string {
	if who := access.PrincipalOf(c.Request().Context()); who.Key != "" && name != "" {
		return who.Key + " " + name
	}
	return name
}

// anonymousAsker describes who made a request: the program by the first word of its User-Agent, the session by its
// header, or otherwise by the address.
func anonymousAsker(c echo.Context) tool.Asker {
	agent := c.Request().UserAgent()
	client, _, _ := strings.Cut(agent, "/")
	session := ownSession(c, c.Request().Header.Get(sessionHeader))
	if session == "" {
		session = c.RealIP() + " " + agent
	}
	return tool.Asker{Client: cutText(client, 100), Session: cutText(session, 400)}
}

// cutText bounds a text from a client, in bytes.
func cutText(s string, most int) string {
	return strings.ToValidUTF8(sanitize.Cut(s, most), "")
}

// recordSearch reports a search to the Learner, if there is one.
func (s *Server) recordSearch(c echo.Context, res *tool.Result) {
	if s.o.Learner != nil {
		s.o.Learner.RecordSearch(anonymousAsker(c), res)
	}
}

// recordCall reports a successful call to the Learner and the Selector, if there are any.
func (s *Server) recordCall(c echo.Context, id tool.ID, res *tool.CallResult) {
	if res.IsError {
		return
	}
	if s.o.Learner != nil {
		s.o.Learner.RecordCall(anonymousAsker(c), id)
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

// postFeedback answers POST /api/feedback.
func (s *Server) postFeedback(c echo.Context) error {
	var r feedbackRequest
	if err := readBody(c, &r); err != nil {
		return err
	}
	if s.o.Learner == nil {
		return &tool.Error{Code: tool.Denied, Op: "feedback", Msg: "feedback is not accepted here"}
	}
	if strings.TrimSpace(r.Query) == "" {
		return invalidField("query", "is empty")
	}
	t, err := s.currentSet().Resolve(r.Tool)
	if err != nil {
		return err
	}
	if err := s.o.Learner.RecordFeedback(anonymousAsker(c), tool.Feedback{
		Request: r.Query, Tool: t.ID(),
		Wrong: r.Wrong,
	}); err != nil {
		return err
	}
	return writeJSON(c, health{"ok"})
}
