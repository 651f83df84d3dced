package enrich

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tooldex/catalog"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// toolsPerBatch bounds the tools of one prompt. They are of one server, so that the model can distinguish them.
const toolsPerBatch = 12

// What one tool costs beside its description, in tokens: the answer, as measured on answers of ten requests and eight
// synonyms. A token is taken for four characters.
const (
	answerTokens       = 260
	charactersPerToken = 4
)

// Plan is what a run would ask a model.
type Plan struct {
	Tools   int `json:"tools"`
	Servers int `json:"servers"`
	// Input and Output estimate the tokens that the model reads and writes. Agents add their own instructions to each
	// of the batches.
	Input   int               `json:"inputTokens"`
	Output  int               `json:"outputTokens"`
	Batches [][]ProposalEntry `json:"-"`
}

// EmptyForm returns entries without texts for some tools, in their order.
func EmptyForm(tools []*tool.Tool) []ProposalEntry {
	out := make([]ProposalEntry, len(tools))
	for i, t := range tools {
		const enough = 600 // bytes of a description, which say what the tool is for
		description := t.Description
		if len(description) > enough {
			description = strings.ToValidUTF8(description[:enough], "") + "…"
		}
		out[i] = ProposalEntry{
			Proposal: tool.Proposal{Tool: t.ID(), Utterances: []string{}}, Description: description,
		}
		for _, p := range t.Parameters() {
			out[i].Parameters = append(out[i].Parameters, p.Name)
		}
	}
	return out
}

// MakePlan divides entries into batches by server. Sorting is stable, so the least familiar tools of a server stay
// first.
func MakePlan(entries []ProposalEntry) (*Plan, error) {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b ProposalEntry) int {
		return cmp.Compare(a.Tool.Server(), b.Tool.Server())
	})
	p := &Plan{Tools: len(sorted)}
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && n < toolsPerBatch && sorted[n].Tool.Server() == sorted[0].Tool.Server() {
			n++
		}
		if len(p.Batches) == 0 || p.Batches[len(p.Batches)-1][0].Tool.Server() != sorted[0].Tool.Server() {
			p.Servers++
		}
		p.Batches = append(p.Batches, sorted[:n:n])
		prompt, err := makePrompt(sorted[:n])
		if err != nil {
			return nil, err
		}
		p.Input += len(prompt) / charactersPerToken
		p.Output += n * answerTokens
		sorted = sorted[n:]
	}
	return p, nil
}

// Fill has a model write for the tools of a plan, and returns the filled form and what failed. It stores nothing. The
// error is that of ctx, or of the model if the first batch fails.
func (p *Plan) Fill(ctx context.Context, w Writer, progress func(done, total int)) (filled []ProposalEntry,
	failures []error, err error,
) {
	for _, batch := range p.Batches {
		if err := w.Write(ctx, batch); err != nil {
			// A model that fails at once is not installed or not logged in.
			if len(filled) == 0 || ctx.Err() != nil {
				return nil, nil, err
			}
			failures = append(failures, err)
		}
		if filled = append(filled, batch...); progress != nil {
			progress(len(filled), p.Tools)
		}
	}
	return filled, failures, nil
}

// Outcome is the result of a run.
type Outcome struct {
	Kept     int                // utterances and synonyms that were stored
	Tools    []tool.ID          // tools for which some were
	Findings []sanitize.Finding // what was refused
	Silent   []tool.ID          // tools for which the model wrote nothing, or whose batch failed
	Failures []error            // of batches
}

// maxFailures is how many batches in a row may fail before a run ends.
const maxFailures = 2

// Run has a model write for the tools of a plan, batch by batch, and stores each answer as a proposal that waits. A run
// that is interrupted keeps what it has stored, and Unfamiliar leaves those tools out of the next. Run calls progress,
// if it is not nil, after each batch. The error is that of the store, of ctx, or of the model if nothing was kept.
func (e *Enricher) Run(ctx context.Context, w Writer, p *Plan, progress func(done, total int)) (*Outcome, error) {
	out, failed, done := &Outcome{}, 0, 0
	for _, batch := range p.Batches {
		err := w.Write(ctx, batch)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			out.Failures = append(out.Failures, err)
			// failures in a row, since a single one may be an answer in the wrong form
			if failed++; failed >= maxFailures {
				break
			}
		} else {
			failed = 0
			if err := e.keep(ctx, batch, out); err != nil {
				return out, err
			}
		}
		if done += len(batch); progress != nil {
			progress(done, p.Tools)
		}
	}
	for _, batch := range p.Batches {
		for _, entry := range batch {
			if len(entry.Utterances) == 0 {
				out.Silent = append(out.Silent, entry.Tool)
			}
		}
	}
	if out.Kept == 0 && len(out.Failures) > 0 {
		return out, out.Failures[0]
	}
	return out, nil
}

// keep stores what was written for a batch.
func (e *Enricher) keep(ctx context.Context, batch []ProposalEntry, out *Outcome) error {
	var proposals []tool.Proposal
	for _, entry := range batch {
		if len(entry.Utterances) > 0 {
			proposals = append(proposals, entry.Proposal)
		}
	}
	kept, findings, err := e.Propose(ctx, proposals, nil)
	if err != nil {
		return err
	}
	out.Kept += kept
	out.Findings = append(out.Findings, findings...)
	view := e.catalog.View()
	pending := overlayOf(view, pendingOverlay)
	for _, p := range proposals {
		if pending.Tools[p.Tool] != nil {
			out.Tools = append(out.Tools, p.Tool)
		}
	}
	return nil
}

// UnfamiliarForm returns an empty form for the n least familiar tools; 0 means all.
func (e *Enricher) UnfamiliarForm(n int) []ProposalEntry {
	view := e.catalog.View()
	var tools []*tool.Tool
	for _, one := range e.Unfamiliar(n) {
		if t, ok := viewTool(view, one.ID); ok {
			tools = append(tools, t)
		}
	}
	return EmptyForm(tools)
}

// viewTool returns a served tool of a view by its ID.
func viewTool(view catalog.View, id tool.ID) (*tool.Tool, bool) {
	tools := view.Tools()
	i, ok := slices.BinarySearchFunc(tools, id, func(t *tool.Tool, id tool.ID) int { return cmp.Compare(t.ID(), id) })
	if !ok {
		return nil, false
	}
	return tools[i], true
}
