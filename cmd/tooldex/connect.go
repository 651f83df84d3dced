package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tooldex/catalog"
	"tooldex/cmd/tooldex/clients"
	"tooldex/config"
	"tooldex/gateway"
	"tooldex/service"
	"tooldex/tool"
)

type connectFlags struct {
	yes, undo, dryRun bool
	project, replace  bool
	noImport          bool
	all, status       bool
	file, name        string
	args              []string     // of serve
	done              []connection // with --all, what is printed at the end
}

// connection is the result of connect, or with --dry-run what it would do.
type connection struct {
	Client  string          `json:"client"`
	File    string          `json:"file"`
	Written bool            `json:"written"`
	Servers []clients.Found `json:"servers"`          // those in the file before
	Backup  string          `json:"backup,omitempty"` // the path of the file's previous content
	Diff    string          `json:"diff,omitempty"`
	Profile string          `json:"profile,omitempty"` // that keeps the client's lists of tools
}

func newConnect(a *app) *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "connect [CLIENT] [-- SERVE-FLAG...]",
		Short: "Make an MCP client use tooldex in place of its servers",
		Long: "Import a client's servers, and replace them by tooldex in its configuration. The difference is shown first, and a backup\n" +
			"kept. --undo restores it byte for byte; if the client has changed the file since, it puts the servers back and keeps\n" +
			"the other changes. Flags after -- are passed to \"tooldex serve\". Servers that do not start here stay with the\n" +
			"client. Without CLIENT, or with --status, the clients are listed with their states.\n\n" +
			"Clients: " + strings.Join(clients.Names(), ", "),
		Example: "  tooldex connect\n  tooldex connect cursor --dry-run\n  tooldex connect claude-code --yes -- --mode search\n" +
			"  tooldex connect claude-code --undo",
		ValidArgs: clients.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.config().Tenant != "" {
				return usageError{"clients are connected to what serve serves", "leave out the tenant; connect NAME -- --profile PROFILE"}
			}
			named := cmd.ArgsLenAtDash()
			if named < 0 {
				named = len(args)
			}
			f.args = args[named:]
			// The flags fall into two groups: those for one named client, and --all and --status for several. Mixing
			// them is refused rather than guessed.
			switch several := named == 0 || f.status; {
			case named > 1:
				return usageError{fmt.Sprintf("%q is not expected", args[1]), "usage: " + cmd.UseLine()}
			case named == 1 && (f.all || f.status):
				return usageError{"a client is named, and --all or --status is given", "leave one out"}
			case several && (f.file != "" || f.project):
				return usageError{"no client is named", "usage: " + cmd.UseLine()}
			case several && !f.all && (f.yes || f.undo || f.dryRun || len(f.args) > 0):
				return usageError{"no client is named", "name one, or give --all"}
			case several:
				return a.connectSeveral(cmd.Context(), &f)
			}
			client, ok := clients.Named(args[0])
			if !ok {
				return usageError{fmt.Sprintf("unknown client %q", args[0]), "use one of " +
					strings.Join(clients.Names(), ", ")}
			}
			if f.undo {
				return a.disconnectClient(client, &f)
			}
			return a.connectClient(cmd.Context(), client, &f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&f.yes, "yes", "y", false, "write without asking")
	fl.BoolVar(&f.undo, "undo", false, "undo the last change of this client")
	fl.BoolVar(&f.dryRun, "dry-run", false, "only show the difference")
	fl.BoolVar(&f.project, "project", false, "the client's file for this folder in place of your own")
	fl.BoolVar(&f.replace, "replace", false, "take over servers even if others of the same names are stored")
	fl.BoolVar(&f.noImport, "no-import", false, "do not start the servers that are taken over")
	fl.BoolVar(&f.all, "all", false, "all clients that have a file here")
	fl.BoolVar(&f.status, "status", false, "only list the clients and whether they use tooldex")
	fl.StringVar(&f.file, "file", "", "the client's file, if it is elsewhere")
	fl.StringVar(&f.name, "name", "tooldex", "the name that tooldex gets in the client")
	return cmd
}

