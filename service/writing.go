package service

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tooldex/config"
	"tooldex/enrich"
	"tooldex/tool"
)

const writersHint = "name claude, codex, gemini, ollama:MODEL or command:LINE"

// OpenWriter returns the writer of search phrases with this name, or the configured one if name is empty: claude,
// codex, gemini, ollama:MODEL or command:LINE. Without either it is the first of the agents that is installed. The
// error is Invalid for another name or if no agent is installed, and NotFound if the named one is not.
func OpenWriter(c *config.Config, name string) (enrich.Writer, error) {
	name = cmp.Or(name, c.Enrich.With)
	if name == "" {
		if w, ok := enrich.FindAgent(); ok {
			return w, nil
		}
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "enrich", Msg: "no agent is installed that could write",
			Hint: "name a model, --with ollama:MODEL, or a program, --with command:LINE; or write yourself: tooldex enrich export",
		}
	}
	model, ok := strings.CutPrefix(name, "ollama:")
	if !ok || model == "" {
		w, err := enrich.OpenProgram(name)
		if tool.CodeOf(err) == tool.Invalid {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "enrich", Msg: fmt.Sprintf("%q cannot write search phrases", name), Hint: writersHint,
			}
		}
		return w, err
	}
	base, err := url.Parse(cmp.Or(OllamaURL(c.OllamaHost), "http://127.0.0.1:11434"))
	if err != nil || base.Host == "" {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "enrich", Msg: "OLLAMA_HOST is not an address", Hint: "give it like 127.0.0.1:11434",
		}
	}
	return enrich.NewOllamaWriter(base, model), nil
}

// maxNewPhrases bounds the tools for which phrases are written at one appearance of new tools, so that a server that
// lists thousands costs no fortune in tokens.
const maxNewPhrases = 60

// EnrichNew has phrases written for those of tools that search does not recognise, as the setting enrich.new asks: off
// writes none, pending keeps them for approval, on uses them at once. It reports whether the catalogue changed. It may
// take minutes. A failure is logged.
func (s *Service) EnrichNew(ctx context.Context, tools []tool.ID) (changed bool) {
	c := s.Config()
	if c.Enrich.New == "off" || c.Enrich.New == "" || s.scratch != "" {
		return false
	}
	e := enrich.New(s.Catalog)
	entries := slices.DeleteFunc(e.UnfamiliarForm(0), func(entry enrich.ProposalEntry) bool {
		return !slices.Contains(tools, entry.Tool)
	})
	if len(entries) == 0 {
		return false
	}
	if len(entries) > maxNewPhrases {
		s.o.Logger.Warn("more unfamiliar tools appeared than phrases are written for; tooldex enrich writes for the others",
			"tools", len(entries), "written for", maxNewPhrases)
		entries = entries[:maxNewPhrases]
	}
	out, err := s.writePhrases(ctx, c, e, entries)
	if err != nil && ctx.Err() == nil {
		s.o.Logger.Warn("search phrases for new tools could not be written", "error", err)
	}
	if out == nil || len(out.Tools) == 0 {
		return false
	}
	s.o.Logger.Info("search phrases were written for new tools", "tools", len(out.Tools), "phrases", out.Kept,
		"setting", c.Enrich.New)
	if c.Enrich.New != "on" {
		return false
	}
	if _, err := e.Approve(ctx, out.Tools...); err != nil {
		s.o.Logger.Warn("search phrases wait, since they could not be approved", "error", err)
		return false
	}
	return true
}

// writePhrases has the configured writer write for entries. What is written waits for approval.
func (s *Service) writePhrases(ctx context.Context, c *config.Config, e *enrich.Enricher,
	entries []enrich.ProposalEntry,
) (*enrich.Outcome, error) {
	w, err := OpenWriter(c, "")
	if err != nil {
		return nil, err
	}
	plan, err := enrich.MakePlan(entries)
	if err != nil {
		return nil, err
	}
	s.o.Logger.Info("writing search phrases for new tools", "with", w.Name(), "tools", plan.Tools, "tokens to read",
		plan.Input, "tokens to write", plan.Output)
	return e.Run(ctx, w, plan, nil)
}
