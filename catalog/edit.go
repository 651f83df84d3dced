package catalog

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"tooldex/catalog/sources"
	"tooldex/tool"
)

// Patch returns what the stored overlay of this name says of a tool. It is a copy; one that changes nothing if the
// overlay does not speak of the tool, or is not there.
func (c *Catalog) Patch(overlay string, id tool.ID) (*sources.Patch, error) {
	for _, o := range c.st.Load().overlays {
		if o.Name == overlay && o.Tools[id] != nil {
			return o.Tools[id].Clone()
		}
	}
	return &sources.Patch{}, nil
}

// EditOverlay puts p in the place of what an overlay says of one tool, and leaves what it says of others. An overlay
// that is not there is made; a patch that changes nothing takes the tool out of it. Of edits at the same time, also by
// several processes, none is lost but of the same tool. The report is that of ApplyOverlay. The error is Invalid for a
// patch that the tool cannot take.
func (c *Catalog) EditOverlay(ctx context.Context, overlay string, id tool.ID, p *sources.Patch) (Report, error) {
	if p.Summary != nil {
		if err := tool.CheckSummary(id, *p.Summary); err != nil {
			return Report{}, err
		}
	}
	p, err := p.Clone()
	if err != nil {
		return Report{}, err
	}
	return c.changeOverlay(ctx, overlay, func(have *sources.Overlay) *sources.Overlay {
		next := &sources.Overlay{Name: overlay, Tools: map[tool.ID]*sources.Patch{}}
		if have != nil {
			next.Tools = maps.Clone(have.Tools)
		}
		if reflect.ValueOf(*p).IsZero() {
			delete(next.Tools, id)
		} else {
			next.Tools[id] = p
		}
		return next
	})
}

func (st *state) overlay(name string) *sources.Overlay {
	if i := slices.IndexFunc(st.overlays, func(o *sources.Overlay) bool { return o.Name == name }); i >= 0 {
		return st.overlays[i]
	}
	return nil
}
