package serve

import (
	"context"

	"tooldex/httpapi"
	"tooldex/service"
	"tooldex/tool"
)

// relatedTools is how many similar tools are listed for a tool that declares none.
const relatedTools = 6

// overlayEditor stores what people change of tools in an overlay of the catalogue, and lists the phrases that find a
// tool.
type overlayEditor struct{ *service.Service }

// Said implements httpapi.Overlays.
func (e overlayEditor) Said(id tool.ID) (*httpapi.ToolOverlay, error) {
	p, err := e.Catalog.Patch(service.PanelOverlay, id)
	if err != nil {
		return nil, err
	}
	o := &httpapi.ToolOverlay{
		Summary: p.Summary, Category: p.Category, Enabled: p.Enabled, Always: p.Always, Borrow: p.Borrow,
		Synonyms: p.Synonyms, Examples: p.Examples,
	}
	for _, u := range p.Utterances {
		o.Utterances = append(o.Utterances, u.Text)
	}
	return o, nil
}

// Say implements httpapi.Overlays. It replaces the fields that the panel edits and keeps all others, which an imported
// overlay of the same name may have set.
func (e overlayEditor) Say(ctx context.Context, id tool.ID, o *httpapi.ToolOverlay) error {
	p, err := e.Catalog.Patch(service.PanelOverlay, id)
	if err != nil {
		return err
	}
	p.Summary, p.Category, p.Enabled, p.Always, p.Borrow = o.Summary, o.Category, o.Enabled, o.Always, o.Borrow
	p.Synonyms, p.Examples, p.Utterances = o.Synonyms, o.Examples, nil
	for _, text := range o.Utterances {
		p.Utterances = append(p.Utterances, tool.Utterance{Text: text})
	}
	_, err = e.Catalog.EditOverlay(ctx, service.PanelOverlay, id, p)
	return err
}

// Insight implements httpapi.Insight. For a tool that does not exist it returns an empty value, and no error.
func (e overlayEditor) Insight(ctx context.Context, id tool.ID) (*httpapi.ToolInsight, error) {
	t, ok := e.Catalog.Set().Get(id)
	if !ok {
		return &httpapi.ToolInsight{}, nil
	}
	found, err := e.Phrases(t)
	if err != nil {
		return nil, err
	}
	out := &httpapi.ToolInsight{Borrows: found.Borrows, Related: t.Related}
	if len(out.Related) == 0 {
		if out.Related, err = e.Engine.Related(ctx, id, relatedTools); err != nil {
			return nil, err
		}
	}
	for _, p := range found.Phrases {
		out.Sayings = append(out.Sayings, httpapi.Saying(p))
	}
	for _, l := range found.Lenders {
		out.Lenders = append(out.Lenders, httpapi.Lender(l))
	}
	return out, nil
}
