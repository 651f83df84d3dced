package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tooldex/enrich"
	"tooldex/service"
	"tooldex/tool"
)

// enrichFlags are the flags of enrich itself.
type enrichFlags struct {
	with, file   string
	pending, yes bool
	dryRun       bool
}

// enrichWith has a model write for the tools that search recognises least. It says what that costs and asks once. What
// passes the checks takes effect at once, or waits with --pending, or is written to --file for a person to apply.
func (a *app) enrichWith(ctx context.Context, f *enrichFlags) error {
	writer, err := a.openWriter(f.with)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, service.ToSearch)
	if err != nil {
		return err
	}
	defer a.close(s)
	e := enrich.New(s.Catalog)
	entries := e.UnfamiliarForm(a.limit)
	if len(entries) == 0 {
		fmt.Fprintln(a.stderr, "search recognises every tool, or has enough phrases for it")
		return silent(exitNone)
	}
	plan, err := enrich.MakePlan(entries)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s writes search phrases for %d tools of %d servers: about %d tokens to read and %d to write\n",
		writer.Name(), plan.Tools, plan.Servers, plan.Input, plan.Output)
	if f.dryRun {
		return a.print(plan, func(io.Writer) error { return nil })
	}
	if ok, err := a.confirmOnce("go on?", f.yes); err != nil || !ok {
		return err
	}
	p := a.newProgress()
	defer p.clearLine()
	update := func(done, total int) { p.update("writing with "+writer.Name(), done, total) }
	if f.file != "" {
		filled, failures, err := plan.Fill(ctx, writer, update)
		if err != nil {
			return err
		}
		a.reportRun(&enrich.Outcome{Failures: failures})
		return a.writeForm(f.file, filled)
	}
	out, err := e.Run(ctx, writer, plan, update)
	p.clearLine()
	if out != nil {
		a.reportRun(out)
	}
	switch {
	case err != nil:
		return err
	case len(out.Tools) == 0:
		return silent(exitNone)
	case f.pending:
		fmt.Fprintf(a.stderr, "%d texts wait: see tooldex enrich list, then tooldex enrich approve --all\n", out.Kept)
		return nil
	}
	return a.moveStored(ctx, s, out.Tools, moving{"enriched", (*enrich.Enricher).Approve, service.ToSearch})
}

// openWriter returns the writer of this name; without a name that of the configuration, or an installed agent.
func (a *app) openWriter(name string) (enrich.Writer, error) {
	w, err := service.OpenWriter(a.config(), name)
	if e := new(tool.Error); errors.As(err, &e) && e.Code == tool.Invalid {
		return nil, usageError{e.Msg, e.Hint}
	}
	return w, err
}

// reportRun prints what was refused, what failed and how many tools got nothing.
func (a *app) reportRun(out *enrich.Outcome) {
	for _, f := range out.Findings {
		fmt.Fprintln(a.stderr, makePrintable(f.String()))
	}
	for _, err := range out.Failures {
		a.log.Warn("a batch was not written", "error", err)
	}
	if n := len(out.Silent); n > 0 {
		fmt.Fprintf(a.stderr, "nothing was written for %d tools; run tooldex enrich again to continue with them\n", n)
	}
}
