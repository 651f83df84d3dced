package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
)

// A client in lazy mode gets full schemas if it says "lazy": false in the parameters of tools/list. The SDK drops
// parameters that it does not know, so this one is moved into _meta before the SDK reads the message. A client that can
// write only _meta may put it there itself.
const (
	listMethod = "tools/list"
	lazyParam  = "lazy"
	lazyKey    = "tooldex/lazy"
)

// wantsFullSchemas reports whether a client asks for full schemas.
func wantsFullSchemas(req *mcp.ListToolsRequest) bool {
	return req.Params != nil && req.Params.Meta[lazyKey] == false
}

// moveLazyToMeta returns the parameters of tools/list with "lazy" moved into _meta. It returns anything it cannot read
// as it is.
func moveLazyToMeta(params json.RawMessage) json.RawMessage {
	if !bytes.Contains(params, []byte(`"`+lazyParam+`"`)) {
		return params
	}
	o, err := orderedjson.ParseObject(params)
	if err != nil {
		return params
	}
	value, ok := o.Lookup(lazyParam)
	if !ok || orderedjson.Kind(value) != "boolean" {
		return params
	}
	meta := object{}
	if raw, ok := o.Lookup(keyMeta); ok {
		if meta, err = orderedjson.ParseObject(raw); err != nil {
			return params
		}
	}
	return o.Without(lazyParam).With(keyMeta, meta.With(lazyKey, value).Bytes()).Bytes()
}

// withLazyParam wraps a transport so that moveLazyToMeta sees every tools/list, if the server is in lazy mode now. A
// later Reconfigure does not change an open connection.
func (s *Server) withLazyParam(t mcp.Transport) mcp.Transport {
	if s.live.Load().mode != Lazy {
		return t
	}
	return lazyParamTransport{t}
}

// lazyParamTransport is a transport whose connections apply moveLazyToMeta.
type lazyParamTransport struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t lazyParamTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return lazyParamConn{conn}, nil
}

// lazyParamConn applies moveLazyToMeta to what it reads.
type lazyParamConn struct{ mcp.Connection }

// Read implements mcp.Connection.
func (c lazyParamConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == listMethod {
		r.Params = moveLazyToMeta(r.Params)
	}
	return m, err
}

// readMessage reads the body of a request over HTTP, so that the SDK can read it again, and in lazy mode applies
// moveLazyToMeta. It answers 400 and returns false if the message nests too deep or holds too many values. A body that
// is no message, or too long, is left for the SDK to refuse.
func (s *Server) readMessage(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost || r.Body == nil {
		return true
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mcp.DefaultMaxRequestBodyBytes))
	if err != nil {
		r.Body = failedBody{bytes.NewReader(body), err, r.Body}
		return true
	}
	_ = r.Body.Close() // it has been read to its end
	if err := orderedjson.CheckBounds(body, orderedjson.MaxDepth, orderedjson.MaxValues); err != nil {
		msg, _ := messageOf(err)
		http.Error(w, msg, http.StatusBadRequest)
		return false
	}
	if s.live.Load().mode == Lazy {
		body = moveLazyInMessage(body)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return true
}

// moveLazyInMessage applies moveLazyToMeta to a whole message.
func moveLazyInMessage(body []byte) []byte {
	if !bytes.Contains(body, []byte(listMethod)) {
		return body
	}
	o, err := orderedjson.ParseObject(body)
	if err != nil {
		return body
	}
	if params, ok := o.Lookup("params"); ok {
		return o.With("params", moveLazyToMeta(params)).Bytes()
	}
	return body
}

// failedBody returns what could be read of a body, and then the error that stopped it, so that the SDK answers it.
type failedBody struct {
	read io.Reader
	err  error
	io.Closer
}

// Read implements io.Reader.
func (b failedBody) Read(p []byte) (int, error) {
	n, err := b.read.Read(p)
	if err == io.EOF {
		err = b.err
	}
	return n, err
}
