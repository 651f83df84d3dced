package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tooldex/service"
	"tooldex/store"
)

// rebuilt is what a rebuild could save.
type rebuilt struct {
	Backup  string   `json:"backup,omitempty"` // the new path of the old file
	Tools   int      `json:"tools"`
	Servers int      `json:"servers"`
	Lost    []string `json:"lost,omitempty"`
	Problem string   `json:"problem,omitempty"` // why the old file could not be read to its end
}

func newIndexRebuild(a *app) *cobra.Command {
	var noSources bool
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Replace a damaged file with what can still be read from it, and keep the old one",
		Long: "Replace a damaged file, in one step, with all that can still be read from it and with what its sources offer: the\n" +
			"files that tools were imported from, and the configured servers. The old file is kept beside it. Other processes\n" +
			"continue with the new one. A source that cannot be read is reported, and removes nothing.",
		Args: checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := service.RequireFile(a.config(), "rebuild"); err != nil {
				return err
			}
			out, err := rebuildStore(cmd.Context(), a.config().DataDir)
			if err != nil {
				return err
			}
			if err := a.print(out, out.table); err != nil {
				return err
			}
			if noSources {
				return nil
			}
			return a.readSources(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&noSources, "no-sources", false, "read no files and start no servers")
	return cmd
}

// rebuildStore replaces the file in dir by what can be read of it, and keeps the old one as Backup.
func rebuildStore(ctx context.Context, dir string) (*rebuilt, error) {
	r, err := store.Recover(ctx, dir, store.Options{})
	if err != nil {
		return nil, err
	}
	out := &rebuilt{Backup: r.Backup, Tools: r.Tools, Servers: r.Servers}
	for _, d := range r.Damaged {
		out.Lost = append(out.Lost, d.String())
	}
	if r.Err != nil {
		out.Problem = r.Err.Error()
	}
	return out, nil
}

func (r *rebuilt) table(w io.Writer) error {
	rows := [][]string{{"saved", fmt.Sprintf("%d tools, %d servers", r.Tools, r.Servers)}}
	for _, more := range [][]string{{"old file", r.Backup}, {"problem", r.Problem}} {
		if more[1] != "" {
			rows = append(rows, more)
		}
	}
	for _, l := range r.Lost {
		rows = append(rows, []string{"lost", l})
	}
	return writeColumns(w, nil, rows)
}

// readSources imports the tools again: from the files that still exist, and from the servers. It prints to stderr.
func (a *app) readSources(ctx context.Context) error {
	s, err := a.open(ctx, service.ToChange)
	if err != nil {
		return err
	}
	defer a.close(s)
	stdout, format := a.stdout, a.format
	defer func() { a.stdout, a.format = stdout, format }()
	a.stdout, a.format = a.stderr, "table" // stdout is for the result of the rebuild
	var files []string
	for _, file := range s.Catalog.Files() {
		if _, err := os.Stat(file); err != nil {
			fmt.Fprintf(a.stderr, "%s is not there any more; its tools stay as they were saved\n", makePrintable(file))
			continue
		}
		files = append(files, file)
	}
	if len(files) > 0 {
		err = a.importFiles(ctx, s, files)
	}
	if servers := s.Servers(); len(servers) > 0 {
		err = errors.Join(err, a.importServers(ctx, s, servers))
	}
	return err
}

// repairStore rebuilds a damaged file so that serve can start, and logs what was saved. The error, if any, includes
// damage.
func (a *app) repairStore(ctx context.Context, damage error) error {
	out, err := rebuildStore(ctx, a.config().DataDir)
	if err != nil {
		return errors.Join(damage, err)
	}
	a.log.Error("the stored tools were damaged; a new file holds what could be saved, and the old one is kept",
		"error", damage, "kept", out.Backup, "tools", out.Tools, "servers", out.Servers, "lost", len(out.Lost))
	return nil
}
