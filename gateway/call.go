package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// checkCall returns an Invalid error if the arguments or the _meta of a call are present but no valid JSON object.
// White space alone counts as absent.
func checkCall(c tool.Call) error {
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"arguments", c.Arguments}, {"_meta", c.Meta}} {
		if len(bytes.TrimSpace(part.raw)) > 0 && (!json.Valid(part.raw) || !isObject(part.raw)) {
			return &tool.Error{
				Code: tool.Invalid, Op: "call", Msg: fmt.Sprintf("the %s of the call of %q are no JSON object",
					part.name, c.ID),
				Hint: `give them as an object, such as {"name": "value"}`,
			}
		}
	}
	return nil
}

// isObject looks at the first byte only. Callers that need a valid object check that as well.
func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

// callTool runs one tool. retry reports that the server has not accepted the request, so that it may be sent again on a
// new session.
func (s *session) callTool(ctx context.Context, who *caller, c tool.Call, timeout time.Duration) (res *tool.CallResult,
	retry bool, err error,
) {
	if err := ctx.Err(); err != nil { // the server might answer before anything below looks at ctx
		return nil, false, sessionEndedError(err, fmt.Sprintf("the call of %q", c.ID.Name()))
	}
	x := &exchange{
		what: fmt.Sprintf("the call of %q", c.ID.Name()), who: who, progress: c.Progress, meta: c.Meta, input: c.Input,
		hidden: true,
		send: func(ctx context.Context, s *session, meta mcp.Meta, in clientAnswers) (any, error) {
			params := &mcp.CallToolParams{
				Name: c.ID.Name(), Meta: meta, InputResponses: in.Responses,
				RequestState: in.State,
			}
			if len(bytes.TrimSpace(c.Arguments)) > 0 {
				params.Arguments = c.Arguments // a json.RawMessage: numbers and strings keep their spelling
			}
			return s.cs.CallTool(ctx, params)
		},
	}
	raw, retry, err := s.exchangeRaw(ctx, x, timeout)
	if hasCode(err, mcp.CodeHeaderMismatch) {
		// The server requires arguments repeated in headers, which the SDK does for tools that it has seen listed.
		if _, _, listErr := s.listTools(ctx, timeout, s.recorder.logger); listErr == nil {
			raw, retry, err = s.exchangeRaw(ctx, x, timeout)
		}
	}
	if err != nil {
		return nil, retry, err
	}
	// What the SDK thinks of the result does not matter: its bytes are passed on, also those it cannot decode.
	failed, _ := orderedjson.Find(raw, "isError")
	return &tool.CallResult{Raw: raw, IsError: string(failed) == "true"}, false, nil
}

// isGatewayMeta reports whether a member of _meta describes one connection: the client's value would be wrong upstream.
func isGatewayMeta(key string) bool {
	switch key {
	case "progressToken", mcp.MetaKeyLogLevel, mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo,
		mcp.MetaKeyClientCapabilities, mcp.MetaKeyServerInfo, mcp.MetaKeySubscriptionID:
		return true
	}
	return false
}

// requestMeta returns the _meta of an upstream request: what the client sent, less what describes the client's own
// connection. The map is never nil and belongs to the caller. A _meta that cannot be read counts as empty.
func requestMeta(raw json.RawMessage) mcp.Meta {
	meta := mcp.Meta{}
	// RawMessage values, so that numbers in _meta keep their spelling.
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return meta
	}
	for k, v := range in {
		if !isGatewayMeta(k) {
			meta[k] = v
		}
	}
	return meta
}
