package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"tooldex/enrich"
	"tooldex/internal/atomicfile"
	"tooldex/internal/sanitize"
	"tooldex/service"
	"tooldex/tool"
)

func newEnrich(a *app) *cobra.Command {
	var f enrichFlags
	cmd := &cobra.Command{
		Use:   "enrich",
		Short: "Add search phrases for tools that search does not recognise",
		Long: "Add search phrases for tools that search does not recognise. The agent that is installed writes them (claude, codex or\n" +
			"gemini), or what --with names. The command says what that costs in tokens and asks once. Phrases are checked, measured, kept\n" +
			"apart from the tools' own texts, and removed by forget. An interrupted run continues where it stopped.\n" +
			"Without a model, export writes a form and apply reads it back; over MCP, an agent fills it in by the prompt enrich_tools.",
		Example: "  tooldex enrich --with ollama:llama3.2 --dry-run\n  tooldex enrich --with ollama:llama3.2 --yes --pending\n" +
			"  tooldex enrich forget --all",
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.enrichWith(cmd.Context(), &f) },
	}
	cmd.Flags().StringVar(&f.with, "with", "", "who writes: claude, codex, gemini, ollama:MODEL or command:LINE; default the first of these agents that is installed")
	cmd.Flags().StringVar(&f.file, "file", "", "write a form to review and apply, instead of storing the phrases")
	cmd.Flags().BoolVar(&f.pending, "pending", false, "have the phrases wait for approve")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say what it would cost")
	cmd.MarkFlagsMutuallyExclusive("file", "pending")
	a.limitFlag(cmd, "the most tools to write phrases for (default all)")
	cmd.AddCommand(newEnrichExport(a), newEnrichMeasure(a), newEnrichApply(a), newEnrichList(a), newEnrichApprove(a),
		newEnrichForget(a))
	return cmd
}

// enrichBatch is the number of tools in a form without --limit.
const enrichBatch = 20

// emptyForm returns the empty form for the named tools, or for the tools that search recognises least.
func (a *app) emptyForm(s *service.Service, names []string) ([]enrich.ProposalEntry, error) {
	set := s.Catalog.Set()
	var tools []*tool.Tool
	for _, name := range names {
		t, err := set.Resolve(name)
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	// without names, the tools that resemble no archetype, the least familiar first
	if len(names) == 0 {
		return enrich.New(s.Catalog).UnfamiliarForm(cmp.Or(a.limit, enrichBatch)), nil
	}
	return enrich.EmptyForm(tools), nil
}

const enrichHeader = `# Requests that should find these tools, in other words than the tools' own: six or so for each, of 8 to 160 characters.
# description and parameters are for you and are not read back. Then: tooldex enrich apply FILE
`

// writeForm writes the form to fill in to a file, or to stdout if the name is empty. An existing file is replaced
// whole.
func (a *app) writeForm(file string, entries []enrich.ProposalEntry) error {
	var text strings.Builder
	text.WriteString(enrichHeader)
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(enrich.ProposalFile{Enrich: entries}); err != nil {
		return fmt.Errorf("write the form: %w", err)
	}
	if file == "" {
		_, err := io.WriteString(a.stdout, text.String())
		return err
	}
	if err := atomicfile.Write(file, []byte(text.String()), 0o600); err != nil {
		return fileError("write the form", file, err)
	}
	fmt.Fprintf(a.stderr, "wrote %s, for %d tools\n", file, len(entries))
	return nil
}

func newEnrichExport(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "export [TOOL...]",
		Short: "Write the form to fill in, for the tools named or those that need it most",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), service.ToChange)
			if err != nil {
				return err
			}
			defer a.close(s)
			entries, err := a.emptyForm(s, args)
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				fmt.Fprintln(a.stderr, "every tool is of a known kind, or has enough requests")
				return silent(exitNone)
			}
			return a.writeForm(file, entries)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "where to write; default standard output")
	a.limitFlag(cmd, "of how many tools (default 20)")
	return cmd
}

func newEnrichApply(a *app) *cobra.Command {
	var pending bool
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Check and measure a filled form, and put into effect what passes",
		Args:  checkArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			proposals, err := readProposals(args[0])
			if err != nil {
				return err
			}
			s, err := a.open(cmd.Context(), service.ToSearch)
			if err != nil {
				return err
			}
			defer a.close(s)
			// The effect is measured first, on a copy in memory: afterwards the phrases are in the index.
			out := kept{}
			if out.Measured, _, err = s.MeasureProposals(cmd.Context(), proposals); err != nil {
				return err
			}
			if pending {
				out.Kept, out.Findings, err = enrich.New(s.Catalog).Propose(cmd.Context(), proposals, nil)
			} else {
				out.Kept, out.Findings, err = enrich.New(s.Catalog).Enrich(cmd.Context(), proposals)
			}
			if err != nil {
				return err
			}
			return a.printKept(out)
		},
	}
	cmd.Flags().BoolVar(&pending, "pending", false, "have it wait for approve")
	return cmd
}

