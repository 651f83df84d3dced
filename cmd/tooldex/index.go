package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tooldex/store"
)

func newIndex(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Look after the stored tools and their vectors",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newIndexStatus(a), newIndexVerify(a), newIndexRebuild(a))
	return cmd
}

func newIndexVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that everything stored is whole",
		Args:  wants(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := store.Open(a.dataDir, store.Options{})
			if err != nil {
				return err
			}
			if err := s.Check(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(a.stderr, "%s is sound\n", s.Path())
			return nil
		},
	}
}

// rebuilt tells what a rebuild could save.
type rebuilt struct {
	Backup  string   `json:"backup,omitempty"` // where the old file lies now
	Tools   int      `json:"tools"`
	Servers int      `json:"servers"`
	Lost    []string `json:"lost,omitempty"`
	Problem string   `json:"problem,omitempty"` // why the old file could not be read to its end
}

func newIndexRebuild(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Replace a damaged file by what can still be read of it, and keep the old one",
		Args:  wants(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := store.Recover(cmd.Context(), a.dataDir, store.Options{})
			if err != nil {
				return err
			}
			out := rebuilt{Backup: r.Backup, Tools: r.Tools, Servers: r.Servers}
			for _, d := range r.Damaged {
				out.Lost = append(out.Lost, d.String())
			}
			if r.Err != nil {
				out.Problem = r.Err.Error()
			}
			return a.print(out, func(w io.Writer) error {
				rows := [][]string{{"saved", fmt.Sprintf("%d tools, %d servers", out.Tools, out.Servers)}}
				for _, more := range [][]string{{"old file", out.Backup}, {"problem", out.Problem}} {
					if more[1] != "" {
						rows = append(rows, more)
					}
				}
				for _, l := range out.Lost {
					rows = append(rows, []string{"lost", l})
				}
				return columns(w, nil, rows)
			})
		},
	}
}
