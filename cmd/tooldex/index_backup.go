package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"tooldex/service"
	"tooldex/store"
	"tooldex/tool"
)

func newIndexBackup(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write everything stored to one file, while other processes continue",
		Long: "Write everything stored, as it is at one moment, to a zip file with a manifest and checksums. Other processes continue\n" +
			"meanwhile. Everything is verified first. Logins at servers and clients' files are not included.",
		Example: "  tooldex index backup tooldex-$(date +%F).zip",
		Args:    checkArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); err == nil && !force {
				return &tool.Error{Code: tool.Invalid, Op: "back up", Msg: args[0] +
					" is there already", Hint: "give another name, or --force"}
			}
			if err := service.RequireFile(a.config(), "back up"); err != nil {
				return err
			}
			s, err := store.Open(a.config().DataDir, store.Options{})
			if err != nil {
				return err
			}
			m, err := s.Backup(cmd.Context(), args[0], version)
			if err != nil {
				return err
			}
			return a.print(m, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s: %s\n", args[0], describeBackup(m))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

func describeBackup(m *store.Manifest) string {
	return fmt.Sprintf("%d tools, %d servers, made %s", m.Tools, m.Servers, m.Made.Format("2006-01-02 15:04:05Z"))
}

// restored is the result of a restore.
type restored struct {
	*store.Manifest
	Kept string `json:"kept,omitempty"` // the path of the replaced file
}

func newIndexRestore(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace everything stored with the contents of a backup, and keep the old file",
		Long: "Verify a backup and replace everything stored with it, in one step. The old file is kept beside it. Running\n" +
			"processes continue with the restored state.",
		Args: checkArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := service.RequireFile(a.config(), "restore"); err != nil {
				return err
			}
			m, kept, err := store.Restore(cmd.Context(), a.config().DataDir, args[0], store.Options{})
			if err != nil {
				return err
			}
			return a.print(restored{m, kept}, func(w io.Writer) error {
				rows := [][]string{{"restored", describeBackup(m)}}
				if kept != "" {
					rows = append(rows, []string{"old file", kept})
				}
				return writeColumns(w, nil, rows)
			})
		},
	}
}

func newIndexCompact(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Make the file smaller: drop free space and what no tool needs",
		Long: "Replace the stored file with a smaller one, in one step: without free space, without vectors and analyses of tools\n" +
			"that are gone, and without those of models other than the built-in one and that of --embedder. Other processes\n" +
			"continue, and wait for it as for any write.",
		Args: checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context(), service.ToChange)
			if err != nil {
				return err
			}
			defer a.close(s)
			out, err := s.Compact(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(out, func(w io.Writer) error {
				return writeColumns(w, nil, [][]string{
					{"size", fmt.Sprintf("%.1f MB, before %.1f MB", float64(out.After)/1e6, float64(out.Before)/1e6)},
					{"dropped", strconv.Itoa(out.Vectors) + " vectors, " + strconv.Itoa(out.Analyses) + " analyses"},
				})
			})
		},
	}
}
