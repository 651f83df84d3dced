package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tooldex/tool"
)

// recordingTransport is the http.RoundTripper of one session. It adds the configured headers, passes every request and
// every message in a response to the recorder, and bounds the size of responses. It has to be here and not around the
// SDK's connection: the SDK passes the session to its own HTTP connection by an unexported method, which a wrapper
// would hide.
type recordingTransport struct {
	base     http.RoundTripper
	alive    context.Context // ends when the server is given up, and all requests with it
	recorder *wireRecorder
	origin   *url.URL // where the headers may go
	headers  map[string]string
	tokens   bearer // nil if the headers hold what it takes
	messageBounds
}

// sessionHeader carries the session ID of streamable HTTP.
const sessionHeader = "Mcp-Session-Id"

// RoundTrip implements http.RoundTripper.
func (h *recordingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := captureFrom(req.Context())
	if req.Method != http.MethodPost {
		c = nil // streams and farewells say nothing about a call
	}
	req = h.prepareRequest(req)
	msg, err := h.recordRequest(req)
	if err != nil {
		return nil, err
	}
	defer h.recorder.recordAnswer(msg)
	resp, err := h.sendAuthorized(req)
	if err != nil {
		var own *tool.Error
		if refused := (bearerError{}); errors.As(err, &refused) {
			h.recorder.updateCapture(c, func(c *capture) { c.refused = refused.error })
			return nil, err
		}
		if errors.As(err, &own) { // from the guard of addresses
			h.recorder.updateCapture(c, func(c *capture) { c.redirected = own })
			return nil, err
		}
		if dial := (*net.OpError)(nil); !errors.As(err, &dial) || dial.Op != "dial" {
			h.recorder.updateCapture(c, func(c *capture) { c.sent = true })
		}
		return nil, err
	}
	if resp.StatusCode >= 400 {
		err := h.statusError(req, resp, c)
		return resp, err
	}
	h.recorder.updateCapture(c, func(c *capture) { c.sent, c.status = true, resp.StatusCode })
	switch mediaType(resp.Header) {
	case "text/event-stream":
		resp.Body = newEventFilter(resp.Body, h.messageBounds, h.recorder)
	case "application/json":
		resp.Body = &jsonBody{body: resp.Body, messageBounds: h.messageBounds, recorder: h.recorder}
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
	}
	return resp, nil
}

