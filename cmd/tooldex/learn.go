package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/learn"
	"tooldex/service"
	"tooldex/tool"
)

func newLearn(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "List, approve, forget and export what was learned from use",
		Long: "Calls after a search, and feedback of clients, are evidence of which tool serves which request.\n" +
			"With enough evidence, the tool is ranked first for similar requests. Requests are kept as numbers; their texts are kept too\n" +
			"if TOOLDEX_LEARN_TEXT=1 is set, or serve --learn-text is given.",
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLearnList(a), newLearnApprove(a), newLearnForget(a), newLearnExport(a))
	return cmd
}

// withLearner calls do with a service whose learner has been loaded, and closes the service afterwards.
func (a *app) withLearner(ctx context.Context, do func(*service.Service) error) error {
	s, err := a.open(ctx, service.ToList)
	if err != nil {
		return err
	}
	defer a.close(s)
	if err := s.Learner.Load(ctx); err != nil {
		return err
	}
	return do(s)
}

func newLearnList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List what was learned about each tool, and the requests that search answered badly",
		Args:  checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withLearner(cmd.Context(), func(s *service.Service) error { return a.printLearned(s.Learner.Report()) })
		},
	}
}

// printLearned prints a report, and returns exit code 3 if it is empty.
func (a *app) printLearned(r *learn.Report) error {
	if err := a.print(r, func(w io.Writer) error { return learnedText(w, r) }); err != nil {
		return err
	}
	if len(r.Tools)+len(r.Missed) == 0 {
		fmt.Fprintln(a.stderr, "nothing was learned yet\nhint: it begins when clients of tooldex serve search tools and call them")
		return silent(exitNone)
	}
	return nil
}

// shownRequests bounds the requests of one tool in the table; JSON has all of them.
const shownRequests = 5

// learnedText prints what was learned about each tool, with its five most frequent requests.
func learnedText(w io.Writer, r *learn.Report) error {
	var rows [][]string
	for _, t := range r.Tools {
		rows = append(rows, []string{
			inProfile(t.Tool, t.Profile), string(t.State), strconv.Itoa(t.Uses),
			strconv.Itoa(len(t.Requests)), strconv.Itoa(len(t.Clients)), "",
		})
		for _, u := range t.Requests[:min(len(t.Requests), shownRequests)] {
			rows = append(rows, []string{"  " + u.Request, string(u.State), strconv.Itoa(u.Uses), "", "", u.Text})
		}
	}
	if len(rows) > 0 {
		if err := writeColumns(w, []string{"TOOL", "STATE", "USES", "REQUESTS", "CLIENTS", "TEXT"}, rows); err != nil {
			return err
		}
	}
	if len(r.Missed) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nRequests that found nothing, or whose answers were not used:")
	rows = nil
	for _, m := range r.Missed {
		rows = append(rows, []string{m.Request, strconv.Itoa(m.Nothing), strconv.Itoa(m.Ignored), m.Text, m.Proposal})
	}
	return writeColumns(w, []string{"REQUEST", "NOTHING", "UNUSED", "TEXT", "PROPOSAL"}, rows)
}

// inProfile returns a tool's ID, with the profile if the evidence is bound to one.
func inProfile(id tool.ID, profile string) string {
	if profile == "" {
		return string(id)
	}
	return string(id) + " (" + profile + ")"
}

func newLearnApprove(a *app) *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use:   "approve TOOL [REQUEST...]",
		Short: "Apply what was learned about a tool, even from few requests",
		Long:  "Apply what was learned about a tool, even from few requests: all of it, or the requests named as learn list shows them.",
		Args:  checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withLearner(cmd.Context(), func(s *service.Service) error {
				requests := args[1:]
				if len(requests) == 0 {
					// "" stands for all requests of the tool
					requests = []string{""}
				}
				for _, r := range requests {
					if err := s.Learner.Approve(cmd.Context(), profile, learnedID(s, args[0]), r); err != nil {
						return err
					}
				}
				fmt.Fprintf(a.stderr, "approved %s\n", args[0])
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "what was learned under this profile (default: the common one)")
	return cmd
}

// learnedID returns the ID of a tool. A name that the catalogue does not resolve is taken as an ID, since evidence
// outlives its tool.
func learnedID(s *service.Service, name string) tool.ID {
	if t, err := s.Catalog.Set().Resolve(name); err == nil {
		return t.ID()
	}
	return tool.ID(name)
}

type forgetFlags struct {
	request, client, profile string
	all                      bool
}

func newLearnForget(a *app) *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use:     "forget [TOOL]",
		Short:   "Forget what was learned of a tool, from a request, from a client, or everything",
		Example: "  tooldex learn forget github/create_issue\n  tooldex learn forget --client bot\n  tooldex learn forget --all",
		Args:    checkArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope := learn.Scope{Request: f.request, Client: f.client}
			if cmd.Flags().Changed("profile") {
				scope.Profile = &f.profile
			}
			// Exactly one of a scope and --all is required, so that a mistyped flag cannot delete everything.
			if narrow := len(args) > 0 || scope != (learn.Scope{}); narrow == f.all {
				return usageError{"it is not clear what to forget", "give a tool, --request, --client or --profile, " +
					"or --all for everything"}
			}
			return a.withLearner(cmd.Context(), func(s *service.Service) error {
				if len(args) > 0 {
					scope.Tool = learnedID(s, args[0])
				}
				n, err := s.Learner.Forget(cmd.Context(), scope)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.stderr, "forgot %d entries\n", n)
				if n == 0 {
					return silent(exitNone)
				}
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.request, "request", "", "a request, named as learn list names it")
	fl.StringVar(&f.client, "client", "", "what this client did")
	fl.StringVar(&f.profile, "profile", "", "what was learned under this profile; '' is the common one")
	fl.BoolVar(&f.all, "all", false, "everything")
	return cmd
}

func newLearnExport(a *app) *cobra.Command {
	var overlay bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write what was learned as lines of JSON, or approved requests as an overlay",
		Long: "Write what was learned as lines of JSON. With --overlay, write the approved requests whose texts are kept as an overlay,\n" +
			"which tooldex import takes, here or elsewhere: they are utterances of their tools from then on.",
		Example: "  tooldex learn export --overlay > learned.yaml && tooldex import learned.yaml",
		Args:    checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withLearner(cmd.Context(), func(s *service.Service) error {
				if !overlay {
					return s.Learner.Export(a.stdout)
				}
				return a.printOverlay(s.Learner.ApprovedTexts())
			})
		},
	}
	cmd.Flags().BoolVar(&overlay, "overlay", false, "an overlay of the approved requests")
	return cmd
}

// printOverlay writes utterances as an overlay in YAML, and returns exit code 3 if there are none.
func (a *app) printOverlay(texts map[tool.ID][]string) error {
	if len(texts) == 0 {
		fmt.Fprintln(a.stderr, "no approved request has a text\nhint: tooldex learn approve TOOL, where texts are kept by TOOLDEX_LEARN_TEXT=1")
		return silent(exitNone)
	}
	var b strings.Builder
	b.WriteString("overlay:\n")
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "  %s:\n    utterances:\n", strconv.Quote(string(id)))
		for _, text := range texts[id] {
			fmt.Fprintf(&b, "      - text: %s\n        from: %s\n", strconv.Quote(text), tool.Learned)
		}
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}
