package service

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/tool"
	"tooldex/upstream"
)

// PanelOverlay is the name of the overlay that holds what people change of single tools, in the panel and by command.
const PanelOverlay = "panel"

// SwitchTools enables or disables tools, by their names or IDs; "server/*" means all tools of a server. It returns the
// IDs in the order of names. The changes are stored in the overlay PanelOverlay: what one call disables, another
// enables again without a trace. Nothing is changed if a name is unknown, which is the error of Set.Resolve. The error
// is Invalid for a tool that another overlay keeps as it is.
func (s *Service) SwitchTools(ctx context.Context, names []string, enabled bool) ([]tool.ID, error) {
	set := s.Catalog.Set()
	ids := make([]tool.ID, len(names))
	for i, name := range names {
		if server, ok := strings.CutSuffix(name, "/"+sources.AllTools); ok {
			if !hasTools(set, server) {
				return nil, unknownServer("switch tools", server)
			}
			ids[i] = tool.MakeID(server, sources.AllTools)
			continue
		}
		t, err := set.Resolve(name)
		if err != nil {
			return nil, err
		}
		ids[i] = t.ID()
	}
	for _, id := range ids {
		if err := s.switchTool(ctx, id, enabled); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// switchTool enables or disables one tool, or all of a server. The patch says so only if the tool would otherwise be in
// the other state.
func (s *Service) switchTool(ctx context.Context, id tool.ID, enabled bool) error {
	says := []*bool{&enabled}
	if enabled {
		says = []*bool{nil, &enabled}
	}
	for _, say := range says {
		err := s.Catalog.EditOverlays(ctx, func(view catalog.View) []*sources.Overlay {
			next := &sources.Overlay{Name: PanelOverlay, Tools: map[tool.ID]*sources.Patch{}}
			if have := view.Overlay(PanelOverlay); have != nil {
				next = have.Clone()
			}
			for other, have := range next.Tools { // what was said of single tools ends with what is said of all
				if id.Name() == sources.AllTools && other.Server() == id.Server() && have.Enabled != nil {
					setEnabled(next, other, nil)
				}
			}
			setEnabled(next, id, say)
			return []*sources.Overlay{next}
		})
		if err != nil || s.isSwitched(id, enabled) {
			return err
		}
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "switch tool",
		Msg:  fmt.Sprintf("an overlay or the server itself decides whether %s is enabled", id),
		Hint: "correct the overlay and import it again, or enable the server",
	}
}

// setEnabled sets or removes what an overlay says of whether a tool is enabled. A patch that says nothing else is
// removed with it.
func setEnabled(o *sources.Overlay, id tool.ID, say *bool) {
	p := &sources.Patch{}
	if have := o.Tools[id]; have != nil {
		copied := *have // the patches of the catalogue are shared
		p = &copied
	}
	if p.Enabled = say; reflect.ValueOf(*p).IsZero() {
		delete(o.Tools, id)
		return
	}
	o.Tools[id] = p
}

// isSwitched reports whether a tool, or all tools of a server, are in a state.
func (s *Service) isSwitched(id tool.ID, enabled bool) bool {
	set := s.Catalog.Set()
	if t, ok := set.Get(id); ok {
		return t.Disabled != enabled
	}
	return !slices.ContainsFunc(set.All(), func(t *tool.Tool) bool {
		return t.Server == id.Server() && t.Disabled == enabled
	})
}

// SwitchServers enables or disables stored servers by name: a disabled one is not started, and its tools are disabled.
// Nothing is changed if a name is unknown, which is a NotFound error, or if it is of a server that is not stored, which
// is Invalid.
func (s *Service) SwitchServers(ctx context.Context, names []string, enabled bool) error {
	var changed []upstream.Server
	for _, name := range names {
		if err := s.checkStored("switch server", name); err != nil {
			return err
		}
		stored := s.Catalog.Servers()
		i := slices.IndexFunc(stored, isNamed(name))
		switch {
		case i < 0 && hasTools(s.Catalog.Set(), name):
			return &tool.Error{
				Code: tool.Invalid, Op: "switch server", Msg: name + " cannot be switched",
				Hint: "its tools come from a file: tooldex tools disable '" + name + "/*' disables them",
			}
		case i < 0:
			return unknownServer("switch server", name)
		}
		server := stored[i]
		server.Disabled = !enabled
		changed = append(changed, server)
	}
	return s.SaveServers(ctx, changed)
}

// hasTools reports whether tools of a server are known, disabled ones included.
func hasTools(set *tool.Set, server string) bool {
	return slices.ContainsFunc(set.All(), func(t *tool.Tool) bool { return t.Server == server })
}

// unknownServer returns the NotFound error for a server that does not exist.
func unknownServer(op, name string) error {
	return &tool.Error{
		Code: tool.NotFound, Op: op, Msg: fmt.Sprintf("there is no server named %q", name),
		Hint: "tooldex servers list shows them",
	}
}