// sendAuthorized sends a request with the access token of a login, if there is one, to the configured origin alone.
// After status 401 it renews the token and sends the request again, once. A body that cannot be read again is not
// repeated.
func (h *recordingTransport) sendAuthorized(req *http.Request) (*http.Response, error) {
	if h.tokens == nil || !sameOrigin(req.URL, h.origin) {
		return h.sendRequest(req)
	}
	token, err := h.tokens.accessToken(req.Context(), "")
	if err != nil {
		return nil, bearerError{err}
	}
	if token == "" {
		return h.sendRequest(req)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := h.sendRequest(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil {
		return resp, err
	}
	fresh, err := h.tokens.accessToken(req.Context(), token)
	if err == nil && fresh == "" {
		return resp, nil
	}
	_ = resp.Body.Close()
	if err != nil {
		return nil, bearerError{err}
	}
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
	}
	again.Header.Set("Authorization", "Bearer "+fresh)
	return h.sendRequest(again)
}

// sendRequest sends a request so that it ends with the session. The SDK's last requests have contexts of their own, and
// would wait seconds for a server that does not answer. The response's body releases the context when it is closed.
func (h *recordingTransport) sendRequest(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	unlink := context.AfterFunc(h.alive, cancel)
	release := func() {
		unlink()
		cancel()
	}
	resp, err := h.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	resp.Body = &releasingBody{resp.Body, release}
	return resp, nil
}

// releasingBody calls release when it is closed.
type releasingBody struct {
	io.ReadCloser
	release func()
}

func (b *releasingBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// prepareRequest returns a copy of the request with the configured headers. They may hold credentials, so a request to
// another origin, after a redirect or an endpoint event, goes without them, and without the session ID.
func (h *recordingTransport) prepareRequest(req *http.Request) *http.Request {
	req = req.Clone(req.Context())
	if !sameOrigin(req.URL, h.origin) {
		req.Header.Del("Referer") // the query of the address that was configured may hold a credential, too
		req.Header.Del(sessionHeader)
		return req
	}
	for name, value := range h.headers {
		// net/http ignores a Host header in favour of this field.
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	return req
}

// sameOrigin compares scheme and host with port as they are written: a default port that only one of them names
// differs.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host)
}

// recordRequest passes the message in a request's body to the recorder, and returns it; nil if there is none. It reads
// a copy, so that the body can still be sent.
func (h *recordingTransport) recordRequest(req *http.Request) (jsonrpc.Message, error) {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return nil, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, nil // the SDK wrote it; what it sends beside messages is not recorded
	}
	h.recorder.recordOutgoing(req.Context(), msg)
	return msg, nil
}

// maxRefusal is how much is read of the body of a response that refuses a request.
const maxRefusal = 64 << 10

// statusError notes in c why a request was not accepted, and leaves the body readable. Servers report an unknown
// session in different ways: 404 is the rule, some send it with a JSON-RPC error that makes the SDK keep the session,
// some send 400 and name the session in the text.
func (h *recordingTransport) statusError(req *http.Request, resp *http.Response, c *capture) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	_ = resp.Body.Close()
	if err != nil {
		return fmt.Errorf("read response: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	// the latter over SSE
	known := req.Header.Get(sessionHeader) != "" || strings.Contains(strings.ToLower(req.URL.RawQuery), "session")
	gone := resp.StatusCode == http.StatusNotFound ||
		resp.StatusCode == http.StatusBadRequest && bytes.Contains(bytes.ToLower(body), []byte("session"))
	h.recorder.updateCapture(c, func(c *capture) {
		c.status = resp.StatusCode
		c.gone = known && gone
		// A gateway's or a server's own failure may have come after the call was begun.
		c.sent = c.sent || resp.StatusCode >= 500
	})
	return nil
}

// mediaType returns the type in lower case, without parameters, or "" if it cannot be parsed.
func mediaType(h http.Header) string {
	m, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return m
}

// jsonBody is a response body of one JSON-RPC message. The first Read reads all of it, since the message may have to be
// replaced as a whole.
type jsonBody struct {
	body io.ReadCloser
	messageBounds
	recorder *wireRecorder
	out      *bytes.Reader // nil before the first Read
}

// Read implements io.Reader.
func (b *jsonBody) Read(p []byte) (int, error) {
	if b.out == nil {
		data, err := b.loadBytes()
		if err != nil {
			return 0, err
		}
		b.out = bytes.NewReader(data)
	}
	return b.out.Read(p)
}

// loadBytes returns the bytes that the SDK is to see: the server's, or those of a message in their place.
func (b *jsonBody) loadBytes() ([]byte, error) {
	data, held, over, err := b.readMessage()
	defer func() { held.end() }()
	if err != nil {
		return nil, err
	}
	if over != nil {
		n, err := io.CopyN(&over.ids, b.body, int64(b.skip))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		over.size += int(n)
		over.log(b.recorder.logger, b.limit)
		resp := over.errorResponse(b.limit)
		if resp == nil {
			return nil, fmt.Errorf("response of %d bytes or more, more than the %d allowed", over.size, b.limit)
		}
		return jsonrpc.EncodeMessage(resp)
	}
	data = bytes.TrimSpace(data)
	msg, err := decodeMessage(data)
	if err != nil {
		if resp := b.recorder.repairResponse(data, err); resp != nil {
			return jsonrpc.EncodeMessage(resp)
		}
		return data, nil // the SDK will say what is wrong with it
	}
	if seen := b.recorder.recordIncoming(msg, &held); seen != nil && seen != msg {
		return jsonrpc.EncodeMessage(seen)
	}
	return data, nil
}

// readMessage reads the body, up to its end or the bounds.
func (b *jsonBody) readMessage() (data []byte, held heldBytes, over *oversizedMessage, err error) {
	message, part := messageBuffer{held: heldBytes{room: b.room}}, make([]byte, 32<<10)
	for {
		n, err := b.body.Read(part)
		switch {
		case len(message.data)+n > b.limit:
			return nil, heldBytes{}, message.give(part[:n], false), nil
		case !message.add(part[:n], b.limit):
			return nil, heldBytes{}, message.give(part[:n], true), nil
		case errors.Is(err, io.EOF):
			return message.bytes(), message.held.take(), nil, nil
		case err != nil:
			return nil, message.held.take(), nil, err
		}
	}
}

// Close implements io.Closer.
func (b *jsonBody) Close() error { return b.body.Close() }
