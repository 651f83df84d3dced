package service

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"tooldex/catalog"
	"tooldex/internal/orderedjson"
	"tooldex/internal/sanitize"
	"tooldex/selection"
	"tooldex/tool"
	"tooldex/trust"
	"tooldex/upstream"
)

// InspectFeatures decides which prompts and resources of servers are held. A failure is logged; what was not inspected
// is held.
func (s *Service) InspectFeatures(ctx context.Context, all []upstream.Features) {
	for _, f := range all {
		if err := inspectFeatures(ctx, s.Catalog, f); err != nil {
			s.o.Logger.Warn("what a server offers beside tools could not be looked at; it is held", "server", f.Server,
				"error", err)
		}
	}
}

// inspectFeatures has the catalogue decide about the features of a server that it does not know yet.
func inspectFeatures(ctx context.Context, c *catalog.Catalog, f upstream.Features) error {
	if c.TrustPolicy(f.Server) == trust.Off || c.Trust().InspectedFeatures(f) {
		return nil
	}
	return c.InspectFeatures(ctx, f)
}

// heldFeatures hides prompts and resources that are held, and cleans and marks the others. It is the only way from a
// view to what servers offer beside tools. It belongs to one view and is safe for concurrent use. Judging is cached by
// list and ledger, since clients list features often and they change rarely.
type heldFeatures struct {
	next    selection.Upstreams
	catalog *catalog.Catalog
	content *trust.Content
	logger  *slog.Logger

	mu     sync.Mutex
	served map[string]servedFeatures // by server
}

// servedFeatures is what is served of the features of a server, under one state of the trust.
type servedFeatures struct {
	from, to upstream.Features
	ledger   *trust.Ledger // nil for a trusted server
	held     map[string]string
}

// heldKey identifies a feature that is held.
func heldKey(k trust.Kind, name string) string { return string(k) + " " + name }

// Features implements selection.Upstreams.
func (h *heldFeatures) Features() []upstream.Features {
	all := h.next.Features()
	out := make([]upstream.Features, len(all))
	for i, f := range all {
		out[i] = h.serve(f).to
	}
	return out
}

// serve returns what is served of a server's features. What is new is inspected first.
func (h *heldFeatures) serve(f upstream.Features) servedFeatures {
	if len(f.Prompts)+len(f.Resources)+len(f.Templates) == 0 {
		return servedFeatures{from: f, to: f}
	}
	// Without the lock: inspecting may write to the store.
	ledger := h.ledgerOf(f)
	h.mu.Lock()
	last, ok := h.served[f.Server]
	h.mu.Unlock()
	if ok && last.ledger == ledger && sameItems(last.from.Prompts, f.Prompts) &&
		sameItems(last.from.Resources, f.Resources) && sameItems(last.from.Templates, f.Templates) {
		return last
	}
	now := servedFeatures{from: f, to: f, ledger: ledger, held: map[string]string{}}
	now.to.Prompts = now.serveItems(trust.Prompt, f.Prompts)
	now.to.Resources = now.serveItems(trust.Resource, f.Resources)
	now.to.Templates = now.serveItems(trust.Template, f.Templates)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.served == nil {
		h.served = map[string]servedFeatures{}
	}
	h.served[f.Server] = now
	return now
}

// ledgerOf returns what was decided about a server's features after they were inspected, nil for a trusted server.
func (h *heldFeatures) ledgerOf(f upstream.Features) *trust.Ledger {
	if h.catalog.TrustPolicy(f.Server) == trust.Off {
		return nil
	}
	if err := inspectFeatures(context.Background(), h.catalog, f); err != nil {
		h.logger.Warn("what a server offers beside tools could not be looked at; it is held", "server", f.Server,
			"error", err)
	}
	return h.catalog.Trust()
}

// sameItems reports whether two lists are the same list: the gateway replaces lists, and never changes them.
func sameItems(a, b []json.RawMessage) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// serveItems returns the items of a kind that are served, and notes those that are held.
func (s *servedFeatures) serveItems(k trust.Kind, items []json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	for _, raw := range items {
		form, ok := trust.FeatureForm(k, s.from.Server, raw)
		if !ok {
			continue
		}
		warning := ""
		if s.ledger != nil {
			var held string
			if held, warning = s.ledger.Feature(k, form); held != "" {
				s.held[heldKey(k, form.Tool.Name)] = held
				continue
			}
		}
		// cleaned after judging, because cleaning removes what makes an item suspicious
		raw = sanitize.Strings(raw)
		if warning != "" {
			raw = warnOfItem(raw, warning)
		}
		out = append(out, raw)
	}
	return out
}

