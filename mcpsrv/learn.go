package mcpsrv

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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

// askerOf says who a request is from. Requests that do not belong to one connection or session have no session.
func (s *Server) askerOf(req *mcp.CallToolRequest) tool.Asker {
	who := tool.Asker{Profile: s.o.Profile, Session: req.Session.ID()}
	if info := req.ClientInfo(); info != nil {
		who.Client, who.Version = info.Name, info.Version
	}
	overHTTP := req.Extra != nil && req.Extra.Header != nil
	if who.Via = "stdio"; overHTTP {
		who.Via = "http"
	}
	if who.Session == "" && !overHTTP {
		who.Session = fmt.Sprintf("%s %p", s.run, req.Session) // a connection is one, as long as it lasts
	}
	return who
}

func (s *Server) recordSearch(req *mcp.CallToolRequest, res *tool.Result) {
	if s.o.Learner != nil {
		s.o.Learner.Searched(s.askerOf(req), res)
	}
}

func (s *Server) recordCall(req *mcp.CallToolRequest, id tool.ID, res *tool.CallResult) {
	if s.o.Learner != nil && !res.IsError {
		s.o.Learner.Called(s.askerOf(req), id)
	}
}

// keyFeedback is where, in the _meta of a call of any tool, a client says what it thinks of tools: an object or a list
// of objects with the query, the tool (by default the one that is called) and whether it was wrong.
const keyFeedback = "tooldex/feedback"

type feedback struct {
	Query string `json:"query"`
	Tool  string `json:"tool"`
	Wrong bool   `json:"wrong"`
}

// recordFeedback passes on what a call's _meta says of tools. It is no fault of the call if that cannot be understood.
func (s *Server) recordFeedback(req *mcp.CallToolRequest, name string, args json.RawMessage) {
	said, ok := req.Params.Meta[keyFeedback]
	if !ok || said == nil || s.o.Learner == nil {
		return
	}
	var list []feedback
	raw := encodeJSON(said)
	if !strings.HasPrefix(string(raw), "[") {
		raw = json.RawMessage("[" + string(raw) + "]")
	}
	err := json.Unmarshal(raw, &list)
	if err != nil {
		list = nil
	}
	for _, f := range list {
		if f.Tool == "" {
			f.Tool = s.calledName(name, args)
		}
		t, resolveErr := s.resolveTool(s.currentSet(), f.Tool)
		if resolveErr != nil {
			err = resolveErr
			continue
		}
		if toldErr := s.o.Learner.Told(s.askerOf(req), tool.Feedback{
			Request: f.Query, Tool: t.ID(),
			Wrong: f.Wrong,
		}); toldErr != nil {
			err = toldErr
		}
	}
	if err != nil {
		s.o.Logger.Debug("feedback that cannot be used", "err", err)
	}
}

// calledName returns the name of the tool that a call is about.
func (s *Server) calledName(name string, args json.RawMessage) string {
	if m, ok := s.metaTool(name); ok && m.Name == invokeName {
		if inner, _, err := s.unwrapInvocation(m, args); err == nil {
			return inner
		}
	}
	return name
}
