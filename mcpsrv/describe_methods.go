package mcpsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// Methods of our own by which a client program gets single tools in the form of tools/list. A model calls
// get_tool_description instead.
const (
	describeMethod      = "tools/describe"
	describeBatchMethod = "tools/describe_batch"
)

// describeParams are the parameters of tools/describe.
type describeParams struct {
	mcp.ParamsBase
	Name string `json:"name"`
}

// describeBatchParams are the parameters of tools/describe_batch.
type describeBatchParams struct {
	mcp.ParamsBase
	Names stringList `json:"names"`
}

// maxBatch bounds the names in one tools/describe_batch.
const maxBatch = 100

// addMethods registers the methods with the SDK. It fails only if the SDK comes to define them itself.
func (s *Server) addMethods() error {
	return errors.Join(
		mcp.AddReceivingCustomMethod(s.mcp, describeMethod, s.describeOne),
		mcp.AddReceivingCustomMethod(s.mcp, describeBatchMethod, s.describeBatch),
		s.addSkillMethods(),
	)
}

// describeOne answers tools/describe with {"tool": …}, in full in every mode. A disabled tool is described as well.
func (s *Server) describeOne(_ context.Context, _ *mcp.ServerSession, p *describeParams) (*rawResult, error) {
	if p == nil || p.Name == "" {
		return nil, invalidParams("name is missing", "")
	}
	described, err := s.describedTool(s.currentSet(), p.Name)
	if err != nil {
		return nil, protocolError(err)
	}
	return &rawResult{raw: object{{Key: "tool", Value: described}}.Bytes()}, nil
}

// describedTool returns a tool in full as tools/list has it: one of the server's own, or an upstream's.
func (s *Server) describedTool(set *tool.Set, name string) (json.RawMessage, error) {
	if m, ok := s.metaTool(name); ok {
		w := m.forMode(s.live.Load().catalogueMode(set), "")
		w.OutputSchema = outputSchema(m.Name)
		return orderedjson.Encode(w), nil
	}
	t, err := s.resolveTool(set, name)
	if err != nil {
		return nil, err
	}
	return orderedjson.Encode(fullTool(set, t)), nil
}

// describeBatch answers tools/describe_batch with {"tools": […], "errors": [{"name", "message", "hint"}]}. A name
// that resolves to nothing does not fail the others.
func (s *Server) describeBatch(_ context.Context, _ *mcp.ServerSession, p *describeBatchParams) (*rawResult, error) {
	if p == nil || len(p.Names) == 0 || len(p.Names) > maxBatch {
		return nil, invalidParams("names is missing or too long", fmt.Sprintf("give 1 to %d names", maxBatch))
	}
	type failure struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}
	set := s.currentSet()
	tools := make([]json.RawMessage, 0, len(p.Names))
	failures := []failure{}
	for _, name := range p.Names {
		described, err := s.describedTool(set, name)
		if err != nil {
			msg, hint := messageOf(err)
			failures = append(failures, failure{name, msg, hint})
			continue
		}
		tools = append(tools, described)
	}
	return &rawResult{raw: object{jsonMember("tools", tools), jsonMember("errors", failures)}.Bytes()}, nil
}

// protocolError returns an error in the form for a program that called a method of the protocol.
func protocolError(err error) error {
	msg, hint := messageOf(err)
	return invalidParams(msg, hint)
}

// messageOf returns the message and the hint of an error. An error that is no *tool.Error has no hint.
func messageOf(err error) (msg, hint string) {
	var e *tool.Error
	if errors.As(err, &e) {
		return e.Msg, e.Hint
	}
	return err.Error(), ""
}

// invalidParams returns a JSON-RPC error of code invalid params, with the hint in its data.
func invalidParams(msg, hint string) error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: msg}
	if hint != "" {
		e.Data = orderedjson.Encode(map[string]string{"hint": hint})
	}
	return e
}
