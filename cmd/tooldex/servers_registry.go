package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tooldex/registry"
	"tooldex/upstream"
)

// registry returns the client of the configured registry, which keeps answers in the data directory.
func (a *app) registry() *registry.Client {
	c := &registry.Client{URL: a.config().Registry}
	if dir := a.config().DataDir; dir != "" {
		c.Cache = filepath.Join(dir, "registry")
	}
	return c
}

func newServersSearch(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Search a registry for servers that are not here yet",
		Long: "Search the MCP registry of the setting registry for servers. Answers are kept in the data directory for an hour,\n" +
			"and longer while the registry cannot be reached. Entries come from their publishers: nobody here has checked them.",
		Example: "  tooldex servers search weather",
		Args:    checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := a.registry().Search(cmd.Context(), strings.Join(args, " "), a.limit)
			if err != nil {
				return err
			}
			if age := time.Since(found.Since); !found.Since.IsZero() && age > time.Hour {
				fmt.Fprintf(a.stderr, "the registry does not answer; this is its answer of %s\n",
					found.Since.Local().Format(time.DateTime))
			}
			if len(found.Entries) == 0 && a.format == "table" {
				return silent(exitNone)
			}
			return a.print(found, func(w io.Writer) error {
				return writeColumns(w, []string{"SERVER", "VERSION", "RUNS", "DESCRIPTION"}, found.Rows())
			})
		},
	}
	a.limitFlag(cmd, "how many servers to list (default 30)")
	return cmd
}

// fromRegistry returns the server of an argument NAME@registry, and false for another argument. A person sees what would
// run and what it needs, and agrees first.
func (a *app) fromRegistry(ctx context.Context, args []string, yes bool) (upstream.Server, bool, error) {
	name, ok := strings.CutSuffix(args[0], "@registry")
	if !ok || len(args) > 1 {
		return upstream.Server{}, false, nil
	}
	e, err := a.registry().Get(ctx, name)
	if err != nil {
		return upstream.Server{}, true, err
	}
	l, err := e.Launch()
	if err != nil {
		return upstream.Server{}, true, err
	}
	question := e.Question(l, func(variable string) bool { return a.getenv(variable) != "" })
	fmt.Fprint(a.stderr, makePrintable(question))
	_, err = a.confirmOnce("add server "+l.Server.Name+" and start it?", yes)
	return l.Server, true, err
}
