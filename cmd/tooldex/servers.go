package main

import (
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/catalog/sources"
	"tooldex/service"
	"tooldex/upstream"
)

func newServers(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers",
		Short: "Add, list, switch, remove, review and log in to the MCP servers whose tools are offered",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newServersAdd(a), newServersList(a), newServersRemove(a), newServersImport(a), newServersReview(a),
		newServersApprove(a), newServersLogin(a), newServersLogout(a), newSwitch(a, "server", false), newSwitch(a, "server", true), newServersSearch(a))
	return cmd
}

// addFlags are the flags of servers add. The spellings follow those of other clients' commands, so that a line from a
// server's documentation works as it is.
type addFlags struct {
	transport, dir    string
	isolate           string
	env, headers      []string // as typed; pairs splits them
	auth              []string
	api               upstream.Server // what is only said of an API
	noImport, replace bool
	yes, keyring      bool // to a server of a registry; to keeping its secrets in the keyring
}

func newServersAdd(a *app) *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{
		Use:   "add NAME URL | add NAME -- COMMAND [ARG...] | add NAME@registry | add NAME [URL] --openapi FILE|URL",
		Short: "Add a server and import its tools",
		Long: "Add a server and import its tools. Secrets are best given as ${VAR}: they are read from the environment when the\n" +
			"server is started, and never stored. -e VAR alone means -e VAR='${VAR}'. Secrets that are given as they are can be\n" +
			"kept in the keyring (--keyring), and ${keyring:NAME} refers to them. NAME@registry adds a server that servers search\n" +
			"lists, after it has shown what would run.",
		Example: "  tooldex servers add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n" +
			"  tooldex servers add --transport http -H 'Authorization: Bearer ${TOKEN}' issues https://mcp.example.com/mcp",
		Args: checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			server, ok, err := a.fromRegistry(cmd.Context(), args, f.yes)
			if !ok {
				server, err = f.server(args)
			} else if err == nil {
				err = f.complete(&server)
			}
			if err != nil {
				return err
			}
			s, err := a.open(cmd.Context(), service.ToChange)
			if err != nil {
				return err
			}
			defer a.close(s)
			if server, err = a.moveSecrets(s, server, &f); err != nil {
				return err
			}
			// The same server again is no error, so that scripts can be repeated.
			verb := "added"
			replaced, err := s.PutServer(cmd.Context(), server, f.replace)
			if err != nil {
				return err
			}
			if replaced {
				verb = "replaced"
			}
			fmt.Fprintf(a.stderr, "%s server %s\n", verb, server.Name)
			if f.noImport || server.Disabled {
				return nil
			}
			return a.importServers(cmd.Context(), s, []upstream.Server{server})
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.transport, "transport", "t", "",
		"stdio, http or sse (default: stdio for a command, http for a url)")
	fl.StringArrayVarP(&f.env, "env", "e", nil, "KEY=VALUE for the server's environment; may be repeated")
	fl.StringArrayVarP(&f.headers, "header", "H", nil, "'Name: value' sent with every request; may be repeated")
	fl.StringVar(&f.api.OpenAPI, "openapi", "", "the FILE or URL of an OpenAPI description, whose operations become tools")
	fl.StringArrayVar(&f.auth, "auth", nil, "SCHEME='${VAR}' for a security scheme of the description; may be repeated")
	fl.StringArrayVar(&f.api.Tags, "tag", nil, "only operations with this tag; may be repeated")
	fl.StringArrayVar(&f.api.Paths, "path", nil, "only operations that fit '/path/*' or 'METHOD /path/*'; may be repeated")
	fl.StringVar(&f.dir, "cwd", "", "the folder in which the command is run")
	fl.StringVar(&f.isolate, "isolate", "", "run the command in bubblewrap, where it reaches only this: read=FOLDER, write=FOLDER,\n"+
		"network and memory=SIZE, with commas between them; or nothing")
	fl.BoolVar(&f.noImport, "no-import", false, "only store the server; do not start it")
	fl.BoolVar(&f.yes, "yes", false, "add a server of a registry without asking")
	fl.BoolVar(&f.keyring, "keyring", false, "keep secrets that are given as they are in the keyring of this computer, or\n"+
		"where there is none in files that only you can read")
	fl.BoolVar(&f.replace, "replace", false, "replace another server of that name")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{err.Error(), "put -- before a command that has flags of its own, or see " +
			cmd.CommandPath() + " --help"}
	})
	fl.StringP("scope", "s", "", "accepted and ignored, so that command lines of other clients work")
	complete(cmd, "transport", []string{"stdio", "http", "sse", "openapi"})
	return cmd
}

