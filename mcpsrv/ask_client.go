package mcpsrv

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// The requests that upstream servers may send to clients.
const (
	sampleMethod = "sampling/createMessage"
	elicitMethod = "elicitation/create"
	rootsMethod  = "roots/list"
)

// rawParams are parameters that the SDK writes as the bytes they hold. Its own types would drop members that they do
// not have.
type rawParams struct {
	mcp.ParamsBase
	raw json.RawMessage
}

// MarshalJSON returns the bytes.
func (p *rawParams) MarshalJSON() ([]byte, error) { return p.raw, nil }

// upstreamClient describes to an upstream the client behind a request. meta is the request's _meta. ctx is the
// request's context: over HTTP, what is sent with it takes the stream of the answer; what is sent without it needs a
// stream of its own, which may not exist.
func (s *Server) upstreamClient(ctx context.Context, r clientRequest, conn *mcp.ServerSession,
	meta mcp.Meta,
) *tool.Client {
	c := &tool.Client{
		Session: sessionName(conn), Capabilities: capabilitiesOf(r, meta),
		Tell: func(method string, params json.RawMessage) { s.forwardLog(ctx, conn, method, params) },
	}
	if isStateless(r) {
		c.Rounds = true
		c.LogLevel, _ = meta[mcp.MetaKeyLogLevel].(string)
		return c // it is asked by a result; see pendingCall
	}
	if level := s.logLevel.Load(); level != nil {
		c.LogLevel = string(*level)
	}
	c.Ask = func(asking context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		return s.askClient(ctx, asking, conn, method, params)
	}
	return c
}

// sessionName returns a name that differs between connections. A client on standard input has no session ID, so the
// address of its connection serves.
func sessionName(conn *mcp.ServerSession) string {
	if id := conn.ID(); id != "" {
		return id
	}
	return fmt.Sprintf("%p", conn)
}

// capabilitiesOf returns the capabilities of a client as a JSON object, nil if it declared none. Those in _meta keep
// the client's own members. Others are encoded here, since the SDK's encoding claims roots for every client.
func capabilitiesOf(r clientRequest, meta mcp.Meta) json.RawMessage {
	if said, ok := meta[mcp.MetaKeyClientCapabilities]; ok {
		return orderedjson.Encode(said)
	}
	caps := r.ClientCapabilities()
	if caps == nil {
		return nil
	}
	o := object{}
	if caps.Sampling != nil {
		o = append(o, jsonMember("sampling", caps.Sampling))
	}
	if caps.Elicitation != nil {
		o = append(o, jsonMember("elicitation", caps.Elicitation))
	}
	if caps.RootsV2 != nil {
		o = append(o, jsonMember("roots", caps.RootsV2))
	}
	if len(caps.Extensions) > 0 {
		o = append(o, jsonMember("extensions", caps.Extensions))
	}
	return o.Bytes()
}

// askClient sends a question of an upstream to the client whose call caused it, and returns the answer. The error is
// one of JSON-RPC if the client has not declared that it can answer. call is the context of the client's request,
// asking that of the upstream's question; the end of either ends the wait.
func (s *Server) askClient(call, asking context.Context, conn *mcp.ServerSession, method string,
	params json.RawMessage,
) (json.RawMessage, error) {
	if err := s.checkCanAsk(conn, method); err != nil {
		return nil, err
	}
	ctx := asking
	// A call that has ended has no stream any more; the question then goes out without it.
	if call.Err() == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(call)
		defer cancel()
		defer context.AfterFunc(asking, cancel)()
	}
	res, err := s.send(ctx, method, &mcp.ServerRequest[*rawParams]{Session: conn, Params: &rawParams{raw: params}})
	if err != nil {
		return nil, err
	}
	return orderedjson.Encode(res), nil
}

// checkCanAsk returns an error unless the client declared in initialize that it answers this method.
func (s *Server) checkCanAsk(conn *mcp.ServerSession, method string) error {
	caps := &mcp.ClientCapabilities{}
	if p := conn.InitializeParams(); p != nil && p.Capabilities != nil {
		caps = p.Capabilities
	}
	can := map[string]bool{
		sampleMethod: caps.Sampling != nil, elicitMethod: caps.Elicitation != nil,
		rootsMethod: caps.RootsV2 != nil,
	}
	if !can[method] {
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client does not support " + method}
	}
	return nil
}

// forwardLog sends a log message of an upstream to the client, if the client set that level or a lower one.
func (s *Server) forwardLog(ctx context.Context, conn *mcp.ServerSession, method string, params json.RawMessage) {
	if method != "notifications/message" {
		return
	}
	var p struct {
		Level  mcp.LoggingLevel `json:"level"`
		Logger string           `json:"logger"`
		Data   json.RawMessage  `json:"data"`
		Meta   mcp.Meta         `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	if err := conn.Log(ctx, &mcp.LoggingMessageParams{
		Level: p.Level, Logger: p.Logger, Data: p.Data,
		Meta: p.Meta,
	}); err != nil {
		s.o.Logger.Debug("log message not delivered", "err", err)
	}
}

// setLevel stores the least severe log level that a client asked for. Upstreams serve all clients at once, so they get
// the most verbose level of all; the SDK filters what each client did not ask for.
func (s *Server) setLevel(level mcp.LoggingLevel) {
	for {
		old := s.logLevel.Load()
		if old != nil && logVerbosity(*old) >= logVerbosity(level) || s.logLevel.CompareAndSwap(old, &level) {
			return
		}
	}
}

// logVerbosity ranks log levels, the most verbose last. Anything that is not a level ranks first, at 0.
func logVerbosity(l mcp.LoggingLevel) int {
	for i, known := range []mcp.LoggingLevel{
		"emergency", "alert", "critical", "error", "warning", "notice", "info",
		"debug",
	} {
		if l == known {
			return i + 1
		}
	}
	return 0
}
