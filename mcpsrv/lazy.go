package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/limit"
	"tooldex/internal/orderedjson"
)

// A client in lazy mode gets full schemas if it says "lazy": false in the parameters of tools/list. Any client may give
// a query, a filter or an entity tag there, see list_query.go and list_tag.go. The SDK drops parameters that it does
// not know, so these are moved into _meta before the SDK reads the message. A client that can write only _meta may put
// them there itself.
const (
	listMethod = "tools/list"
	lazyKey    = "tooldex/lazy"
	queryKey   = "tooldex/query"
	filterKey  = "tooldex/filter"
	tagKey     = "tooldex/ifNoneMatch"
)

// ownListParams are the parameters of tools/list that only this server knows, with their keys in _meta.
var ownListParams = [...]struct{ param, key string }{
	{"lazy", lazyKey}, {"query", queryKey}, {"filter", filterKey}, {"ifNoneMatch", tagKey},
}

// wantsFullSchemas reports whether a client asks for full schemas.
func wantsFullSchemas(req *mcp.ListToolsRequest) bool {
	return req.Params != nil && req.Params.Meta[lazyKey] == false
}

// moveListParams returns the parameters of tools/list with our own ones moved into _meta. It returns anything it cannot
// read as it is.
func moveListParams(params json.RawMessage) json.RawMessage {
	named := false
	for _, own := range ownListParams {
		named = named || bytes.Contains(params, []byte(`"`+own.param+`"`))
	}
	if !named {
		return params
	}
	o, err := orderedjson.ParseObject(params)
	if err != nil {
		return params
	}
	meta := object{}
	if raw, ok := o.Lookup(keyMeta); ok {
		if meta, err = orderedjson.ParseObject(raw); err != nil {
			return params
		}
	}
	moved := false
	for _, own := range ownListParams {
		value, ok := o.Lookup(own.param)
		if !ok || own.key == lazyKey && orderedjson.Kind(value) != "boolean" {
			continue
		}
		o, meta, moved = o.Without(own.param), meta.With(own.key, value), true
	}
	if !moved {
		return params
	}
	return o.With(keyMeta, meta.Bytes()).Bytes()
}

// listParamTransport is a transport whose connections apply moveListParams.
type listParamTransport struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t listParamTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return listParamConn{conn}, nil
}

// listParamConn applies moveListParams to what it reads.
type listParamConn struct{ mcp.Connection }

// Read implements mcp.Connection.
func (c listParamConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == listMethod {
		r.Params = moveListParams(r.Params)
	}
	return m, err
}

// readMessage reads the body of a request over HTTP, so that the SDK can read it again, and applies moveListParams. It
// answers 400 and returns false if the message nests too deep, holds too many values, or is a batch of too many. A body
// that is no message, or too long, is left for the SDK to refuse. The answer is to be written to the writer that it
// returns.
func (s *Server) readMessage(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, bool) {
	if r.Method != http.MethodPost || r.Body == nil {
		return w, true
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mcp.DefaultMaxRequestBodyBytes))
	if err != nil {
		r.Body = failedBody{bytes.NewReader(body), err, r.Body}
		return w, true
	}
	_ = r.Body.Close() // it has been read to its end
	if err := orderedjson.CheckBounds(body, orderedjson.MaxDepth, orderedjson.MaxValues); err != nil {
		msg, _ := messageOf(err)
		http.Error(w, msg, http.StatusBadRequest)
		return w, false
	}
	n := batchLength(body)
	if n > maxMessages {
		http.Error(w, fmt.Sprintf("a batch has at most %d messages", maxMessages), http.StatusBadRequest)
		return w, false
	}
	if n > 1 {
		w = &batchWriter{w, limit.ShareOf(r.Context()), int64(n - 1)}
	}
	body = moveListParamsInMessage(body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return w, true
}

// maxMessages bounds the messages of a batch over HTTP, which were part of one revision of the protocol: all their
// answers wait for each other at one stream.
const maxMessages = 20

// batchLength returns how many messages a body has, if it is a batch.
func batchLength(body []byte) int {
	var batch []json.RawMessage
	if orderedjson.Kind(body) != "array" || json.Unmarshal(body, &batch) != nil {
		return 0
	}
	return len(batch)
}

// batchWriter writes the answers of a batch. While one is written the others wait, and count as long as that one.
type batchWriter struct {
	http.ResponseWriter
	share  limit.Share
	others int64
}

// Unwrap is for http.ResponseController.
func (w *batchWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements io.Writer.
func (w *batchWriter) Write(b []byte) (int, error) {
	n := w.others * int64(len(b))
	if !w.share.Begin(n) {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Unix(1, 0)) // the connection breaks
		return 0, errUnread
	}
	defer w.share.End(n)
	return w.ResponseWriter.Write(b)
}

// moveListParamsInMessage applies moveListParams to a whole message.
func moveListParamsInMessage(body []byte) []byte {
	if !bytes.Contains(body, []byte(listMethod)) {
		return body
	}
	o, err := orderedjson.ParseObject(body)
	if err != nil {
		return body
	}
	if params, ok := o.Lookup("params"); ok {
		return o.With("params", moveListParams(params)).Bytes()
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
