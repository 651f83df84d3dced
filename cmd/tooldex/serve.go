package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/audit"
	"tooldex/confirm"
	"tooldex/enrich"
	"tooldex/gateway"
	"tooldex/mcpsrv"
	"tooldex/tool"
	"tooldex/trace"
)

// defaultListen is where serve listens when it was started from a terminal without saying how.
const defaultListen = "127.0.0.1:8733"

type serveFlags struct {
	stdio     bool
	listen    string
	mode      string
	threshold int
	sessions  int // at most, over HTTP
	follows   []string
	always    []string
	summary   string
	file      string // of profiles
	profile   string
	confirm   string
	tokenFile string
	tokens    string  // a file of tokens that are good for less
	rate      float64 // zero means the default, less means no limit

	given *serveFlags // as they were given, before the environment filled them in
}

func newServe(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Offer search and calling of tools to agents over MCP and HTTP",
		Long: "Offer search and calling of tools to agents: over MCP on standard input and output (--stdio, the default when a\n" +
			"client starts the command), and over HTTP (--listen), where /mcp speaks MCP and the rest JSON. Both may be given.\n" +
			"An address that others can reach needs a token, in TOOLDEX_TOKEN or --token-file. Tokens that are good for one profile only,\n" +
			"or for reading only, are in the file of --tokens.\n\n" +
			"The mode is what a client's list of tools holds; every tool can be called in every mode:\n" +
			"  search   the meta-tools and what is always available\n" +
			"  dynamic  the same, and what the searches of the session found\n" +
			"  lazy     the same, and every tool without its parameters, until it is called wrongly\n" +
			"  full     every tool\n" +
			"  auto     full for a small catalogue, else dynamic for clients that follow changes of their list, else search\n\n" +
			"A profile is a subset of the servers with a mode of its own, at /mcp/NAME. The names of the modes are profiles, too.",
		Example: "  tooldex serve --stdio\n  tooldex serve --listen " + defaultListen +
			"\n  tooldex serve --mode dynamic --always github__get_issue",
		Args: wants(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.stdio || f.listen != "":
			case terminal(a.stdin):
				f.listen = cmp.Or(a.getenv("TOOLDEX_LISTEN"), defaultListen)
			default:
				f.stdio = true
			}
			f.fromEnvironment(a.getenv)
			if err := checkMode(mcpsrv.Mode(f.mode)); err != nil {
				return err
			}
			if confirm.Mode(f.confirm).Check() != nil {
				return usageError{
					fmt.Sprintf("--confirm is %q", f.confirm),
					"use off, annotated, destructive or writes",
				}
			}
			return a.serve(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.stdio, "stdio", false, "speak MCP on standard input and output")
	fl.StringVar(&f.listen, "listen", "", "serve HTTP on this address, for example "+defaultListen)
	fl.StringVar(&f.mode, "mode", "", "what tools/list holds: search, dynamic, lazy, full or auto (TOOLDEX_MODE; default auto)")
	fl.IntVar(&f.threshold, "threshold", mcpsrv.DefaultThreshold,
		"the largest catalogue, in tokens, that auto lists in full")
	fl.IntVar(&f.sessions, "max-sessions", mcpsrv.DefaultSessions,
		"how many MCP sessions over HTTP there are at most; the one that was used longest ago gives way (TOOLDEX_MAX_SESSIONS)")
	fl.StringSliceVar(&f.follows, "follows", nil,
		"a client, as it names itself, that lists again when the list changes (TOOLDEX_FOLLOWS); may be repeated")
	fl.StringSliceVar(&f.always, "always", nil, "a tool that is always listed (ALWAYS_AVAILABLE_TOOLS adds to these); may be repeated")
	fl.StringVar(&f.summary, "summary", "", "what search_tools says of the catalogue, in place of its servers and categories")
	fl.StringVar(&f.file, "profiles", "", "a YAML or JSON file of profiles (TOOLDEX_PROFILES)")
	fl.StringVar(&f.profile, "profile", "", "the profile to serve on standard input and output (TOOLDEX_PROFILE; default all tools)")
	fl.StringVar(&f.confirm, "confirm", "", "which tools a person confirms each call of: off, annotated, destructive or writes (TOOLDEX_CONFIRM; default off)")
	fl.BoolVar(&a.learnText, "learn-text", false,
		"keep the texts of requests that tools were called for (TOOLDEX_LEARN_TEXT)")
	fl.StringVar(&f.tokenFile, "token-file", "",
		"a file with the token that HTTP requests must bear (TOOLDEX_TOKEN_FILE, or the token itself in TOOLDEX_TOKEN)")
	fl.StringVar(&f.tokens, "tokens", "", "a YAML or JSON file of tokens that are bound to a profile, or read only (TOOLDEX_TOKENS)")
	fl.Float64Var(&f.rate, "rate", 0, fmt.Sprintf("HTTP requests a second from one address, less than 0 for no limit (default none on loopback, %d elsewhere)", openRate))
	return cmd
}

