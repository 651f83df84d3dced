package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"tooldex/eval/inspect"
	"tooldex/tool"
)

const mostDescribed = 20

func newEvalDescribe(a *app) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "describe [TOOL...]",
		Short: "Show which requests find a tool, which should, and what to reword",
		Long: "Show for each tool which words and requests find it, which requests should and find another tool first, and what to\n" +
			"reword. The requests are those labelled in --set, declared with the tool, in its examples, and borrowed from similar\n" +
			"tools. Without TOOL, list the tools that are found worst, one a line.",
		Example: "  tooldex eval describe\n  tooldex eval describe github/create_issue --set mine",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.openStored(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer a.close(l.Service)
			var ids []tool.ID
			if ids, err = l.resolve(args); err != nil {
				return forPeople(err)
			}
			found, err := l.NewInspector(l.set).Describe(cmd.Context(), ids...)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return a.print(found, func(w io.Writer) error { return describedText(w, found) })
			}
			found = found[:min(len(found), cmp.Or(a.limit, mostDescribed))]
			return a.print(found, func(w io.Writer) error { return describedTable(w, found) })
		},
	}
	cmd.Flags().StringVar(&path, "set", "", "folder, or file of requests (default: the stored tools; with --demo the demo's)")
	a.limitFlag(cmd, "how many tools to list (default 20)")
	return cmd
}

func describedTable(w io.Writer, found []inspect.Description) error {
	rows := make([][]string, len(found))
	for i, d := range found {
		lost, mend := "", ""
		if len(d.LostTo) > 0 {
			lost = fmt.Sprintf("%s (%d)", d.LostTo[0].To, d.LostTo[0].Requests)
		}
		if len(d.Advice) > 0 {
			mend = d.Advice[0].Problem
		}
		rows[i] = []string{
			string(d.Tool), strconv.Itoa(d.Requests), strconv.Itoa(d.First), strconv.Itoa(d.Five), lost,
			mend,
		}
	}
	return writeColumns(w, []string{"TOOL", "REQUESTS", "FIRST", "IN 5", "LOST TO", "TO MEND"}, rows)
}

// mostListed bounds the requests of each sort in tables; JSON has all of them.
const mostListed = 10

func describedText(w io.Writer, found []inspect.Description) error {
	for i := range found {
		d := &found[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: first for %d of %d requests, among the first five for %d\n", makePrintable(string(d.Tool)),
			d.First, d.Requests, d.Five)
		for _, from := range []struct{ name, label string }{{"own", "its own words"}, {"lent", "words lent to it"}} {
			if words := partsFrom(d.Words, from.name); words != "" {
				fmt.Fprintf(w, "  found by %s: %s\n", from.label, makePrintable(words))
			}
		}
		askedText(w, "found first for", d.Found)
		askedText(w, "ought to be found for", d.Missed)
		if len(d.Advice) > 0 {
			fmt.Fprintln(w, "  to mend:")
		}
		for _, adv := range d.Advice {
			fmt.Fprintf(w, "    %s: %s\n", makePrintable(adv.Problem), makePrintable(adv.Remedy))
		}
	}
	return nil
}

func askedText(w io.Writer, label string, list []inspect.Asked) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "  %s:\n", label)
	for _, q := range list[:min(mostListed, len(list))] {
		name := string(q.From)
		if q.ID != "" {
			name += " " + q.ID
		}
		fmt.Fprintf(w, "    %q (%s)", makePrintable(shortenRequest(q.Text)), makePrintable(name))
		switch {
		case q.First == "":
		case q.Place > 0:
			fmt.Fprintf(w, ", at %d after %s", q.Place, makePrintable(string(q.First)))
		default:
			fmt.Fprintf(w, ", not found; first is %s", makePrintable(string(q.First)))
		}
		fmt.Fprintln(w)
	}
	if more := len(list) - mostListed; more > 0 {
		fmt.Fprintf(w, "    and %d more\n", more)
	}
}
