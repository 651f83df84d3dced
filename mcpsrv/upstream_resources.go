package mcpsrv

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/internal/orderedjson"
	"tooldex/upstream"
)

// listResources answers resources/list.
func (s *Server) listResources(r *mcp.ListResourcesRequest) (mcp.Result, error) {
	cursor := ""
	if r.Params != nil {
		cursor = r.Params.Cursor
	}
	return pageOf(r, "resources", s.uriEntries("uri", s.skillResources(), func(f upstream.Features) []json.RawMessage {
		return f.Resources
	}),
		cursor)
}

// listTemplates answers resources/templates/list.
func (s *Server) listTemplates(r *mcp.ListResourceTemplatesRequest) (mcp.Result, error) {
	cursor := ""
	if r.Params != nil {
		cursor = r.Params.Cursor
	}
	return pageOf(r, "resourceTemplates", s.uriEntries("uriTemplate", s.skillTemplates(), func(f upstream.Features) []json.RawMessage {
		return f.Templates
	}), cursor)
}

// uriEntries lists entries of our own, then the items of all servers that have a URI under key, each URI once.
// Everything but the URI stays as the server wrote it.
func (s *Server) uriEntries(key string, own []entry, items func(upstream.Features) []json.RawMessage) []entry {
	f := s.upstreamFeatures()
	out, seen := own, map[string]bool{}
	for _, e := range own {
		seen[e.key] = true
	}
	for _, one := range f.all {
		for _, raw := range items(one) {
			o, err := orderedjson.ParseObject(raw)
			uri := f.exposedURI(one.Server, stringMember(raw, key))
			if err != nil || stringMember(raw, key) == "" || seen[uri] {
				continue
			}
			seen[uri] = true
			out = append(out, entry{uri, o.With(key, orderedjson.Encode(uri)).Bytes()})
		}
	}
	return out
}

// readResource reads a resource of an upstream, a file of a skill, or the rest of a result that was cut. The URIs in
// the result are those that the client knows.
func (s *Server) readResource(ctx context.Context, r *mcp.ReadResourceRequest) (mcp.Result, error) {
	if rest, ok := s.kept.restOf(r.Params.URI, access.PrincipalOf(ctx).Key); ok {
		return &rawResult{raw: rest}, nil
	}
	if raw, err, ok := s.readSkill(r.Params.URI); ok {
		if err != nil {
			return nil, s.requestError(ctx, err)
		}
		return &rawResult{raw: raw}, nil
	}
	f := s.upstreamFeatures()
	server, own, err := f.resolveURI(r.Params.URI)
	if err != nil {
		return nil, err
	}
	raw, err := s.forwardRequest(ctx, r, r.Session, r.Params.Meta, server, "resources/read",
		object{jsonMember("uri", own)},
		retryInput(r.Params.InputResponses, r.Params.RequestState))
	if err != nil {
		return nil, err
	}
	if own != r.Params.URI {
		raw = renameContents(raw, func(uri string) string { return f.exposedURI(server, uri) })
	}
	return &rawResult{raw: raw}, nil
}

// renameContents changes the URIs in the result of a read. It returns a result of unexpected form as it is.
func renameContents(raw json.RawMessage, rename func(string) string) json.RawMessage {
	o, err := orderedjson.ParseObject(raw)
	if err != nil {
		return raw
	}
	list, _ := o.Lookup("contents")
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return raw
	}
	for i, item := range items {
		content, err := orderedjson.ParseObject(item)
		if uri := stringMember(item, "uri"); err == nil && uri != "" {
			items[i] = content.With("uri", orderedjson.Encode(rename(uri))).Bytes()
		}
	}
	return o.With("contents", joinArray(items)).Bytes()
}

// resourceKey identifies a resource by its server and that server's URI.
type resourceKey struct{ server, uri string }

// subscribeResource asks an upstream to announce changes of a resource. The SDK keeps the list of clients to notify,
// the session registry that of resources, so that the last client's end ends the upstream's subscription.
func (s *Server) subscribeResource(ctx context.Context, r *mcp.SubscribeRequest) error {
	server, own, err := s.upstreamFeatures().resolveURI(r.Params.URI)
	if err != nil {
		return err
	}
	key := resourceKey{server, own}
	s.sessions.addSubscription(r.Session, key, r.Params.URI) // before the upstream can announce a change
	_, err = s.forwardRequest(ctx, r, r.Session, r.Params.Meta, server, "resources/subscribe",
		object{jsonMember("uri", own)}, nil)
	if err != nil {
		s.sessions.dropSubscription(r.Session, key)
	}
	return err
}

// unsubscribeResource ends a client's subscription, and the upstream's if it was the last.
func (s *Server) unsubscribeResource(_ context.Context, r *mcp.UnsubscribeRequest) error {
	server, own, err := s.upstreamFeatures().resolveURI(r.Params.URI)
	if key := (resourceKey{server, own}); err == nil && s.sessions.dropSubscription(r.Session, key) {
		s.endSubscriptions([]resourceKey{key})
	}
	return nil
}

// endSubscriptions ends the upstreams' subscriptions to these resources. A failure is only logged: later announcements
// of the upstream then reach no client.
func (s *Server) endSubscriptions(keys []resourceKey) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.closing), announceTimeout)
	defer cancel()
	for _, key := range keys {
		_, err := s.o.Upstreams.Forward(ctx, upstream.Request{
			Server: key.server, Method: "resources/unsubscribe",
			Params: object{jsonMember("uri", key.uri)}.Bytes(),
		})
		if err != nil {
			s.o.Logger.Debug("subscription not ended", "server", key.server, "err", err)
		}
	}
}

// ResourceUpdated notifies the clients that subscribed to a server's resource that it changed. It may be called from
// any goroutine, and returns when the notifications are sent.
func (s *Server) ResourceUpdated(server, uri string) {
	for _, known := range s.sessions.urisOf(resourceKey{server, uri}) {
		if err := s.mcp.ResourceUpdated(s.closing, &mcp.ResourceUpdatedNotificationParams{URI: known}); err != nil {
			s.o.Logger.Debug("update of a resource not delivered", "err", err)
		}
	}
}
