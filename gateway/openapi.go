package gateway

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/openapi"
	"tooldex/internal/ssrf"
)

// serveAPI reads the description of an API, and returns a connection to a server of its tools that runs in this
// process. ctx bounds the reading.
func (d *dialer) serveAPI(ctx context.Context, s *session, x *expandedServer) (mcp.Transport, error) {
	api, err := openapi.Open(ctx, openapi.Options{
		Server: d.cfg.Name, Source: x.openapi, Base: x.url, Auth: x.auth, Headers: x.headers,
		Tags: d.cfg.Tags, Paths: d.cfg.Paths, Transport: d.guardedTransport, Redact: x.redact.redactText,
		MaxResponse: int64(d.opts.maxMessage / 2), // bytes grow by a third in base64
	})
	if err != nil {
		return nil, err
	}
	fromUs, toAPI := io.Pipe()
	fromAPI, toUs := io.Pipe()
	s.api = make(chan struct{})
	go func() {
		defer close(s.api)
		_ = api.Serve(s.kept, fromUs, toUs) // it ends with the session, which says why
		_ = toUs.Close()
	}()
	s.conn = newStdioConn(fromAPI, toAPI, d.messageBounds(s), s.recorder, d.logger)
	return s.conn, nil
}

// guardedTransport reaches the host that a person named, and what is public. Without such a host nothing private is.
func (d *dialer) guardedTransport(home *url.URL) http.RoundTripper {
	guard := ssrf.NewGuard(d.guards.o)
	if home != nil {
		guard = d.guards.guardFor(home)
	}
	t := guard.Transport()
	t.MaxIdleConnsPerHost = d.opts.concurrency
	return t
}
