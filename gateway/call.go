package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// checkCall returns an Invalid error if a call cannot be sent as it is.
func checkCall(c tool.Call) error {
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"arguments", c.Arguments}, {"_meta", c.Meta}} {
		if len(bytes.TrimSpace(part.raw)) > 0 && (!json.Valid(part.raw) || !isObject(part.raw)) {
			return &tool.Error{
				Code: tool.Invalid, Op: "call", Msg: fmt.Sprintf("the %s of the call of %q are no JSON object", part.name, c.ID),
				Hint: `give them as an object, such as {"name": "value"}`,
			}
		}
	}
	return nil
}

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

// call runs one tool. retry reports that the server has not accepted the request, so that it may be sent again on a new
// session.
func (s *session) call(ctx context.Context, c tool.Call, timeout time.Duration) (res *tool.CallResult, retry bool, err error) {
	params := &mcp.CallToolParams{Name: c.ID.Name(), Meta: requestMeta(c.Meta)}
	if len(bytes.TrimSpace(c.Arguments)) > 0 {
		params.Arguments = c.Arguments // a json.RawMessage: numbers and strings keep their spelling
	}
	if c.Progress != nil {
		token, stop := s.tap.watchProgress(c.Progress)
		defer stop()
		params.Meta["progressToken"] = token
	}
	what := fmt.Sprintf("the call of %q", c.ID.Name())
	runCtx, stop := s.limit(ctx, timeout)
	defer stop()
	sendCtx, sent := withCapture(runCtx)
	_, err = s.cs.CallTool(sendCtx, params)
	got := s.tap.finish(sent)
	if got.result == nil {
		if err == nil { // cannot happen while the tap is in place
			err = fmt.Errorf("no result was seen")
		}
		return nil, got.refused(err), s.requestError(ctx, runCtx, what, timeout, got, err)
	}
	// What the SDK thinks of the result does not matter: its bytes are passed on, also those it cannot decode.
	res, err = readResult(got.result)
	if err != nil {
		return nil, false, &tool.Error{Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q answered %s with %v", s.server, what, err)}
	}
	return res, false, nil
}

// readResult makes a CallResult of the bytes of a result.
func readResult(raw json.RawMessage) (*tool.CallResult, error) {
	var peek struct {
		IsError    bool   `json:"isError"`
		ResultType string `json:"resultType"`
	}
	if !isObject(raw) {
		return nil, fmt.Errorf("something that is no object")
	}
	if json.Unmarshal(raw, &peek) != nil {
		peek.IsError = false // a member of the wrong type; the client may make sense of it
	}
	if peek.ResultType == "input_required" {
		return nil, fmt.Errorf("a question for the user, which cannot be passed on")
	}
	return &tool.CallResult{Raw: stripServerInfo(raw), IsError: peek.IsError}, nil
}

// limit derives the context of a request from the caller's: it ends with the time limit and with the session, too.
func (s *session) limit(ctx context.Context, timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, stopTimer := context.WithTimeout(ctx, timeout)
	unlink := context.AfterFunc(s.ctx, func() {
		if errors.Is(context.Cause(s.ctx), errStopped) {
			cancel(errStopped)
		} // else the connection broke, and the SDK ends the request with a better reason
	})
	return ctx, func() {
		unlink()
		stopTimer()
		cancel(nil)
	}
}

// ownMeta are the members of a request's _meta that belong to one hop: the client's would be wrong upstream.
func ownMeta(key string) bool {
	switch key {
	case "progressToken", mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities, mcp.MetaKeyServerInfo, mcp.MetaKeySubscriptionID:
		return true
	}
	return false
}

// requestMeta makes the _meta of an upstream request of the client's. It is never nil.
func requestMeta(raw json.RawMessage) mcp.Meta {
	meta := mcp.Meta{}
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return meta
	}
	for k, v := range in {
		if !ownMeta(k) {
			meta[k] = v
		}
	}
	return meta
}
