package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/internal/sanitize"
	"tooldex/search"
	"tooldex/service"
	"tooldex/tool"
)

// searchFlags are the flags of search as typed; empty fields restrict nothing.
type searchFlags struct {
	mode, detail            string
	servers, categories     []string
	readOnly, explain, each bool
}

func newSearch(a *app) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find the tools that serve a request",
		Long: "Find the tools that serve a request. Several words make one request; with --each every argument is a\n" +
			"separate request, answered in its own group.",
		Example: "  tooldex search open a merge proposal\n  tooldex search --demo --each 'read a file' 'send a message' -o json",
		Args:    checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := f.query(args, a.limit)
			if err != nil {
				return err
			}
			s, err := a.open(cmd.Context(), service.ToSearch)
			if err != nil {
				return err
			}
			defer a.close(s)
			res, err := s.Search(cmd.Context(), q)
			if tool.CodeOf(err) == tool.Invalid { // the filter names something that does not exist
				return asUsageError(err)
			} else if err != nil {
				return err
			}
			return a.printResult(s, res)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "mode", "", "hybrid (default), keyword or semantic")
	fl.StringVar(&f.detail, "detail", "", "name, summary (default), signature or schema")
	fl.StringSliceVar(&f.servers, "server", nil, "only tools of this server; may be repeated")
	fl.StringSliceVar(&f.categories, "category", nil, "only tools of this category; may be repeated")
	fl.BoolVar(&f.readOnly, "read-only", false, "only tools that are annotated as changing nothing")
	fl.BoolVar(&f.explain, "explain", false, "explain each score")
	fl.BoolVar(&f.each, "each", false, "every argument is a separate request")
	a.limitFlag(cmd, "how many tools to show (default 5)")
	return cmd
}

// query returns the query that the flags and arguments describe. Its errors are usage errors.
func (f *searchFlags) query(args []string, limit int) (tool.Query, error) {
	q := tool.Query{
		Limit: limit, Explain: f.explain, Mode: tool.Mode(f.mode), Detail: tool.Detail(f.detail),
		Filter: tool.Filter{Servers: f.servers, Categories: f.categories, ReadOnly: f.readOnly},
	}
	if f.each && len(args) > 1 {
		q.Texts = args
	} else {
		q.Text = strings.Join(args, " ")
	}
	if limit > tool.MaxLimit {
		return q, usageError{fmt.Sprintf("limit %d is too high", limit), fmt.Sprintf("give at most %d", tool.MaxLimit)}
	}
	return q, asUsageError(q.Validate())
}

// printResult prints an answer, and returns exit code 3 if nothing was found.
func (a *app) printResult(s *service.Service, res *tool.Result) error {
	err := a.print(res, func(w io.Writer) error {
		groups := res.Groups
		if len(groups) == 0 {
			groups = []tool.Group{{Tools: res.Tools, Confident: res.Confident, Advice: res.Advice}}
		}
		for i, g := range groups {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if len(res.Groups) > 0 {
				fmt.Fprintf(w, "%s:\n", makePrintable(g.Query))
			}
			if err := hitTable(w, g.Tools, g.Confident, g.Advice); err != nil {
				return err
			}
		}
		return writeColumns(w, nil, service.SkillRows(res.Skills))
	})
	switch {
	case err != nil:
		return err
	// An empty catalogue explains an empty answer better than the advice in it.
	case s.Catalog.Set().Len()+len(res.Skills) == 0:
		fmt.Fprintf(a.stderr, "no tools are stored yet\nhint: %s\n", importHint)
	case res.Degraded != "":
		fmt.Fprintln(a.stderr, "searched by words only: "+makePrintable(res.Degraded))
	}
	if a.format == "table" {
		a.printDemoHint()
	}
	if len(res.Tools)+len(res.Skills) == 0 {
		return silent(exitNone)
	}
	return nil
}

// hitTable prints hits, best first, with the advice above them if the answer is not confident. The table has what all
// hits have; warnings, other servers and explanations follow it by tool.
func hitTable(w io.Writer, hits []tool.Hit, confident bool, advice *tool.Advice) error {
	rows := make([][]string, len(hits))
	for i, h := range hits {
		about := h.Summary
		switch {
		case h.Signature != "":
			about = h.Signature
		case h.Schema != nil:
			about = fmt.Sprintf("%s", h.Schema)
		}
		about = sanitize.MarkSummary(about, h.Warning, h.Deprecated)
		rows[i] = []string{fmt.Sprintf("%.2f", h.Score), h.Name, h.Server, h.Category, about}
	}
	if !confident {
		if err := adviceText(w, advice, len(hits)); err != nil {
			return err
		}
	}
	if len(hits) == 0 {
		return nil
	}
	if err := writeColumns(w, []string{"SCORE", "TOOL", "SERVER", "CATEGORY", "SUMMARY"}, rows); err != nil {
		return err
	}
	for _, h := range hits {
		if h.Warning != "" {
			fmt.Fprintf(w, "%s: warning: %s\n", makePrintable(h.Exposed), h.Warning)
		}
		if len(h.Also) > 0 {
			fmt.Fprintf(w, "%s is also %s\n", makePrintable(h.Exposed), makePrintable(strings.Join(h.Also, ", ")))
		}
		if h.Explain != nil {
			fmt.Fprint(w, makePrintable(search.ExplainText(&h)))
		}
	}
	return nil
}

// adviceText prints that probably no tool fits, and what to try instead. n is the number of tools that are listed after
// it. The advice may be nil.
func adviceText(w io.Writer, advice *tool.Advice, n int) error {
	msg := "Not confident: probably no tool here does this."
	if advice != nil && advice.Message != "" {
		msg = "Not confident: " + advice.Message
	}
	fmt.Fprintln(w, makePrintable(msg))
	if advice != nil {
		for _, part := range []struct {
			name string
			list []string
		}{
			{"not understood", advice.NotUnderstood},
			{"kinds of servers that would serve", advice.Kinds},
			{"nearest categories here", advice.Categories},
		} {
			if len(part.list) > 0 {
				fmt.Fprintf(w, "  %s: %s\n", part.name, makePrintable(strings.Join(part.list, ", ")))
			}
		}
		if len(advice.Kinds) > 0 {
			fmt.Fprintln(w, "  tooldex servers search looks for such servers in the MCP registry")
		}
		for _, u := range advice.Excluded {
			fmt.Fprintf(w, "  not searched: %s\n", makePrintable(u.Text))
		}
	}
	if n > 0 {
		fmt.Fprintln(w, "The nearest:")
	}
	return nil
}