// server builds a server from the arguments: a name, then a URL or a command with its arguments. Its errors are usage
// errors.
func (f *addFlags) server(args []string) (s upstream.Server, err error) {
	if f.api.OpenAPI != "" {
		s, err = sources.NewAPI(f.api, f.transport, args)
	} else if s, err = sources.NewServer(f.transport, args); err == nil && s.Command != "" && len(f.headers) > 0 {
		return s, usageError{"headers are sent to a url, and a command has none", "give a command its secrets by -e"}
	}
	if err == nil {
		err = f.complete(&s)
	}
	return s, asUsageError(err)
}

// complete adds what the flags say beside how the server is reached.
func (f *addFlags) complete(s *upstream.Server) error {
	env, err := sources.ParsePairs(f.env, "=", "environment variable")
	if err != nil {
		return asUsageError(err)
	}
	headers, err := sources.ParsePairs(f.headers, ":", "header")
	if err != nil {
		return asUsageError(err)
	}
	if s.Auth, err = sources.ParsePairs(f.auth, "=", "security scheme"); err != nil {
		return asUsageError(err)
	}
	if f.isolate != "" {
		if s.Isolate, err = upstream.ParseIsolation(f.isolate); err != nil {
			return asUsageError(err)
		}
	}
	s.Dir, s.Env, s.Headers = f.dir, mergeMaps(s.Env, env), mergeMaps(s.Headers, headers)
	return asUsageError(sources.CheckServer(*s))
}

// mergeMaps returns the members of both, those of more where both have one; nil if there are none.
func mergeMaps(of, more map[string]string) map[string]string {
	if len(of) == 0 {
		return more
	}
	maps.Copy(of, more)
	return of
}

// warnSecrets warns of the places of a server whose secrets are stored as they are.
func (a *app) warnSecrets(places []string) {
	for _, place := range places {
		fmt.Fprintf(a.stderr, "warning: %s is stored as it is; give it as '${VAR}' to have it read from the environment, "+
			"or add the server with --keyring\n", makePrintable(place))
	}
}

// moveSecrets returns the server with its secrets in the keyring, if the flag says so or a person at a terminal agrees.
// It warns of secrets that stay.
func (a *app) moveSecrets(s *service.Service, server upstream.Server, f *addFlags) (upstream.Server, error) {
	plain := service.PlainSecrets(server)
	if len(plain) == 0 {
		return server, nil
	}
	list := strings.Join(plain, ", ")
	if !f.keyring && (!isTerminal(a.stdin) || !a.saysYes("keep "+list+" in the keyring of this computer?")) {
		a.warnSecrets(plain)
		return server, nil
	}
	moved, where, err := s.MoveSecrets(server, f.replace)
	if err == nil {
		fmt.Fprintf(a.stderr, "%s is kept in %s\n", makePrintable(list), strings.Join(where, ", "))
	}
	return moved, err
}

func newServersList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the servers, and how many of their tools are known",
		Args:  checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context(), service.ToList)
			if err != nil {
				return err
			}
			defer a.close(s)
			lines := s.ServerLines()
			return a.print(lines, func(w io.Writer) error {
				rows := make([][]string, len(lines))
				for i, l := range lines {
					target := l.Target
					if l.Disabled {
						target += " (disabled)"
					}
					if l.Isolate != nil {
						target += " (isolated: " + l.Isolate.String() + ")"
					}
					if l.Error != "" {
						target += " (" + l.Failure() + ")"
					}
					rows[i] = []string{l.Name, string(l.Transport), strconv.Itoa(l.Tools), string(l.State), target}
				}
				return writeColumns(w, []string{"SERVER", "TRANSPORT", "TOOLS", "STATE", "TARGET"}, rows)
			})
		},
	}
}

func newServersRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME...",
		Aliases: []string{"rm"},
		Short:   "Remove servers and their tools",
		Args:    checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), service.ToChange)
			if err != nil {
				return err
			}
			defer a.close(s)
			for _, name := range args {
				if err := s.RemoveServer(cmd.Context(), name); err != nil {
					return err
				}
				fmt.Fprintf(a.stderr, "removed server %s\n", name)
			}
			return nil
		},
	}
}
