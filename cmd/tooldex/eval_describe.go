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
				return a.print(found, printing(inspect.DescriptionText(found)))
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
