package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// app is one run of the command: its streams, its common flags, and what it logs to.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	config   string
	conf     *configuration
	confErr  error // why the configuration cannot be read, for commands that work all the same
	dataDir  string
	format   string
	logLevel string
	embedder string
	borrow   string
	limit    int
	demo     bool

	learnText bool // keep the texts of requests
	serving   bool // the command stays, and nothing may keep its first answer waiting

	log   *slog.Logger
	level slog.LevelVar
}

// run executes one command line and returns its exit code. Whatever went wrong has been printed then.
func run(ctx context.Context, a *app, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		printError(a.stderr, err)
	}
	return exitCode(err)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "tooldex",
		Short:         "Find the right tool for an agent among those of many MCP servers",
		SilenceErrors: true, // run prints them once, with their hint
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.configure(cmd); err != nil {
				return err
			}
			return a.prepare()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{err.Error(), "see " + cmd.CommandPath() + " --help"}
	})
	f := root.PersistentFlags()
	f.StringVarP(&a.config, "config", "c", "", "tooldex.yaml, or a client's file, whose servers are added to the stored ones ("+configVariable+")")
	f.StringVarP(&a.dataDir, "data-dir", "d", "",
		"where tools are kept (TOOLDEX_DATA_DIR; default: the platform's data directory)")
	f.StringVarP(&a.format, "output", "o", "table", "table, json or yaml")
	f.StringVar(&a.logLevel, "log-level", "warn", "debug, info, warn or error")
	f.StringVar(&a.embedder, "embedder", "", "builtin, model2vec:FOLDER, ollama:MODEL or openai:MODEL (TOOLDEX_EMBEDDER)")
	f.StringVar(&a.borrow, "borrow", "", "on, or off: tools are found by their own words alone (TOOLDEX_BORROW)")
	f.BoolVar(&a.demo, "demo", false, "use the compiled-in demo catalogue in place of the stored tools")
	root.AddCommand(
		newServe(a), newSearch(a), newSelect(a), newList(a), newDescribe(a), newCall(a), newImport(a), newServers(a),
		newTokens(a), newEval(a), newEnrich(a),
		newIndex(a), newLearn(a), newConfig(a), newConnect(a), newAudit(a), newDoctor(a), newHealth(a), newVersion(a),
	)
	a.accounted(root)
	a.completions(root)
	root.InitDefaultCompletionCmd()
	return root
}

// prepare checks the common flags and opens the log.
func (a *app) prepare() error {
	switch a.format {
	case "table", "json", "yaml":
	default:
		return usageError{fmt.Sprintf("unknown output format %q", a.format), "use -o table, -o json or -o yaml"}
	}
	if err := a.level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return usageError{fmt.Sprintf("unknown log level %q", a.logLevel), "use debug, info, warn or error"}
	}
	if a.limit < 0 {
		return usageError{fmt.Sprintf("limit %d is negative", a.limit), "use 0 for the default"}
	}
	a.log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: &a.level}))
	if a.embedder == "" {
		a.embedder = a.getenv("TOOLDEX_EMBEDDER")
	}
	if a.borrow == "" {
		a.borrow = a.getenv("TOOLDEX_BORROW")
	}
	switch a.borrow {
	case "", "on", "off":
	default:
		return usageError{fmt.Sprintf("unknown borrow %q", a.borrow), "use on or off"}
	}
	if a.dataDir == "" {
		a.dataDir = a.getenv("TOOLDEX_DATA_DIR")
	}
	if a.dataDir != "" {
		return nil
	}
	var err error
	if a.dataDir, err = defaultDataDir(a.getenv); err != nil && !a.demo {
		return err
	}
	return nil
}

func (a *app) limitFlag(cmd *cobra.Command, what string) {
	cmd.Flags().IntVar(&a.limit, "limit", 0, what)
}

// terminal reports whether w is a terminal rather than a file or a pipe.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + cmd.CommandPath() + " --help"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageError{fmt.Sprintf("unknown command %q", args[0]), hint}
}

// wants makes cobra's checks of arguments errors of usage.
func wants(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err.Error(), "usage: " + cmd.UseLine()}
		}
		return nil
	}
}
