package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tooldex/registry"
	"tooldex/upstream"
)

// registry returns the client of the configured registry. Without a data directory it keeps no answers.
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
		Example: "  tooldex servers search weather\n  tooldex servers add io.github.owner/weather@registry",
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
			err = a.print(found, func(w io.Writer) error {
				var rows [][]string
				for i := range found.Entries {
					e := &found.Entries[i]
					how := "not usable here"
					if l, err := e.Launch(); err == nil {
						how = launchText(&l.Server)
					}
					if e.Deprecated {
						how += " (deprecated)"
					}
					rows = append(rows, []string{e.Name, e.Version, how, e.Description})
				}
				return writeColumns(w, []string{"SERVER", "VERSION", "RUNS", "DESCRIPTION"}, rows)
			})
			if err == nil && len(found.Entries) == 0 {
				return silent(exitNone)
			}
			return err
		},
	}
	a.limitFlag(cmd, "how many servers to list (default 30)")
	return cmd
}

// launchText returns the command or address of a server.
func launchText(s *upstream.Server) string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
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
	fmt.Fprintf(a.stderr, "%s %s: %s\n  runs: %s\n", e.Name, e.Version, makePrintable(e.Description),
		makePrintable(launchText(&l.Server)))
	if e.Source != "" {
		fmt.Fprintf(a.stderr, "  source: %s\n", makePrintable(e.Source))
	}
	slices.SortFunc(l.Wants, func(x, y registry.Want) int { return strings.Compare(x.Variable, y.Variable) })
	for _, w := range l.Wants {
		state := "not set"
		if a.getenv(w.Variable) != "" {
			state = "set"
		}
		fmt.Fprintf(a.stderr, "  reads %s from the environment (%s): %s\n", w.Variable, state, makePrintable(w.About))
	}
	if e.Deprecated {
		fmt.Fprintln(a.stderr, "  its publisher has deprecated it")
	}
	_, err = a.confirmOnce("add server "+l.Server.Name+" and start it?", yes)
	return l.Server, true, err
}
