package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tooldex/config"
)

// app is one run of the command: its streams, its configuration and its log. Flags set configPath, demo and limit;
// loadConfig and prepare set the rest before a command runs.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	configPath string
	demo       bool
	limit      int

	settings    *config.Loader
	settingsErr error  // why the configuration cannot be read; only commands marked configOptional see it
	format      string // table, json or yaml

	log   *slog.Logger
	level slog.LevelVar
}

// config returns the current configuration, which serve may replace while it runs. It must not be changed.
func (a *app) config() *config.Config { return a.settings.Config() }

// run executes one command line, prints its error if there is one, and returns the exit code.
func run(ctx context.Context, a *app, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
	case a.log != nil && a.config().LogFormat == "json" && !errors.As(err, new(silent)):
		msg, hint := explainError(err)
		a.log.Error("the command failed", "error", msg, "hint", hint)
	default:
		printError(a.stderr, err)
	}
	return exitCode(err)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "tooldex",
		Short:         "Find the right tool for an agent among those of many MCP servers",
		Version:       version,
		SilenceErrors: true, // run prints them once, with their hint
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// The order: configuration, then the check of it, then the log, whose level is configured.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.loadConfig(cmd)
			if a.settingsErr != nil && !worksUnconfigured(cmd) {
				return a.settingsErr
			}
			return a.openLog()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{err.Error(), "see " + cmd.CommandPath() + " --help"}
	})
	f := root.PersistentFlags()
	f.StringVarP(&a.configPath, "config", "c", "",
		"tooldex.yaml, or a client's file, whose servers are added to the stored ones ("+config.Variable+")")
	f.StringP("data-dir", "d", "", "where tools are kept (TOOLDEX_DATA_DIR; default: the platform's data directory)")
	f.String("tenant", "", "the tenant of the database that the command is about (TOOLDEX_TENANT; default: that of the setting store)")
	f.StringP("output", "o", "table", "table, json or yaml")
	f.String("log-level", "warn", "debug, info, warn or error")
	f.String("log-format", "text", "text or json (TOOLDEX_LOG_FORMAT)")
	f.String("embedder", "", "builtin, model2vec:FOLDER, ollama:MODEL or openai:MODEL (TOOLDEX_EMBEDDER)")
	f.String("borrow", "", "on, or off to find tools by their own words alone (TOOLDEX_BORROW)")
	f.BoolVar(&a.demo, "demo", false, "use the built-in demo catalogue in place of the stored tools")
	root.AddCommand(
		newServe(a), newSearch(a), newSelect(a), newList(a), newDescribe(a), newCall(a), newImport(a), newServers(a), newTools(a), newSkills(a),
		newTokens(a), newEval(a), newEnrich(a), newIndex(a), newLearn(a), newConfig(a), newConnect(a), newAudit(a), newDoctor(a), newHealth(a), newVersion(a),
	)
	a.wrapAudited(root)
	a.registerCompletions(root)
	root.InitDefaultCompletionCmd()
	return root
}

// unconfiguredAnnotation is the key by which commands are marked that work when the configuration cannot be read.
const unconfiguredAnnotation = "tooldex-configuration"

var configOptional = map[string]string{unconfiguredAnnotation: "optional"}

func worksUnconfigured(cmd *cobra.Command) bool {
	completes := cmd.Name() == cobra.ShellCompRequestCmd || cmd.HasParent() && cmd.Parent().Name() == "completion"
	return completes || cmd.Annotations[unconfiguredAnnotation] != ""
}

// loadConfig reads the configuration with the flags of a command, and sets settings and settingsErr.
func (a *app) loadConfig(cmd *cobra.Command) {
	flags := map[string]any{}
	for _, s := range config.Settings() {
		f := settingFlag(cmd, s)
		if f == nil || !f.Changed {
			continue
		}
		flags[s.Key] = f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			flags[s.Key] = list.GetSlice()
		}
	}
	a.settings, a.settingsErr = config.Load(config.Options{
		Path: a.configPath, NoFile: a.demo, Getenv: a.getenv, Flags: flags,
	})
}

// settingFlag returns the flag of a command that sets s, nil if it has none. Settings of serve are flags of serve alone
// and the others are common to all commands: a flag of the same name elsewhere means something else. A flag that was
// not given does not override the environment or the file.
func settingFlag(cmd *cobra.Command, s config.Setting) *pflag.Flag {
	switch {
	case s.Flag == "":
		return nil
	case !strings.HasPrefix(s.Key, "serve."):
		return cmd.Root().PersistentFlags().Lookup(s.Flag)
	case cmd.Name() == "serve":
		return cmd.Flags().Lookup(s.Flag)
	}
	return nil
}

// openLog opens the log at the configured level, and checks what every command needs. loadConfig must come before it.
func (a *app) openLog() error {
	if a.limit < 0 {
		return usageError{fmt.Sprintf("limit %d is negative", a.limit), "use 0 for the default"}
	}
	cfg := a.config()
	a.format = cfg.Output
	if err := a.level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		return err
	}
	a.log = slog.New(cfg.LogHandler(a.stderr, &a.level))
	if cfg.DataDir == "" && !a.demo {
		return usageError{"no home directory is set", "give --data-dir or set TOOLDEX_DATA_DIR"}
	}
	return nil
}

func (a *app) limitFlag(cmd *cobra.Command, what string) {
	cmd.Flags().IntVar(&a.limit, "limit", 0, what)
}

// isTerminal reports whether w is a terminal rather than a file or a pipe.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// unknownCommand is the Args of commands that have only subcommands: any argument is a mistyped one.
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

// checkArgs turns the errors of a check of cobra's into usage errors.
func checkArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err.Error(), "usage: " + cmd.UseLine()}
		}
		return nil
	}
}
