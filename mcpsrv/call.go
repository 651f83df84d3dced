package mcpsrv

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
	"tooldex/validate"
)

// callTool answers tools/call, for the server's own tools and for every upstream tool, listed or not. An error that a
// model can act on becomes a tool error, which is a result. A protocol error is only for a cancelled call, and for
// errors that the client itself must handle.
func (s *Server) callTool(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	name, args := req.Params.Name, req.Params.Arguments
	s.recordFeedback(req, name, args)
	res, err := s.dispatchCall(ctx, req, name, args)
	if err == nil {
		return res, nil
	}
	// Shutdown cut the call off; its client still waits for an answer.
	if errors.Is(context.Cause(ctx), errStopping) {
		return s.toolError(errStopping), nil
	}
	if ctx.Err() != nil { // the client no longer waits, so this is no fault
		return nil, ctx.Err()
	}
	if isForClient(req, err) {
		return nil, s.requestError(ctx, err)
	}
	return s.toolError(err), nil
}

// dispatchCall routes a call to one of the server's own tools, or to the upstream tool that is named, directly or
// inside invoke_tool.
func (s *Server) dispatchCall(ctx context.Context, req *mcp.CallToolRequest, name string,
	args json.RawMessage,
) (*rawResult, error) {
	if m, ok := s.metaTool(name); ok {
		if m.Name != invokeName {
			return s.callMeta(ctx, req, m, args)
		}
		var err error
		if name, args, err = s.unwrapInvocation(m, args); err != nil {
			return nil, s.explainInvalidArgs(ctx, req, name, err)
		}
		if m, ok := s.metaTool(name); ok {
			return s.callMeta(ctx, req, m, args)
		}
	}
	return s.forwardCall(ctx, req, name, args)
}

// forwardCall resolves the tool and hands the call to the Caller, which checks the arguments. Spellings that models
// often get wrong are corrected first.
func (s *Server) forwardCall(ctx context.Context, req *mcp.CallToolRequest, name string,
	args json.RawMessage,
) (*rawResult, error) {
	t, res, err := s.resolveCall(ctx, req, name, args)
	if err != nil {
		return nil, err
	}
	_, invoked := s.metaTool(req.Params.Name)
	raw, cut := s.boundResult(ctx, req, t, res.Raw, len(t.OutputSchema) > 0 && !invoked)
	if cut {
		s.listReadResult(ctx, req)
	}
	return &rawResult{raw: raw}, nil
}

// resolveCall makes a call as forwardCall does, and returns the whole result.
func (s *Server) resolveCall(ctx context.Context, req *mcp.CallToolRequest, name string,
	args json.RawMessage,
) (*tool.Tool, *tool.CallResult, error) {
	set := s.currentSet()
	t, err := s.resolveTool(set, name)
	if err != nil {
		s.recordRefusal(ctx, req, name, "", args, err)
		return nil, nil, err
	}
	if t.Disabled {
		err := &tool.Error{
			Code: tool.Denied, Op: "call", Msg: string(t.ID()) + " is disabled",
			Hint: searchName + " finds similar tools",
		}
		s.recordRefusal(ctx, req, name, t.ID(), args, err)
		return nil, nil, err
	}
	given := args
	if args, err = objectArguments(args); err != nil {
		s.recordRefusal(ctx, req, name, t.ID(), given, err)
		return nil, nil, s.explainInvalidArgs(ctx, req, name, err)
	}
	args, fits := forgiveSpelling(s.o.Schemas.Of(string(t.ID()), t.InputSchema), t.InputSchema, args)
	if fits && !isStateless(req) {
		s.recordUse(req.Session, t.ID())
	}
	res, err := s.callUpstream(ctx, req, t.ID(), args)
	if err != nil {
		var mismatch *validate.Mismatch
		if errors.As(err, &mismatch) {
			err = s.explainInvalidArgs(ctx, req, name, err)
		}
		return nil, nil, err
	}
	// These bytes go to the client as they are, so they must be a JSON object.
	if orderedjson.Kind(res.Raw) != "object" || !json.Valid(res.Raw) {
		return nil, nil, &tool.Error{Code: tool.Unavailable, Op: "call", Msg: "the answer of " + string(t.ID()) +
			" is not a tool result"}
	}
	s.checkOutput(t, res)
	s.recordCall(req, t.ID(), res)
	return t, res, nil
}

