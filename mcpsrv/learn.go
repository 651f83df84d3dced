package mcpsrv

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// Learner learns from what clients search for, what they call then, and their feedback on answers. No method may block,
// and all are safe for concurrent use.
type Learner interface {
	// RecordSearch receives what a client was shown.
	RecordSearch(who tool.Asker, res *tool.Result)
	// RecordCall receives a call that the tool answered without an error.
	RecordCall(who tool.Asker, id tool.ID)
	// RecordFeedback receives a client's feedback. Errors are of code Invalid.
	RecordFeedback(who tool.Asker, f tool.Feedback) error
}

// askerOf describes who made a request. A request over HTTP without a session has an empty Session. A connection on
// standard input gets a name that differs between runs of the program.
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
		who.Session = fmt.Sprintf("%s %p", s.run, req.Session) // a connection on standard input is one session
	}
	return who
}

// recordSearch reports a search to the Learner, if there is one.
func (s *Server) recordSearch(req *mcp.CallToolRequest, res *tool.Result) {
	if s.o.Learner != nil {
		s.o.Learner.RecordSearch(s.askerOf(req), res)
	}
}

// recordCall reports a successful call to the Learner, if there is one.
func (s *Server) recordCall(req *mcp.CallToolRequest, id tool.ID, res *tool.CallResult) {
	if s.o.Learner != nil && !res.IsError {
		s.o.Learner.RecordCall(s.askerOf(req), id)
	}
}

// keyFeedback is the member of a call's _meta with the client's feedback on tools: an object or a list of objects with
// the query, the tool (by default the one that is called) and whether it was wrong.
const keyFeedback = "tooldex/feedback"

// feedback is one entry of keyFeedback.
type feedback struct {
	Query string `json:"query"`
	Tool  string `json:"tool"`
	Wrong bool   `json:"wrong"`
}

// recordFeedback passes a call's feedback to the Learner. Feedback that cannot be used is logged for debugging, and
// does not fail the call.
func (s *Server) recordFeedback(req *mcp.CallToolRequest, name string, args json.RawMessage) {
	said, ok := req.Params.Meta[keyFeedback]
	if !ok || said == nil || s.o.Learner == nil {
		return
	}
	var list []feedback
	raw := orderedjson.Encode(said)
	// A single object counts as a list of one.
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
		if toldErr := s.o.Learner.RecordFeedback(s.askerOf(req), tool.Feedback{
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

// calledName returns the name of the tool that a call is about: for invoke_tool, that of the tool it names.
func (s *Server) calledName(name string, args json.RawMessage) string {
	if m, ok := s.metaTool(name); ok && m.Name == invokeName {
		if inner, _, err := s.unwrapInvocation(m, args); err == nil {
			return inner
		}
	}
	return name
}
