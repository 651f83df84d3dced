package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"tooldex/gateway"
	"tooldex/mcpsrv"
)

// defaultListen is where serve listens when it was started from a terminal without saying how.
const defaultListen = "127.0.0.1:8733"

type serveFlags struct {
	stdio  bool
	listen string
	mode   string
}

func newServe(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Offer search and calling of tools to agents over MCP and HTTP",
		Long: "Offer search and calling of tools to agents: over MCP on standard input and output (--stdio, the default when a\n" +
			"client starts the command), and over HTTP (--listen), where /mcp speaks MCP and the rest JSON. Both may be given.\n" +
			"An address that others can reach needs a token, in TOOLDEX_TOKEN.",
		Example: "  tooldex serve --stdio\n  tooldex serve --listen " + defaultListen,
		Args:    wants(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.stdio || f.listen != "":
			case terminal(a.stdin):
				f.listen = defaultListen
			default:
				f.stdio = true
			}
			switch mcpsrv.Mode(f.mode) {
			case mcpsrv.Search, mcpsrv.Full:
			default:
				return usageError{fmt.Sprintf("unknown mode %q", f.mode), "use search or full"}
			}
			return a.serve(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.stdio, "stdio", false, "speak MCP on standard input and output")
	fl.StringVar(&f.listen, "listen", "", "serve HTTP on this address, for example "+defaultListen)
	fl.StringVar(&f.mode, "mode", string(mcpsrv.Search), "what tools/list holds: search (the meta-tools) or full (every tool)")
	return cmd
}

// serve runs until ctx ends, or the client on standard input goes away.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	if f.listen != "" { // refused before anything is started
		if err := checkListen(f.listen, a.getenv("TOOLDEX_TOKEN")); err != nil {
			return err
		}
	}
	s, err := a.open(ctx, toSearch)
	if err != nil {
		return err
	}
	defer s.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	live := newLive(a, s)
	var srv *mcpsrv.Server // before which no upstream is asked for anything
	gw, err := a.gatewayWith(s, gateway.Options{
		OnListChanged:     live.announced,
		OnFeatures:        func(string) { srv.FeaturesChanged() },
		OnResourceUpdated: func(server, uri string) { srv.ResourceUpdated(server, uri) },
	})
	if err != nil {
		return err
	}
	srv = mcpsrv.New(mcpsrv.Options{
		Searcher: s.engine, Caller: gw, Upstreams: gw, Catalog: s.catalog, Related: s.engine, Version: version, Mode: mcpsrv.Mode(f.mode), Logger: a.log,
		AnyHost: true, // httpapi checks hosts, for all of its paths
	})
	live.start(ctx, gw, srv.CatalogChanged)
	go collectAsUsual()

	ends := make(chan error, 2) // the first end, for whatever reason, ends the other
	running := 0
	if f.listen != "" {
		running++
		go func() { ends <- a.serveHTTP(ctx, f.listen, s, gw, srv) }()
	}
	if f.stdio {
		running++
		go func() { ends <- srv.Run(ctx, drained{&mcp.StdioTransport{}}) }()
	}
	for range running {
		err = errors.Join(err, <-ends)
		stop()
	}
	live.wait()
	return errors.Join(err, srv.Close(), gw.Close())
}
