package main

import (
	"context"

	"tooldex/httpapi"
	"tooldex/tool"
)

// panelOverlay is the overlay that holds what people say of tools in the panel.
const panelOverlay = "panel"

// relatives is how many tools near one are named, where it names none itself.
const relatives = 6

// words keeps what people say of tools in an overlay of the catalogue, and tells what finds a tool.
type words struct {
	stack   *stack
	borrows bool
}

// Said implements httpapi.Overlays.
func (w words) Said(id tool.ID) (*httpapi.ToolOverlay, error) {
	p, err := w.stack.catalog.Patch(panelOverlay, id)
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

// Say implements httpapi.Overlays. Of what the overlay says otherwise, because somebody imported it, nothing is lost.
func (w words) Say(ctx context.Context, id tool.ID, o *httpapi.ToolOverlay) error {
	p, err := w.stack.catalog.Patch(panelOverlay, id)
	if err != nil {
		return err
	}
	p.Summary, p.Category, p.Enabled, p.Always, p.Borrow = o.Summary, o.Category, o.Enabled, o.Always, o.Borrow
	p.Synonyms, p.Examples, p.Utterances = o.Synonyms, o.Examples, nil
	for _, text := range o.Utterances {
		p.Utterances = append(p.Utterances, tool.Utterance{Text: text})
	}
	_, err = w.stack.catalog.EditOverlay(ctx, panelOverlay, id, p)
	return err
}

// Insight implements httpapi.Insight.
func (w words) Insight(ctx context.Context, id tool.ID) (*httpapi.ToolInsight, error) {
	t, ok := w.stack.catalog.Set().Get(id)
	if !ok {
		return &httpapi.ToolInsight{}, nil
	}
	lenders, err := w.stack.engine.Lenders(id)
	if err != nil {
		return nil, err
	}
	related := t.Related
	if len(related) == 0 {
		if related, err = w.stack.engine.Related(ctx, id, relatives); err != nil {
			return nil, err
		}
	}
	found := whatFinds(t, w.borrows, lenders)
	out := &httpapi.ToolInsight{Borrows: found.Borrows, Related: related}
	for _, s := range found.Sayings {
		out.Sayings = append(out.Sayings, httpapi.Saying{Kind: s.Kind, From: s.From, Text: s.Text, Lender: s.Lender})
	}
	for _, l := range found.Lenders {
		out.Lenders = append(out.Lenders, httpapi.Lender{
			Archetype: l.Archetype, Title: l.Title, Like: l.Like,
			Weight: l.Weight,
		})
	}
	if w.stack.learner != nil {
		out.Uses = hundredths(w.stack.learner.Uses(id))
	}
	return out, nil
}
