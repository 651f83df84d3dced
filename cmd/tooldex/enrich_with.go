package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"tooldex/enrich"
	"tooldex/service"
)

// enrichWith makes a chat model fill in the form, and writes it for a person to review and apply. A tool for which the
// model fails is left empty, unless it is the first: then the model does not work at all.
func (a *app) enrichWith(ctx context.Context, with, file string) error {
	model, ok := strings.CutPrefix(with, "ollama:")
	if !ok || model == "" {
		return usageError{fmt.Sprintf("%q is no model that can write", with), "name a chat model of an Ollama " +
			"server: --with ollama:MODEL"}
	}
	base, err := url.Parse(cmp.Or(service.OllamaURL(a.config().OllamaHost), "http://127.0.0.1:11434"))
	if err != nil || base.Host == "" {
		return usageError{"OLLAMA_HOST is not an address", "give it like 127.0.0.1:11434"}
	}
	s, err := a.open(ctx, service.ToChange)
	if err != nil {
		return err
	}
	defer a.close(s)
	entries, err := a.emptyForm(s, nil)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		fmt.Fprintln(a.stderr, "every tool is of a known kind, or has requests enough")
		return silent(exitNone)
	}
	w := enrich.NewOllamaWriter(base, model)
	p := a.newProgress()
	defer p.clearLine()
	for i := range entries {
		if err := w.Write(ctx, &entries[i]); err != nil {
			if i == 0 || ctx.Err() != nil {
				return err
			}
			a.log.Warn("no requests for a tool", "tool", entries[i].Tool, "error", err)
		}
		p.update("writing requests with "+with, i+1, len(entries))
	}
	p.clearLine()
	return a.writeForm(file, entries)
}
