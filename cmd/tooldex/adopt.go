package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/cmd/tooldex/clients"
	"tooldex/config"
	"tooldex/service"
	"tooldex/upstream"
)

func newServersImport(a *app) *cobra.Command {
	var from []string
	var dryRun, replace, noImport bool
	cmd := &cobra.Command{
		Use:   "import [FILE...]",
		Short: "Find the servers of MCP clients on this machine, add them and import their tools",
		Long: "Find the servers that MCP clients have, add them and import their tools: those of all clients, or of --from, or of a\n" +
			"FILE. The clients' own files are not changed; use \"tooldex connect\" for that. A stored server of the same name but\n" +
			"another configuration is kept unless --replace is given.\n\n" +
			"Clients: " + strings.Join(clients.Names(), ", "),
		Example: "  tooldex servers import --dry-run\n  tooldex servers import --from claude-code --from cursor",
		RunE: func(cmd *cobra.Command, args []string) error {
			docs, err := clients.ReadAll(a.clientPlace(), append(from, args...))
			if unknown := new(clients.UnknownError); errors.As(err, &unknown) {
				return usageError{err.Error(), "use a file, or one of " + strings.Join(clients.Names(), ", ")}
			}
			s, openErr := a.open(cmd.Context(), service.ToChange)
			if openErr != nil {
				return openErr
			}
			defer a.close(s)
			list, servers, adoptErr := clients.Plan(docs, s.Catalog.Servers(), clients.PlanOptions{Replace: replace})
			if err = errors.Join(err, adoptErr); len(list) == 0 && err == nil {
				fmt.Fprintln(a.stderr, "no server was found\nhint: tooldex servers add adds one")
				return silent(exitNone)
			}
			if printErr := a.print(list, func(w io.Writer) error { return adoptTable(w, list) }); printErr != nil {
				return printErr
			}
			a.warnAdopted(list)
			if dryRun {
				return err
			}
			servers = append(servers, s.Unread(clients.KnownServers(list))...)
			return errors.Join(err, a.takeOver(cmd.Context(), s, servers, !noImport))
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&from, "from", nil, "a client, or a file; may be repeated")
	fl.BoolVar(&dryRun, "dry-run", false, "only list what is found")
	fl.BoolVar(&replace, "replace", false, "replace stored servers of the same names")
	fl.BoolVar(&noImport, "no-import", false, "only store the servers; do not start them")
	complete(cmd, "from", clients.Names())
	return cmd
}

// complete makes the shell offer fixed values for a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	// The only error is an unknown flag, which the tests would catch.
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveDefault
	})
}

// clientPlace returns where clients of this platform, user and folder keep their files.
func (a *app) clientPlace() clients.Place {
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	return clients.Place{OS: runtime.GOOS, Home: config.HomeDir(a.getenv), Dir: dir, Getenv: a.getenv}
}

func adoptTable(w io.Writer, list []clients.Found) error {
	rows := make([][]string, len(list))
	for i, l := range list {
		target := l.Target
		if l.Entry.Server.Disabled {
			target += " (disabled)"
		}
		rows[i] = []string{l.Server, l.Client, l.State, target}
	}
	return writeColumns(w, []string{"SERVER", "CLIENT", "STATE", "TARGET"}, rows)
}

// warnAdopted warns of servers that cannot be taken over, of settings that get lost, and of secrets that get stored.
func (a *app) warnAdopted(list []clients.Found) {
	for _, l := range list {
		name := makePrintable(l.Server)
		switch l.State {
		case clients.StateUnusable:
			fmt.Fprintf(a.stderr, "warning: %s of %s cannot be used: %s\n", name, l.Client, makePrintable(l.Why))
			continue
		case clients.StateStays:
			fmt.Fprintf(a.stderr, "warning: %s stays with %s: %s\n", name, l.Client, makePrintable(l.Why))
			continue
		case clients.StateDiffers:
			fmt.Fprintf(a.stderr, "warning: another server %s is there already, and stays; --replace takes that of %s\n",
				name, l.Client)
			continue
		case clients.StateSelf, clients.StateKnown:
			continue
		}
		if l.As != "" {
			fmt.Fprintf(a.stderr, "another server %s is there already: that of %s becomes %s\n", name, l.Client, l.As)
		}
		if len(l.Lost) > 0 {
			fmt.Fprintf(a.stderr, "warning: of %s, %s will have no effect here\n", name,
				makePrintable(strings.Join(l.Lost, ", ")))
		}
		a.warnSecrets(service.PlainSecrets(l.Entry.Server))
	}
}

// takeOver stores servers and, if read is set, imports the tools of those that are enabled.
func (a *app) takeOver(ctx context.Context, s *service.Service, servers []upstream.Server, read bool) error {
	if len(servers) == 0 {
		return nil
	}
	if err := s.SaveServers(ctx, servers); err != nil {
		return err
	}
	if !read {
		return nil
	}
	im := &importer{app: a, stack: s}
	enabled := slices.DeleteFunc(slices.Clone(servers), func(s upstream.Server) bool { return s.Disabled })
	return errors.Join(im.importServers(ctx, enabled), errors.Join(im.errs...))
}