// recordRefusal reports to the auditor a call that is refused before it reaches the Caller.
func (s *Server) recordRefusal(ctx context.Context, req *mcp.CallToolRequest, name string, id tool.ID,
	args json.RawMessage,
	err error,
) {
	if s.o.Auditor != nil {
		s.o.Auditor.Refused(ctx, name, tool.Call{ID: id, Arguments: args, Who: s.askerOf(req)}, err)
	}
}

// isForClient reports whether an error is for the client program, which knows what to do about it, and not for the
// model: the upstream needs a capability that the client lacks, or it refuses the answer with which the client repeated
// the call.
func isForClient(req *mcp.CallToolRequest, err error) bool {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return false
	}
	switch rpc.Code {
	case mcp.CodeURLElicitationRequired, mcp.CodeMissingRequiredClientCapabilities:
		return true
	}
	return req.Params.RequestState != "" || len(req.Params.InputResponses) > 0
}

// callUpstream runs a tool on behalf of the client that asked for it. Questions of the tool go to that client. The
// result is not checked yet.
func (s *Server) callUpstream(ctx context.Context, req *mcp.CallToolRequest, id tool.ID,
	args json.RawMessage,
) (*tool.CallResult, error) {
	who := s.askerOf(req)
	ctx, patient, end := s.newPatience(ctx, req)
	defer end()
	raw, err := s.runAskingClient(ctx, s.upstreamClient(ctx, req, req.Session, req.Params.Meta), callKey(id, args),
		retryInput(req.Params.InputResponses, req.Params.RequestState),
		func(ctx context.Context, c *tool.Client, input json.RawMessage) (json.RawMessage, error) {
			res, err := s.o.Caller.Call(ctx, tool.Call{
				ID: id, Arguments: args, Meta: forwardedMeta(req.Params.Meta), Progress: patient.relay(),
				Client: patient.asking(c), Who: who, Input: input,
			})
			if err != nil {
				return nil, err
			}
			return res.Raw, nil
		})
	if err != nil {
		return nil, patient.explain(ctx, id, err)
	}
	return &tool.CallResult{Raw: raw, IsError: isError(raw)}, nil
}

// callKey identifies a call by its tool and a hash of its arguments, in any order of members. An answer that a client
// gives to one call must not confirm another.
func callKey(id tool.ID, args json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) == nil { // a client may write the same members in another order
		args = orderedjson.Encode(v)
	}
	sum := sha256.Sum256(args)
	return string(id) + " " + hex.EncodeToString(sum[:])
}

// relayProgress returns a function that sends an upstream's progress to the client under the client's own token, or nil
// if the client gave no token.
func (s *Server) relayProgress(ctx context.Context, req *mcp.CallToolRequest) func(tool.Progress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(p tool.Progress) {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: p.Progress, Total: p.Total, Message: p.Message,
		})
		if err != nil && ctx.Err() == nil {
			s.o.Logger.Debug("progress not delivered", "tool", req.Params.Name, "err", err)
		}
	}
}

// forwardedMeta returns the client's _meta for the upstream. It leaves out what concerns only the client and this
// server: the progress token, feedback, and the protocol's own members. It returns nil if nothing is left.
func forwardedMeta(meta mcp.Meta) json.RawMessage {
	kept := make(map[string]any, len(meta))
	for key, value := range meta {
		if key != "progressToken" && key != keyFeedback && !strings.HasPrefix(key, "io.modelcontextprotocol/") {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return orderedjson.Encode(kept)
}