// fromEnvironment fills in what no flag says.
func (f *serveFlags) fromEnvironment(getenv func(string) string) {
	given := *f
	f.given = &given
	f.mode = cmp.Or(f.mode, getenv("TOOLDEX_MODE"), string(mcpsrv.Auto))
	f.file = cmp.Or(f.file, getenv("TOOLDEX_PROFILES"))
	f.profile = cmp.Or(f.profile, getenv("TOOLDEX_PROFILE"))
	f.always = append(f.always, list(getenv("ALWAYS_AVAILABLE_TOOLS"))...)
	f.follows = append(f.follows, list(getenv("TOOLDEX_FOLLOWS"))...)
	if f.threshold <= 0 {
		f.threshold = -1 // for mcpsrv zero is the default
	}
}

// where says on what it is served, for records.
func (f *serveFlags) where() string {
	var out []string
	if f.stdio {
		out = append(out, "stdio")
	}
	if f.listen != "" {
		out = append(out, "http "+f.listen)
	}
	return strings.Join(out, ", ")
}

// serve runs until ctx ends, or the client on standard input goes away.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	profiles, err := a.conf.profiles(f.file)
	if err != nil {
		return err
	}
	var who admission
	if f.listen != "" { // refused before anything is started
		if who, err = a.admission(&f, profiles); err != nil {
			return err
		}
	}
	tracer, err := trace.FromEnvironment(a.getenv, version, a.log)
	if err != nil {
		return err
	}
	defer tracer.Close()
	a.serving = true
	s, err := a.open(ctx, toSearch)
	if err != nil {
		return err
	}
	defer s.close()
	book := newProfileBook(profiles)
	chosen, err := a.newSelections(ctx, s, book, f.always)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	live := newLive(a, s)
	live.preferences = chosen.kept
	var all *endpoints // before which no upstream is asked for anything
	gw, err := a.gatewayWith(s, gateway.Options{
		OnListChanged: live.announced,
		OnFeatures:    func(string) { all.each((*mcpsrv.Server).FeaturesChanged) },
		OnResourceUpdated: func(server, uri string) {
			all.each(func(s *mcpsrv.Server) {
				s.ResourceUpdated(server,
					uri)
			})
		},
		CloseGrace: upstreamGrace,
	})
	if err != nil {
		return err
	}
	meter := a.newMeter(s, func() int { return all.sessions() })
	all = newEndpoints(mcpsrv.Options{
		Searcher: tracer.Searcher(s.searcher), Caller: tracer.Caller(unheld{gw, s.catalog}), Upstreams: gw,
		Catalog: s.catalog, Related: s.engine, Learner: s.learner, Enricher: enrich.New(s.catalog), Version: version,
		Logger: a.log,
		Mode:   mcpsrv.Mode(f.mode), Threshold: f.threshold, Followers: f.follows, Always: f.always, Summary: f.summary,
		AnyHost:   true, // httpapi checks hosts, for all of its paths
		DrainTime: finishing, MaxSessions: f.sessions,
	}, book, meter)
	all.chosen = chosen
	chosen.changed = func() { all.each((*mcpsrv.Server).CatalogChanged) }
	if all.guards, err = a.guards(s, f.confirm); err != nil {
		return errors.Join(err, gw.Close())
	}
	chosen.confirms = func(v view) func(*tool.Tool) bool { return all.guard(v).Needs }
	srv, err := all.get(view{profile: f.profile})
	if err != nil {
		return errors.Join(usageError{fmt.Sprintf("there is no profile %q", f.profile), all.hint()}, gw.Close())
	}
	if err := all.guards.log.Served(ctx, audit.Start, version, f.where()); err != nil && all.guards.log.Required() {
		return errors.Join(err, gw.Close())
	}
	live.reconfigure = (&liveServe{app: a, all: all, chosen: chosen, flags: f}).follow
	live.start(ctx, gw, func() { all.each((*mcpsrv.Server).CatalogChanged) })
	s.learner.Start()
	meter.Start()
	go collectAsUsual()

	var ways []func(context.Context) error
	if f.listen != "" {
		ways = append(ways, func(ctx context.Context) error {
			return a.serveHTTP(ctx, f.listen, who, s, gw, all, chosen,
				tracer)
		})
	}
	if f.stdio { // it ends with the endpoint
		ways = append(ways, func(ctx context.Context) error {
			return srv.Run(context.WithoutCancel(ctx), mcpsrv.Lines(os.Stdin, os.Stdout))
		})
	}
	err = all.talk(ctx, stop, ways)
	live.wait()
	return errors.Join(err, gw.Close(), s.learner.Close(), meter.Close(), all.guards.end(ctx))
}