// kept is the result of applying a filled form.
type kept struct {
	Kept     int                       `json:"kept"`
	Findings []sanitize.Finding        `json:"findings,omitempty"`
	Measured *service.EnrichmentEffect `json:"measured,omitempty"`
}

// printKept prints the findings on stderr and the counts on stdout. It returns exit code 3 if nothing was kept.
func (a *app) printKept(out kept) error {
	err := a.print(out, func(w io.Writer) error {
		for _, f := range out.Findings {
			fmt.Fprintln(a.stderr, makePrintable(f.String()))
		}
		if out.Measured != nil {
			if err := effectText(w, out.Measured); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(w, "%d texts kept, %d refused\n", out.Kept, len(out.Findings))
		return err
	})
	if err == nil && out.Kept == 0 {
		return silent(exitNone)
	}
	return err
}

func newEnrichList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List what was written for tools, in effect and waiting, and which tools need it",
		Args:  checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context(), service.ToChange)
			if err != nil {
				return err
			}
			defer a.close(s)
			out := struct {
				Enrichments []enrich.Enrichment `json:"enrichments"`
				Strangers   []tool.Stranger     `json:"strangers"` // tools that search does not recognise
			}{enrich.New(s.Catalog).List(), enrich.New(s.Catalog).Unfamiliar(0)}
			return a.print(out, func(w io.Writer) error {
				var rows [][]string
				for _, e := range out.Enrichments {
					state := "in force"
					if e.Pending {
						state = "waits"
					}
					for _, u := range e.Utterances {
						rows = append(rows, []string{state, string(e.Tool), u, e.By})
					}
					if len(e.Synonyms) > 0 {
						rows = append(rows, []string{state, string(e.Tool), "synonyms: " +
							strings.Join(e.Synonyms, ", "), e.By})
					}
				}
				for _, one := range out.Strangers {
					rows = append(rows, []string{"needed", string(one.ID), "like nothing known: " +
						strconv.FormatFloat(one.Like, 'f', 2, 64), ""})
				}
				return writeColumns(w, []string{"STATE", "TOOL", "TEXT", "BY"}, rows)
			})
		},
	}
}

func newEnrichApprove(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "approve [TOOL...]",
		Short: "Measure what waits and put it into effect, for the tools named or with --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.moveEnrichments(cmd.Context(), args, all, moving{"approved", (*enrich.Enricher).Approve, service.ToSearch})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "for every tool")
	return cmd
}

func newEnrichForget(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "forget [TOOL...]",
		Short: "Remove what was written, in effect or waiting, for the tools named or with --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.moveEnrichments(cmd.Context(), args, all, moving{"forgotten", (*enrich.Enricher).Forget, service.ToChange})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "for every tool")
	return cmd
}

// moving is an operation on stored enrichments: approval or removal.
type moving struct {
	done string // the past participle, for people
	move func(*enrich.Enricher, context.Context, ...tool.ID) ([]tool.ID, error)
	use  service.Use // ToSearch measures the effect first
}

// moveEnrichments applies how to the named tools, or to all tools. It ends with exit code 3 if nothing was stored of
// them.
func (a *app) moveEnrichments(ctx context.Context, names []string, all bool, how moving) error {
	if all == (len(names) > 0) {
		return usageError{"no tools are named", "name them, as tooldex enrich list shows them, or give --all"}
	}
	s, err := a.open(ctx, how.use)
	if err != nil {
		return err
	}
	defer a.close(s)
	ids := make([]tool.ID, len(names))
	for i, name := range names {
		ids[i] = tool.ID(name) // a tool that is gone has no other name
		if t, err := s.Catalog.Set().Resolve(name); err == nil {
			ids[i] = t.ID()
		}
	}
	return a.moveStored(ctx, s, ids, how)
}

// moveStored measures, if how asks for it, and applies how to tools by their IDs; no IDs mean all tools.
func (a *app) moveStored(ctx context.Context, s *service.Service, ids []tool.ID, how moving) (err error) {
	var m *service.EnrichmentEffect
	if how.use == service.ToSearch {
		if m, _, err = s.MeasureProposals(ctx, enrich.New(s.Catalog).Pending(ids...)); err != nil {
			return err
		}
	}
	moved, err := how.move(enrich.New(s.Catalog), ctx, ids...)
	if err != nil {
		return err
	}
	if moved == nil {
		moved = []tool.ID{}
	}
	err = a.print(moved, func(w io.Writer) error {
		for _, id := range moved {
			fmt.Fprintf(w, "%s: %s\n", how.done, makePrintable(string(id)))
		}
		if m != nil {
			return effectText(w, m)
		}
		return nil
	})
	if err == nil && len(moved) == 0 {
		fmt.Fprintln(a.stderr, "nothing is stored for these tools")
		return silent(exitNone)
	}
	return err
}