// connectSeveral connects, or with --undo restores, all clients of which something can be changed; without --all it
// lists their states.
func (a *app) connectSeveral(ctx context.Context, f *connectFlags) error {
	states := clients.States(a.clientPlace(), a.keeper())
	if !f.all {
		return a.print(states, func(w io.Writer) error {
			rows := make([][]string, len(states))
			for i, s := range states {
				rows[i] = []string{s.Client, s.State, strconv.Itoa(s.Servers), s.File}
			}
			return writeColumns(w, []string{"CLIENT", "STATE", "SERVERS", "FILE"}, rows)
		})
	}
	f.done = []connection{}
	var errs error
	for _, s := range states {
		client, _ := clients.Named(s.Client)
		var err error
		if f.undo && s.Undo {
			err = a.disconnectClient(client, f)
		} else if !f.undo && s.State != clients.NoFile {
			err = a.connectClient(ctx, client, f)
		}
		if isUsage(err) { // there is no terminal
			return err
		}
		errs = errors.Join(errs, err)
	}
	return errors.Join(errs, a.print(f.done, func(io.Writer) error { return nil }))
}

// connectClient moves the servers of a client's file to tooldex, except for those that do not start here. Nothing is
// written before that is known. The servers are stored before the file is written, so that a failure between the two
// loses none.
func (a *app) connectClient(ctx context.Context, client clients.Client, f *connectFlags) error {
	d, err := client.Document(a.clientPlace(), f.project, f.file)
	if tool.CodeOf(err) == tool.NotFound {
		return asUsageError(err)
	} else if err != nil {
		return err
	}
	own, err := a.ownEntry(f)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, service.ToChange)
	if err != nil {
		return err
	}
	defer a.close(s)
	list, servers, err := clients.Plan([]*clients.Document{d}, s.Servers(),
		clients.PlanOptions{Replace: f.replace, Moving: true})
	if err != nil {
		return err
	}
	// Servers are tried before anything is written: one that depends on the client's own environment may not start
	// here. Known servers whose tools were never read are tried, too.
	x := s.NewServerImport(append(slices.Clone(servers), s.Unread(clients.KnownServers(list))...))
	defer a.stopServers(x)
	failed := a.tryServers(ctx, x, f)
	if err := ctx.Err(); err != nil { // stopped: that says nothing of the servers
		return err
	}
	servers = clients.KeepFailed(list, servers, failed)
	k := a.keeper()
	edit, err := k.PlanEdit(d, own, list, a.config())
	if err != nil {
		return err
	}
	out := connection{Client: client.Name, File: d.Path, Servers: list, Profile: edit.Profile}
	if !edit.Changes() {
		fmt.Fprintf(a.stderr, "%s is connected already\n", client.Title)
		return a.printConnection(f, out)
	}
	a.warnAdopted(list)
	out.Diff = clients.Diff(d.Path, d.Text, edit.Text)
	if ok, err := a.confirmChange(out.Diff, d.Path, f); !ok || err != nil {
		return a.unlessFailed(f, out, err)
	}
	// checked before the servers are stored, so that a refusal changes nothing
	if err := clients.CheckWritable(d.Path); err != nil {
		return err
	}
	if len(servers) > 0 { // before the client loses them
		if err := s.SaveServers(ctx, servers); err != nil {
			return err
		}
	}
	if out.Backup, err = k.Write(edit); err != nil {
		return err
	}
	out.Written = true
	fmt.Fprintf(a.stderr, "wrote %s\nrestart %s, which then uses tooldex; tooldex connect %s --undo reverts this\n",
		d.Path, client.Title, client.Name)
	if edit.Profile != "" {
		fmt.Fprintf(a.stderr, "the profile %s keeps its lists of tools\n", edit.Profile)
	}
	if err := a.printConnection(f, out); err != nil {
		return err
	}
	if f.noImport {
		return nil
	}
	im, p := &importer{app: a, stack: s}, a.newProgress()
	defer p.clearLine()
	x.Run(ctx, failed, p.update, func(report catalog.Report, err error) { im.add(err, report) })
	return errors.Join(im.errs...)
}

// tryServers returns why servers do not start here, by name. With --no-import none is started, and only their variables
// are looked at.
func (a *app) tryServers(ctx context.Context, x *service.ServerImport, f *connectFlags) map[string]error {
	if names := gateway.InheritedNames(config.EnvNames()); len(names) > 0 {
		fmt.Fprintf(a.stderr, "servers inherit %s from the environment in which the client starts tooldex\n",
			strings.Join(names, ", "))
	}
	if f.noImport {
		return x.CheckVariables()
	}
	p := a.newProgress()
	defer p.clearLine()
	return x.Try(ctx, p.update)
}

