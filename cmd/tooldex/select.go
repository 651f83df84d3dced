package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/access"
	"tooldex/selection"
	"tooldex/service"
	"tooldex/tool"
)

type selectFlags struct {
	mode, format string
	history      []string
	explicit     []string
	threshold    int
}

func newSelect(a *app) *cobra.Command {
	var f selectFlags
	cmd := &cobra.Command{
		Use:   "select MESSAGE...",
		Short: "Choose the tools for a message",
		Long: "Choose the tools for a message, as POST /api/tools/select does: those that are always\n" +
			"available, those that the message needs, and those that the preferences add. -o json prints the tools in the format\n" +
			"of a model provider.",
		Example: "  tooldex select --demo Read package.json\n" +
			"  tooldex select --demo --format anthropic -o json 'open a merge proposal'",
		Args: checkArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), service.ToSearch)
			if err != nil {
				return err
			}
			defer a.close(s)
			views, err := s.NewViews(cmd.Context(), service.ViewOptions{})
			if err != nil {
				return err
			}
			defer views.Close()
			q := selection.Query{
				Message: strings.Join(args, " "), Mode: selection.Mode(f.mode), Format: selection.Format(f.format),
				Explicit: f.explicit, MaxTools: a.limit, TokenThreshold: f.threshold,
			}
			for _, text := range f.history {
				q.History = append(q.History, selection.Turn{Role: "user", Content: text})
			}
			res, err := views.New(access.View{}).Selector.Select(cmd.Context(), q)
			if tool.CodeOf(err) == tool.Invalid {
				return asUsageError(err)
			} else if err != nil {
				return err
			}
			return a.printSelection(s, res)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "mode", "", "auto, manual or all (default: that of the preferences, or auto)")
	fl.StringVar(&f.format, "format", "", "mcp (default), anthropic, openai, openai-responses or gemini")
	fl.StringArrayVar(&f.history, "history", nil, "an earlier message of the user, oldest first; may be repeated")
	fl.StringSliceVar(&f.explicit, "tool", nil, "a tool to include; may be repeated")
	fl.IntVar(&f.threshold, "tokens", 0, "how many tokens the tools cost at most (default 50000)")
	a.limitFlag(cmd, "how many tools at most (default 15)")
	return cmd
}

// printSelection prints a selection, and returns exit code 3 if it is empty.
func (a *app) printSelection(s *service.Service, res *selection.Selection) error {
	err := a.print(res, func(w io.Writer) error {
		rows := make([][]string, len(res.Selected))
		for i, one := range res.Selected {
			score := ""
			if one.Score > 0 {
				score = fmt.Sprintf("%.2f", one.Score)
			}
			rows[i] = []string{one.Name, string(one.Source), score, fmt.Sprint(one.Tokens)}
		}
		if !res.Confident {
			if err := adviceText(w, res.Advice, len(rows)); err != nil {
				return err
			}
		}
		if len(rows) > 0 {
			if err := writeColumns(w, []string{"TOOL", "SOURCE", "SCORE", "TOKENS"}, rows); err != nil {
				return err
			}
		}
		for _, out := range res.LeftOut {
			fmt.Fprintf(w, "left out: %s: %s\n", makePrintable(out.Name), makePrintable(out.Why))
		}
		saved := 0.
		if res.AllTokens > 0 {
			saved = 100 * float64(res.Saved) / float64(res.AllTokens)
		}
		_, err := fmt.Fprintf(w, "%d of %d tools, %d of %d tokens: %.1f %% saved\n", len(rows), res.AllTools,
			res.Tokens, res.AllTokens, saved)
		return err
	})
	switch {
	case err != nil:
		return err
	case s.Catalog.Set().Len() == 0:
		fmt.Fprintf(a.stderr, "no tools are stored yet\nhint: %s\n", importHint)
	}
	if len(res.Selected) == 0 {
		return silent(exitNone)
	}
	return nil
}
