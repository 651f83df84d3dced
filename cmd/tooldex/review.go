package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/scan"
	"tooldex/service"
	"tooldex/tool"
)

func newServersReview(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "review [SERVER...]",
		Short: "Show the tools that are held or suspicious, why, and what was changed",
		Long: "Show the tools, prompts and resources that are held until somebody approves them, and those that are served with a\n" +
			"warning: what was found in each, and what is other than in the form that was accepted. Invisible characters are written\n" +
			"out. The exit code is 3 if there is nothing to look at.",
		Example: "  tooldex servers review\n  tooldex servers review github -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), service.ToList)
			if err != nil {
				return err
			}
			defer a.close(s)
			return a.printReview(reviewOf(s, args))
		},
	}
}

// reviewOf lists the held and suspicious tools of the named servers, of all servers without names.
func reviewOf(s *service.Service, servers []string) []scan.Review {
	return slices.DeleteFunc(s.Catalog.Review(), func(r scan.Review) bool {
		return len(servers) > 0 && !slices.Contains(servers, r.ID.Server())
	})
}

func (a *app) printReview(review []scan.Review) error {
	if review == nil {
		review = []scan.Review{}
	}
	if err := a.print(review, func(w io.Writer) error { return reviewText(w, review) }); err != nil {
		return err
	}
	if len(review) == 0 {
		fmt.Fprintln(a.stderr, "there is nothing to look at")
		return silent(exitNone)
	}
	return nil
}

// reviewText prints each tool with what was found in it and what has changed. scan.Visible makes invisible characters
// readable.
func reviewText(w io.Writer, review []scan.Review) error {
	for i, r := range review {
		if i > 0 {
			fmt.Fprintln(w)
		}
		state := "warning"
		if r.Held {
			state = "held"
		}
		fmt.Fprintf(w, "%-8s %s  (form %s)\n", state, makePrintable(r.Label()), r.Form)
		fmt.Fprintf(w, "         %s\n", makePrintable(r.Why))
		for _, f := range r.Suspicions {
			fmt.Fprintf(w, "  %-6s %s in %s\n", f.Severity, f.Rule, makePrintable(f.Field))
			if f.Excerpt != "" {
				fmt.Fprintf(w, "         %s\n", makePrintable(f.Excerpt))
			}
			fmt.Fprintf(w, "         %s; remedy: %s\n", f.Why, f.Remedy)
		}
		for _, c := range r.Changes {
			fmt.Fprintf(w, "  changed %s\n", makePrintable(c.Field))
			for _, side := range []struct{ sign, text string }{{"-", c.Was}, {"+", c.Now}} {
				for line := range strings.SplitSeq(scan.Visible(side.text), "\n") {
					if line != "" {
						fmt.Fprintf(w, "    %s %s\n", side.sign, makePrintable(line))
					}
				}
			}
		}
	}
	return nil
}

func newServersApprove(a *app) *cobra.Command {
	var every, look bool
	cmd := &cobra.Command{
		Use:   "approve SERVER [TOOL...]",
		Short: "Approve tools that are held, in the form that they have now",
		Long: "Approve the held tools, prompts and resources of a server, or those named, in the form that they have now: from then on\n" +
			"they are found and used again, without a warning, by all processes that share the data, until they change. --all\n" +
			"approves those that are served with a warning, too; --diff shows what would be approved, and approves nothing. The exit\n" +
			"code is 3 if nothing waits for approval.",
		Example: "  tooldex servers approve github --diff\n  tooldex servers approve github create_issue",
		Args:    checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), service.ToChange)
			if err != nil {
				return err
			}
			defer a.close(s)
			return a.approve(cmd, s, args[0], args[1:], every, look)
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "also the tools that are served with a warning")
	cmd.Flags().BoolVar(&look, "diff", false, "show what would be approved, and approve nothing")
	return cmd
}

// approve accepts the named tools, or all that are held, or with every all that have findings. With look it only prints
// them. It accepts the forms that were printed: a tool that changes meanwhile stays held.
func (a *app) approve(cmd *cobra.Command, s *service.Service, server string, names []string, every, look bool) error {
	review := slices.DeleteFunc(reviewOf(s, []string{server}), func(r scan.Review) bool {
		if len(names) > 0 {
			return !slices.Contains(names, r.ID.Name()) && !slices.Contains(names, string(r.ID))
		}
		return !r.Held && !every
	})
	for _, name := range names {
		if !slices.ContainsFunc(review, func(r scan.Review) bool {
			return r.ID.Name() == name || string(r.ID) == name
		}) {
			return &tool.Error{
				Code: tool.NotFound, Op: "approve",
				Msg:  fmt.Sprintf("of %s, no tool %q waits for approval", server, name),
				Hint: "tooldex servers review " + server + " lists those that do",
			}
		}
	}
	if look || len(review) == 0 {
		return a.printReview(review)
	}
	approvals := make([]scan.Approval, len(review))
	for i, r := range review {
		approvals[i] = scan.Approval{ID: r.ID, Kind: r.Kind, Form: r.Form}
	}
	if err := s.Catalog.Accept(cmd.Context(), approvals); err != nil {
		return err
	}
	return a.print(approvals, func(w io.Writer) error {
		for _, r := range review {
			fmt.Fprintf(w, "approved %s (form %s)\n", makePrintable(r.Label()), r.Form)
		}
		return nil
	})
}
