package mcpsrv

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

func (s *Server) listResources(r *mcp.ListResourcesRequest) (mcp.Result, error) {
	cursor := ""
	if r.Params != nil {
		cursor = r.Params.Cursor
	}
	return pageOf(r, "resources", s.uriEntries("uri", func(f tool.Features) []json.RawMessage { return f.Resources }),
		cursor)
}

func (s *Server) listTemplates(r *mcp.ListResourceTemplatesRequest) (mcp.Result, error) {
	cursor := ""
	if r.Params != nil {
		cursor = r.Params.Cursor
	}
	return pageOf(r, "resourceTemplates", s.uriEntries("uriTemplate", func(f tool.Features) []json.RawMessage {
		return f.Templates
	}), cursor)
}

// uriEntries lists what servers offer under URIs. All but the URI stays as the server wrote it.
func (s *Server) uriEntries(key string, items func(tool.Features) []json.RawMessage) []entry {
	f := s.features()
	var out []entry
	seen := map[string]bool{}
	for _, one := range f.all {
		for _, raw := range items(one) {
			o, err := parseObject(raw)
			uri := f.exposedURI(one.Server, stringMember(raw, key))
			if err != nil || stringMember(raw, key) == "" || seen[uri] {
				continue
			}
			seen[uri] = true
			out = append(out, entry{uri, o.with(key, encodeJSON(uri)).bytes()})
		}
	}
	return out
}

// readResource reads a resource of an upstream. The URIs in the result are those that the client knows.
func (s *Server) readResource(ctx context.Context, r *mcp.ReadResourceRequest) (mcp.Result, error) {
	f := s.features()
	server, own, err := f.resolveURI(r.Params.URI)
	if err != nil {
		return nil, err
	}
	raw, err := s.forwardRequest(ctx, r, r.Session, r.Params.Meta, server, "resources/read", object{{"uri", encodeJSON(own)}},
		retryInput(r.Params.InputResponses, r.Params.RequestState))
	if err != nil {
		return nil, err
	}
	if own != r.Params.URI {
		raw = renameContents(raw, func(uri string) string { return f.exposedURI(server, uri) })
	}
	return &rawResult{raw: raw}, nil
}

// renameContents changes the URIs of what was read. A result that is not as expected stays as it is.
func renameContents(raw json.RawMessage, rename func(string) string) json.RawMessage {
	o, err := parseObject(raw)
	if err != nil {
		return raw
	}
	list, _ := o.get("contents")
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return raw
	}
	for i, item := range items {
		content, err := parseObject(item)
		if uri := stringMember(item, "uri"); err == nil && uri != "" {
			items[i] = content.with("uri", encodeJSON(rename(uri))).bytes()
		}
	}
	return o.with("contents", slices.Concat(json.RawMessage("["), joinRaw(items), json.RawMessage("]"))).bytes()
}

// subscriptions tells which connections want to hear of which resource of an upstream, by the URIs under which they
// asked. The zero value is ready.
type subscriptions struct {
	mu  sync.Mutex
	all map[resourceKey]map[*mcp.ServerSession]string
}

type resourceKey struct{ server, uri string }

// add notes a subscription, and reports whether it is the connection's first.
func (l *subscriptions) add(key resourceKey, conn *mcp.ServerSession, uri string) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first = true
	for _, conns := range l.all {
		if _, ok := conns[conn]; ok {
			first = false
		}
	}
	if l.all == nil {
		l.all = map[resourceKey]map[*mcp.ServerSession]string{}
	}
	if l.all[key] == nil {
		l.all[key] = map[*mcp.ServerSession]string{}
	}
	l.all[key][conn] = uri
	return first
}

// remove forgets a subscription, and reports whether nobody else has the like.
func (l *subscriptions) remove(key resourceKey, conn *mcp.ServerSession) (last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, had := l.all[key][conn]
	delete(l.all[key], conn)
	if len(l.all[key]) > 0 {
		return false
	}
	delete(l.all, key)
	return had
}

// keysOf returns what a connection has subscribed to.
func (l *subscriptions) keysOf(conn *mcp.ServerSession) []resourceKey {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []resourceKey
	for key, conns := range l.all {
		if _, ok := conns[conn]; ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// urisOf returns under which URIs clients know a resource.
func (l *subscriptions) urisOf(key resourceKey) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var uris []string
	for _, uri := range l.all[key] {
		if !slices.Contains(uris, uri) {
			uris = append(uris, uri)
		}
	}
	return uris
}

// subscribe has an upstream tell of changes of a resource. The SDK keeps the list of whom to tell.
func (s *Server) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	server, own, err := s.features().resolveURI(r.Params.URI)
	if err != nil {
		return err
	}
	key := resourceKey{server, own}
	if s.subscriptions.add(key, r.Session, r.Params.URI) { // before the upstream can tell of anything
		s.sessions.begin(func() {
			_ = r.Session.Wait() // however it ended
			for _, key := range s.subscriptions.keysOf(r.Session) {
				s.endSubscription(ctx, key, r.Session)
			}
		})
	}
	_, err = s.forwardRequest(ctx, r, r.Session, r.Params.Meta, server, "resources/subscribe",
		object{{"uri", encodeJSON(own)}}, nil)
	if err != nil {
		s.subscriptions.remove(key, r.Session)
	}
	return err
}

func (s *Server) unsubscribe(ctx context.Context, r *mcp.UnsubscribeRequest) error {
	server, own, err := s.features().resolveURI(r.Params.URI)
	if err == nil {
		s.endSubscription(ctx, resourceKey{server, own}, r.Session)
	}
	return nil
}

// endSubscription tells the upstream when nobody wants to hear of a resource any more. Whether it takes that is its own
// affair: what it still tells goes to nobody.
func (s *Server) endSubscription(ctx context.Context, key resourceKey, conn *mcp.ServerSession) {
	if !s.subscriptions.remove(key, conn) {
		return
	}
	// it may be what ended that ends this
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceTimeout)
	defer cancel()
	_, err := s.o.Upstreams.Forward(ctx, tool.Request{
		Server: key.server, Method: "resources/unsubscribe",
		Params: object{{"uri", encodeJSON(key.uri)}}.bytes(),
	})
	if err != nil {
		s.o.Logger.Debug("subscription not ended", "server", key.server, "err", err)
	}
}

// ResourceUpdated tells those clients that have subscribed to a resource of a server that it changed. It may be called
// from any goroutine, and returns when they have been told.
func (s *Server) ResourceUpdated(server, uri string) {
	for _, known := range s.subscriptions.urisOf(resourceKey{server, uri}) {
		if err := s.mcp.ResourceUpdated(s.closing, &mcp.ResourceUpdatedNotificationParams{URI: known}); err != nil {
			s.o.Logger.Debug("update of a resource not delivered", "err", err)
		}
	}
}
