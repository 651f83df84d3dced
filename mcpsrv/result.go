package mcpsrv

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// rawResult is a result that is written as the bytes it holds. The SDK sets serverInfo in the embedded Meta for
// stateless requests only; MarshalJSON recognises the generation of the protocol by that.
type rawResult struct {
	mcp.ResultBase
	raw json.RawMessage // an object
}

// Members of a result that belong to one connection, so that an upstream's are not passed on.
const (
	keyResultType = "resultType"
	keyMeta       = "_meta"
)

// MarshalJSON returns the bytes with what the client's generation of the protocol requires: resultType and serverInfo
// for stateless requests, neither for others.
func (r *rawResult) MarshalJSON() ([]byte, error) {
	info, stateless := r.Meta[mcp.MetaKeyServerInfo]
	// The common case: nothing to add or remove, so large results are not parsed.
	if !stateless && !bytes.Contains(r.raw, []byte(keyResultType)) && !bytes.Contains(r.raw,
		[]byte(mcp.MetaKeyServerInfo)) {
		return r.raw, nil
	}
	o, err := orderedjson.ParseObject(r.raw)
	if err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	meta, hasMeta := object{}, false
	if raw, ok := o.Lookup(keyMeta); ok {
		if meta, err = orderedjson.ParseObject(raw); err != nil {
			meta = object{}
		}
		hasMeta = true
	}
	meta = meta.Without(mcp.MetaKeyServerInfo)
	if stateless {
		meta = meta.With(mcp.MetaKeyServerInfo, orderedjson.Encode(info))
		if _, ok := o.Lookup(keyResultType); !ok {
			o = append(object{{Key: keyResultType, Value: json.RawMessage(`"complete"`)}}, o...)
		}
	} else {
		o = o.Without(keyResultType)
	}
	switch {
	case len(meta) > 0:
		o = o.With(keyMeta, meta.Bytes())
	case hasMeta:
		o = o.Without(keyMeta)
	}
	return o.Bytes(), nil
}

// isError reports whether a tool's result says that the tool failed.
func isError(raw json.RawMessage) bool {
	var r struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(raw, &r) == nil && r.IsError
}

// textResult returns a result with one text.
func textResult(text string) *rawResult {
	return &rawResult{raw: object{{Key: "content", Value: textContent(text)}}.Bytes()}
}

// textContent returns the content of such a result.
func textContent(text string) json.RawMessage {
	return orderedjson.Encode([]struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{{"text", text}})
}

// errorResult returns a tool error: a result that the model reads and can act on, unlike a protocol error.
func errorResult(text string) *rawResult {
	return &rawResult{raw: object{
		{Key: "content", Value: textContent(text)},
		{Key: "isError", Value: json.RawMessage("true")},
	}.Bytes()}
}

// toolError converts an error to a tool error. An internal error is logged here, and only here, with the ID that the
// model gets.
func (s *Server) toolError(err error) *rawResult {
	request := rand.Text()[:12]
	if tool.CodeOf(err) == tool.Internal {
		s.o.Logger.Error("internal error", "request", request, "err", err)
	}
	return errorResult(errorText(err, request))
}

// errorText is the one place where errors become text for a model: the code, what is wrong and what to do. Of an
// internal error it shows only an ID to look for in the log.
func errorText(err error, request string) string {
	var e *tool.Error
	if !errors.As(err, &e) || e.Code == tool.Internal {
		return "internal: internal error; request id " + request
	}
	text := e.Code.String() + ": " + e.Msg
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	if e.Code == tool.Unavailable || e.Code == tool.Timeout {
		text += "\nThe same call may work later."
	}
	return text
}
