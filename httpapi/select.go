package httpapi

import (
	"cmp"
	"context"

	"github.com/labstack/echo/v4"

	"tooldex/selection"
	"tooldex/tool"
)

// Selector chooses tools for messages. It is safe for concurrent use.
type Selector interface {
	// Select answers a query. An error of code NotFound means that the profile does not exist, Invalid that the query
	// is wrong; other errors are those of a search.
	Select(ctx context.Context, q selection.Query) (*selection.Selection, error)
	// Called receives a call that the tool answered without an error. It does not block.
	Called(profile, session string, id tool.ID)
}

// selectRequest is the body of POST /api/tools/select.
type selectRequest struct {
	Message        string                    `json:"message,omitempty" jsonschema:"what the agent is asked to do; needed unless mode is manual or all"`
	History        []selection.Turn          `json:"history,omitempty" jsonschema:"what came before the message, oldest first; the last turns of the user count, with less weight"`
	Session        string                    `json:"session,omitempty" jsonschema:"the conversation: its tools persist, and are forgotten after five minutes without use; X-Session-Id says the same"`
	Task           string                    `json:"task,omitempty" jsonschema:"a part of the conversation that has tools of its own"`
	Profile        string                    `json:"profile,omitempty" jsonschema:"whose tools and preferences; all tools if left out"`
	Mode           selection.Mode            `json:"mode,omitempty" jsonschema:"auto: what the message needs; manual: only explicitTools, and what is always included; all: every tool. What the preferences say if left out"`
	ExplicitTools  []string                  `json:"explicitTools,omitempty" jsonschema:"tools that are wanted, by id or by the name under which clients call them"`
	MaxTools       int                       `json:"maxTools,omitempty" jsonschema:"how many tools at most; what the preferences say, or 15, if left out"`
	TokenThreshold int                       `json:"tokenThreshold,omitempty" jsonschema:"how many tokens the tools cost at most; what the preferences say, or 50000, if left out"`
	Format         selection.Format          `json:"format,omitempty" jsonschema:"mcp, anthropic, openai, openai-responses or gemini; mcp if left out"`
	DeferLoading   bool                      `json:"deferLoading,omitempty" jsonschema:"for anthropic and openai-responses: mark tools that are not core ones with defer_loading"`
	ToolReferences bool                      `json:"toolReferences,omitempty" jsonschema:"for anthropic: also give tool_reference blocks of the tools that are not core ones"`
	Namespaces     bool                      `json:"namespaces,omitempty" jsonschema:"for openai-responses: group the tools by server, in namespaces of fewer than ten"`
	ToolSearch     selection.Execution       `json:"toolSearch,omitempty" jsonschema:"for openai-responses: also give the tool by which the model searches: server if OpenAI searches the deferred tools, client if this service does; no message is needed then"`
	ToolSearchCall *selection.ToolSearchCall `json:"toolSearchCall,omitempty" jsonschema:"for openai-responses: a tool_search_call that the model emitted, in place of a message"`
	Trial          bool                      `json:"trial,omitempty" jsonschema:"a test: the selection is not counted"`
}

// selectTools answers POST /api/tools/select.
func (s *Server) selectTools(c echo.Context) error {
	var r selectRequest
	if err := readBody(c, &r); err != nil {
		return err
	}
	if s.o.Selector == nil {
		return &tool.Error{Code: tool.NotFound, Op: "select", Msg: "selection is not available here"}
	}
	profile, err := s.profileOf(r.Profile)
	if err != nil {
		return err
	}
	res, err := s.o.Selector.Select(c.Request().Context(), selection.Query{
		Profile: profile, Message: r.Message, History: r.History, Session: ownSession(c,
			cmp.Or(r.Session, c.Request().Header.Get(sessionHeader))), Task: r.Task,
		Mode: r.Mode, Explicit: r.ExplicitTools, MaxTools: r.MaxTools, TokenThreshold: r.TokenThreshold,
		Format: r.Format, Defer: r.DeferLoading, References: r.ToolReferences,
		Namespaces: r.Namespaces, ToolSearch: r.ToolSearch, SearchCall: r.ToolSearchCall,
	})
	if err != nil {
		return err
	}
	if s.o.Metrics != nil && !r.Trial {
		ids := make([]tool.ID, len(res.Selected))
		for i, one := range res.Selected {
			ids[i] = one.ID
		}
		s.o.Metrics.Selected(ids, res.Tokens, res.Saved, res.Cached)
	}
	return writeJSON(c, res)
}

// profileOf returns the profile of a request. The Server of one profile serves no other.
func (s *Server) profileOf(asked string) (string, error) {
	if s.o.Profile != "" && asked != "" && asked != s.o.Profile {
		return "", &tool.Error{Code: tool.NotFound, Op: "find profile", Msg: "there is no profile " + quoteShort(asked)}
	}
	return cmp.Or(asked, s.o.Profile), nil
}
