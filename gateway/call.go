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

// checkCall returns an Invalid error if a call cannot be sent as it is.
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

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

// call runs one tool. retry reports that the server has not accepted the request, so that it may be sent again on a new
// session.
func (s *session) call(ctx context.Context, who *caller, c tool.Call, timeout time.Duration) (res *tool.CallResult,
	retry bool, err error,
) {
	x := &exchange{
		what: fmt.Sprintf("the call of %q", c.ID.Name()), who: who, progress: c.Progress, meta: c.Meta, input: c.Input,
		hidden: true,
		send: func(ctx context.Context, cs *mcp.ClientSession, meta mcp.Meta, in clientAnswers) (any, error) {
			params := &mcp.CallToolParams{
				Name: c.ID.Name(), Meta: meta, InputResponses: in.Responses,
				RequestState: in.State,
			}
			if len(bytes.TrimSpace(c.Arguments)) > 0 {
				params.Arguments = c.Arguments // a json.RawMessage: numbers and strings keep their spelling
			}
			return cs.CallTool(ctx, params)
		},
	}
	raw, retry, err := s.exchange(ctx, x, timeout)
	if hasCode(err, mcp.CodeHeaderMismatch) {
		// The server wants arguments repeated in headers, which the SDK does for tools that it has seen listed.
		if _, _, listErr := s.listTools(ctx, timeout, s.recorder.logger); listErr == nil {
			raw, retry, err = s.exchange(ctx, x, timeout)
		}
	}
	if err != nil {
		return nil, retry, err
	}
	// What the SDK thinks of the result does not matter: its bytes are passed on, also those it cannot decode.
	failed, _ := orderedjson.Find(raw, "isError")
	return &tool.CallResult{Raw: raw, IsError: string(failed) == "true"}, false, nil
}

// isGatewayMeta are the members of a request's _meta that belong to one hop: the client's would be wrong upstream.
func isGatewayMeta(key string) bool {
	switch key {
	case "progressToken", mcp.MetaKeyLogLevel, mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo,
		mcp.MetaKeyClientCapabilities, mcp.MetaKeyServerInfo, mcp.MetaKeySubscriptionID:
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
		if !isGatewayMeta(k) {
			meta[k] = v
		}
	}
	return meta
}