// warnOfItem returns an item with a warning before its description.
func warnOfItem(raw json.RawMessage, warning string) json.RawMessage {
	o, err := orderedjson.ParseObject(raw)
	if err != nil {
		return raw
	}
	var description string
	said, _ := o.Lookup("description")
	_ = json.Unmarshal(said, &description) // what is no text is replaced
	return o.With("description", orderedjson.Encode(tool.WithCaution(warning, description))).Bytes()
}

// Forward implements selection.Upstreams. A request for something that is held is refused.
func (h *heldFeatures) Forward(ctx context.Context, r upstream.Request) (json.RawMessage, error) {
	if err := h.checkRequest(r); err != nil {
		return nil, err
	}
	raw, err := h.next.Forward(ctx, r)
	if err != nil {
		return nil, err
	}
	member := ""
	switch r.Method {
	case "prompts/get":
		member, raw = "messages", sanitize.Strings(raw)
	case "completion/complete":
		return sanitize.Strings(raw), nil
	case "resources/read":
		member = "contents"
	default:
		return raw, nil
	}
	// Contents come from servers as results of tools do, and are judged like them.
	raw, withheld := h.content.Judge(r.Server, member, raw, false)
	if withheld != "" {
		return nil, &tool.Error{Code: tool.Denied, Op: "forward", Msg: strings.TrimPrefix(withheld, "denied: ")}
	}
	return raw, nil
}

// checkRequest returns an error if a request asks for something that is held.
func (h *heldFeatures) checkRequest(r upstream.Request) error {
	var p struct {
		Name, URI string
		Ref       struct{ Type, Name, URI string }
	}
	policy := h.catalog.TrustPolicy(r.Server)
	if r.Server == "" || r.Method == "resources/unsubscribe" || policy == trust.Off ||
		json.Unmarshal(r.Params, &p) != nil {
		return nil
	}
	i := slices.IndexFunc(h.next.Features(), func(f upstream.Features) bool { return f.Server == r.Server })
	if i < 0 {
		return nil
	}
	served := h.serve(h.next.Features()[i])
	// requests name a prompt directly, or in ref for completions
	if name := p.Name + p.Ref.Name; name != "" {
		return served.checkHeld(trust.Prompt, name, name)
	}
	uri := p.URI + p.Ref.URI
	if err := served.checkHeld(trust.Resource, uri, uri); err != nil {
		return err
	}
	return served.checkTemplates(uri, policy)
}

// checkHeld returns a Denied error if a feature is held. What names it in the error.
func (s *servedFeatures) checkHeld(k trust.Kind, name, what string) error {
	why, held := s.held[heldKey(k, name)]
	if !held {
		return nil
	}
	return &tool.Error{
		Code: tool.Denied, Op: "forward", Msg: fmt.Sprintf("the %s %q is held until it is approved: %s", k, what, why),
		Hint: "a person reviews it with: tooldex servers review " + s.from.Server,
	}
}

// checkTemplates returns a Denied error for a URI that only a held template could have made, and under the policy
// Strict for any that was not approved. A URI that a served template fits is served.
func (s *servedFeatures) checkTemplates(uri string, policy trust.Policy) error {
	// A URI is compared with the listed resources first, then with the templates.
	fits := func(key string, items []json.RawMessage, match func(own, uri string) bool) bool {
		return slices.ContainsFunc(items, func(raw json.RawMessage) bool { return match(memberText(raw, key), uri) })
	}
	same := func(own, uri string) bool { return own == uri }
	if fits("uri", s.to.Resources, same) || fits("uriTemplate", s.to.Templates, upstream.FitsTemplate) {
		return nil
	}
	for _, raw := range s.from.Templates {
		if own := memberText(raw, "uriTemplate"); upstream.FitsTemplate(own, uri) {
			if err := s.checkHeld(trust.Template, own, uri); err != nil {
				return err
			}
		}
	}
	if policy == trust.Strict {
		return &tool.Error{
			Code: tool.Denied, Op: "forward", Msg: fmt.Sprintf("nobody has approved the resource %q", uri),
			Hint: "a person reviews what the server lists with: tooldex servers review " + s.from.Server,
		}
	}
	return nil
}

// memberText returns a member that is a text; "" if there is none.
func memberText(raw json.RawMessage, key string) string {
	o, err := orderedjson.ParseObject(raw)
	if err != nil {
		return ""
	}
	var text string
	value, _ := o.Lookup(key)
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}
