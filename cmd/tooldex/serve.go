package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"tooldex/access"
	"tooldex/config"
	"tooldex/mcpsrv"
	"tooldex/serve"
	"tooldex/service"
)

func newServe(a *app) *cobra.Command {
	var stdio bool
	var listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Offer search and calling of tools to agents over MCP and HTTP",
		Long: "Offer search and calling of tools to agents: over MCP on standard input and output (--stdio, the default when a\n" +
			"client starts the command), and over HTTP (--listen), where /mcp speaks MCP and the rest JSON. Both may be given.\n" +
			"An address that others can reach requires a token, in TOOLDEX_TOKEN or --token-file. Tokens for one profile only, or\n" +
			"for reading only, are in the file of --tokens.\n\n" +
			"The mode is what a client's list of tools holds; every tool can be called in every mode:\n" +
			"  search   the meta-tools and what is always available\n" +
			"  dynamic  the same, and what the searches of the session found\n" +
			"  lazy     every tool without its parameters, until a call lacks some, and the search\n" +
			"  full     every tool\n" +
			"  auto     full for a small catalogue, else dynamic for clients that follow changes of their list, else search\n\n" +
			"A profile is a subset of the servers with a mode of its own, at /mcp/NAME. The names of the modes are profiles, too.",
		Example: "  tooldex serve --stdio\n  tooldex serve --listen " + config.DefaultListen +
			"\n  tooldex serve --mode dynamic --always github__get_issue",
		Args: checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case stdio || listen != "":
			// A client starts the command with pipes; at a terminal, HTTP with the panel is more useful.
			case isTerminal(a.stdin):
				listen = a.config().Serve.Listen
			default:
				stdio = true
			}
			return a.serve(cmd.Context(), stdio, listen)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&stdio, "stdio", false, "speak MCP on standard input and output")
	fl.StringVar(&listen, "listen", "", "serve HTTP on this address, for example "+config.DefaultListen)
	fl.String("mode", "", "what tools/list holds: search, dynamic, lazy, full or auto (TOOLDEX_MODE; default auto)")
	fl.Int("threshold", mcpsrv.DefaultThreshold, "the largest catalogue, in tokens, that auto lists in full")
	fl.Int("max-sessions", mcpsrv.DefaultSessions,
		"the most MCP sessions over HTTP; beyond it the least recently used is closed (TOOLDEX_MAX_SESSIONS)")
	fl.StringSlice("follows", nil,
		"a client, as it names itself, that lists again when the list changes (TOOLDEX_FOLLOWS); may be repeated")
	fl.StringSlice("always", nil, "a tool that is always listed (ALWAYS_AVAILABLE_TOOLS adds to these); may be repeated")
	fl.String("summary", "", "how search_tools describes the catalogue, in place of its servers and categories")
	fl.String("profiles", "", "a YAML or JSON file of profiles (TOOLDEX_PROFILES)")
	fl.String("profile", "", "the profile to serve on standard input and output (TOOLDEX_PROFILE; default all tools)")
	fl.String("confirm", "",
		"which calls a person confirms: "+strings.Join(config.ConfirmModes(), ", ")+" (TOOLDEX_CONFIRM; default off)")
	fl.Bool("learn-text", false, "keep the texts of requests that led to calls (TOOLDEX_LEARN_TEXT)")
	fl.String("token-file", "",
		"a file with the token that HTTP requests must send (TOOLDEX_TOKEN_FILE, or the token itself in TOOLDEX_TOKEN)")
	fl.String("tokens", "", "a YAML or JSON file of tokens for one profile, or for reading only (TOOLDEX_TOKENS)")
	fl.Float64("rate", 0, fmt.Sprintf(
		"HTTP requests a second from one address, negative for no limit (default none on loopback, %d elsewhere)",
		serve.PublicRate))
	return cmd
}

// serve serves until ctx ends or the client closes standard input.
func (a *app) serve(ctx context.Context, stdio bool, listen string) error {
	reload, stop := reloadSignals(ctx)
	defer stop()
	o := serve.Options{
		Config: a.settings, Listen: listen, Temporary: a.demo, Version: version, Logger: a.log,
		Open: func(ctx context.Context, config func() *config.Config) (*service.Service, error) {
			o := service.Options{Use: service.ToSearch, Serving: true, Repair: a.repairStore, Config: config}
			if a.demo {
				return a.openDemo(ctx, o)
			}
			o.Dir = config().DataDir
			return a.openService(ctx, o)
		},
		Listening: func(at net.Addr, own string) {
			if a.config().LogFormat != "text" { // the line of the start has the address
				return
			}
			fmt.Fprintf(a.stderr, "serving on http://%[1]s (MCP at http://%[1]s/mcp)\n", at)
			if own == "" || !isTerminal(a.stderr) { // only a person may see the token, and no log
				return
			}
			if secret, err := access.OwnToken(own); err == nil {
				fmt.Fprintf(a.stderr, "the panel, with your token: http://%s/#token=%s\n", at, secret)
			}
		},
		Started:        func() { a.collectAt(100) },
		SetLogLevel:    func(level string) error { return a.level.UnmarshalText([]byte(level)) },
		ReloadRequests: reload,
	}
	if stdio {
		o.Stdin, o.Stdout = os.Stdin, os.Stdout
	}
	return serve.Run(ctx, o)
}

// reloadSignals returns a channel that receives a value after a SIGHUP, the request to read the configuration again.
// Signals that come before the value is read are merged. The function that is returned ends the delivery; ctx does,
// too.
func reloadSignals(ctx context.Context) (<-chan struct{}, func()) {
	signals, out := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(signals, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				select {
				case out <- struct{}{}:
				default: // one is waiting, and is enough
				}
			}
		}
	}()
	return out, func() {
		signal.Stop(signals)
		cancel()
	}
}