// stopServers ends what tryServers started.
func (a *app) stopServers(x *service.ServerImport) {
	if err := x.Close(); err != nil {
		a.log.Warn("a server could not be stopped", "error", err)
	}
}

// unlessFailed returns err, or prints out if it is nil.
func (a *app) unlessFailed(f *connectFlags, out connection, err error) error {
	if err != nil {
		return err
	}
	return a.printConnection(f, out)
}

// printConnection prints the result as JSON or YAML only: the table form has been written to stderr by then.
func (a *app) printConnection(f *connectFlags, out connection) error {
	if f.all {
		f.done = append(f.done, out)
		return nil
	}
	return a.print(out, func(io.Writer) error { return nil })
}

func (a *app) keeper() clients.Keeper {
	return clients.Keeper{Dir: filepath.Join(a.config().DataDir, "connect")}
}

// ownEntry returns the server entry by which a client starts tooldex with the data directory and the configuration of
// this command. Paths are absolute, since clients start servers in any folder.
func (a *app) ownEntry(f *connectFlags) (clients.Own, error) {
	program, err := clients.OwnProgram("tooldex")
	if err != nil {
		return clients.Own{}, err
	}
	args := []string{"serve"}
	add := func(flag, path string) error {
		full, err := filepath.Abs(path)
		args = append(args, flag, full)
		return err
	}
	// Only what differs from the default is written: the entry then survives a move of the home directory.
	origin := a.settings.Origin("dataDir").Layer
	if a.demo {
		args = append(args, "--demo")
	} else if (origin == "flag" || origin == "environment") && config.DefaultDataDir(a.getenv) != a.config().DataDir {
		if err := add("--data-dir", a.config().DataDir); err != nil {
			return clients.Own{}, fmt.Errorf("find the data directory: %w", err)
		}
	}
	if path, explicit := a.settings.Path(); explicit && path != "" {
		if err := add("--config", path); err != nil {
			return clients.Own{}, fmt.Errorf("find the configuration: %w", err)
		}
	}
	return clients.Own{Name: f.name, Command: program, Args: append(args, f.args...)}, nil
}

// disconnectClient undoes the last change of a client's file, and forgets its backup then.
func (a *app) disconnectClient(client clients.Client, f *connectFlags) error {
	path := f.file
	if path != "" {
		var err error
		if path, err = filepath.Abs(path); err != nil {
			return fileError("undo", f.file, err)
		}
	}
	k := a.keeper()
	c, before, err := k.Last(client.Name, path)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(c.Path)
	if err != nil && !os.IsNotExist(err) {
		return fileError("undo", c.Path, err)
	}
	if f.dryRun {
		fmt.Fprint(a.stdout, makePrintable(clients.Diff(c.Path, now, before)))
		return nil
	}
	// Undo restores every byte if the file is as tooldex wrote it. Otherwise the client has changed it, and only the
	// servers are put back.
	done, err := clients.Undo(c, before)
	if err != nil {
		return err
	}
	if !done {
		if err := a.restoreServers(client, c, now, before, f); err != nil {
			return err
		}
	}
	if err := k.Forget(c); err != nil {
		return err
	}
	if done {
		fmt.Fprintf(a.stderr, "%s is as it was before %s\n", c.Path, c.Time.Local().Format(time.DateTime))
	}
	return a.printConnection(f, connection{Client: client.Name, File: c.Path, Written: true, Servers: []clients.Found{}})
}

// restoreServers puts the servers back into a file that the client has changed since, and keeps those changes.
func (a *app) restoreServers(client clients.Client, c clients.Change, now, before []byte, f *connectFlags) error {
	text, err := client.Restore(a.clientPlace(), c, now, before)
	if err != nil {
		return err
	}
	ok, err := a.confirmChange(clients.Diff(c.Path, now, text), c.Path, f)
	if err != nil {
		return err
	}
	if !ok {
		return silent(exitFailed)
	}
	if err := clients.Write(c.Path, now, text, c.Mode); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s was changed since: its servers are put back, and the rest is kept\n", c.Path)
	return nil
}
