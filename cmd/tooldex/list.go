package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"tooldex/internal/sanitize"
	"tooldex/mcpsrv"
	"tooldex/service"
	"tooldex/tool"
)

// listed is one tool of a list.
type listed struct {
	ID       tool.ID `json:"id"`
	Name     string  `json:"name"`
	Server   string  `json:"server"`
	Exposed  string  `json:"exposed"`
	Summary  string  `json:"summary,omitempty"`
	Category string  `json:"category,omitempty"`
	Tokens   int     `json:"tokens"`
	Disabled bool    `json:"disabled,omitempty"`
	Warning  string  `json:"warning,omitempty"` // why the tool looks suspicious
	// what to use instead
	Deprecated string `json:"deprecated,omitempty"`
}

func newList(a *app) *cobra.Command {
	var filter tool.Filter
	var categories bool
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tools that are known",
		Args:  checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "" && format != "prompt" {
				return usageError{fmt.Sprintf("unknown format %q", format), "use prompt, or -o table, json or yaml"}
			}
			s, err := a.open(cmd.Context(), service.ToList)
			if err != nil {
				return err
			}
			defer a.close(s)
			if categories {
				return a.printCounts(s.Catalog.Set().Categories())
			}
			if format == "prompt" {
				_, err := io.WriteString(a.stdout, mcpsrv.Prompt(s.Catalog.Set(), filter))
				return err
			}
			return a.printList(s.Catalog.Set(), &filter)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&filter.Servers, "server", nil, "only tools of this server; may be repeated")
	f.StringSliceVar(&filter.Categories, "category", nil, "only tools of this category; may be repeated")
	f.BoolVar(&filter.ReadOnly, "read-only", false, "only tools that are annotated as changing nothing")
	f.BoolVar(&filter.Disabled, "include-disabled", false, "disabled tools too")
	f.BoolVar(&categories, "categories", false, "count the tools of each category instead")
	f.StringVar(&format, "format", "", "prompt: the list in prose, for a system prompt")
	a.limitFlag(cmd, "how many tools to show (default all)")
	return cmd
}

// printList prints the tools that pass filter, --limit at most, and returns exit code 3 if there are none.
func (a *app) printList(set *tool.Set, filter *tool.Filter) error {
	list := []listed{}
	more := 0
	for _, t := range set.All() {
		if !filter.Match(t) {
			continue
		}
		if a.limit > 0 && len(list) == a.limit {
			more++
			continue
		}
		list = append(list, listed{
			t.ID(), t.Name, t.Server, set.Exposed(t.ID()), t.Summary, t.Category, t.Tokens(),
			t.Disabled, t.Warning, t.Deprecated,
		})
	}
	err := a.print(list, func(w io.Writer) error {
		if len(list) == 0 {
			return nil
		}
		rows := make([][]string, len(list))
		for i, l := range list {
			rows[i] = []string{
				l.Name, l.Server, l.Category, sanitize.MarkSummary(l.Summary, l.Warning, l.Deprecated),
			}
		}
		return writeColumns(w, []string{"TOOL", "SERVER", "CATEGORY", "SUMMARY"}, rows)
	})
	if err != nil {
		return err
	}
	if more > 0 {
		fmt.Fprintf(a.stderr, "%d more; raise --limit to see them\n", more)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, "no tool is known that fits")
		if set.Len() == 0 {
			fmt.Fprintln(a.stderr, "hint: "+importHint)
		}
		return silent(exitNone)
	}
	return nil
}

func (a *app) printCounts(counts []tool.Count) error {
	return a.print(counts, func(w io.Writer) error {
		rows := make([][]string, len(counts))
		for i, c := range counts {
			rows[i] = []string{c.Name, strconv.Itoa(c.Tools)}
		}
		return writeColumns(w, []string{"CATEGORY", "TOOLS"}, rows)
	})
}
