package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tooldex/service"
	"tooldex/store"
)

func newIndex(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Look after the stored tools and their vectors",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newIndexStatus(a), newIndexVerify(a), newIndexRebuild(a), newIndexCompact(a), newIndexBackup(a),
		newIndexRestore(a), newIndexCopy(a))
	return cmd
}

func newIndexVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify [BACKUP]",
		Short: "Check that everything stored, or all of a backup, is whole",
		Long: "Read everything that is stored, or all of a backup, and verify each checksum and the structure of the file. What is\n" +
			"damaged is named, and the exit code is 1. Nothing is changed.",
		Args: checkArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				m, err := store.VerifyBackup(cmd.Context(), args[0])
				if err == nil {
					fmt.Fprintf(a.stderr, "%s is sound: %s\n", args[0], describeBackup(m))
				}
				return err
			}
			s, err := service.OpenStore(cmd.Context(), a.config().Store, a.config().DataDir, store.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }() // it was only read
			if err := s.Check(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(a.stderr, "%s is sound\n", s.Location())
			return nil
		},
	}
}

func newIndexCopy(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy everything stored between a file and a database, and verify the copy",
		Long: "Copy everything stored, as it is at one moment, from one place to another: data directories, or addresses of databases\n" +
			"as in the setting store. The copy is made in one step, then read back and compared. Whatever ends the command early,\n" +
			"TO holds what it held before. Logins, tokens, clients' files and the audit log are not copied.",
		Example: "  tooldex index copy ~/.local/share/tooldex 'postgres://tooldex@db.example.com/tooldex?sslmode=verify-full'",
		Args:    checkArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := service.CopyStore(cmd.Context(), args[0], args[1], force)
			if err != nil {
				return err
			}
			return a.print(out, func(w io.Writer) error { return writeColumns(w, nil, out.Rows()) })
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace everything at TO; a file there is kept beside the new one")
	return cmd
}
