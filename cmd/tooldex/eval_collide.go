package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"tooldex/eval/inspect"
)

const mostPairs = 20

func newEvalCollide(a *app) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "collide",
		Short: "List pairs of tools that search confuses, and the words that would separate them",
		Long: "List pairs of tools that search confuses, worst first. Each tool's summary and some of its requests are searched\n" +
			"for; APART is the share of them that rank the right one of the two first (50 % would be chance). The words are those\n" +
			"that only one of the two has, the most distinctive first.",
		Example: "  tooldex eval collide\n  tooldex eval collide --set mine --limit 50 -o json",
		Args:    checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.openStored(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer a.close(l.Service)
			limit := cmp.Or(a.limit, mostPairs)
			found, err := l.NewInspector(l.set).Collide(cmd.Context(), limit)
			if err != nil {
				return err
			}
			if found == nil {
				found = []inspect.Collision{}
			}
			return a.print(found, printing(inspect.CollisionText(found)))
		},
	}
	cmd.Flags().StringVar(&path, "set", "", "folder, or file of requests (default: the stored tools; with --demo the demo's)")
	a.limitFlag(cmd, "how many pairs to list (default 20)")
	return cmd
}
