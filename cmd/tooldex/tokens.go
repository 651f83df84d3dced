package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"tooldex/access"
	"tooldex/service"
)

func newTokens(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "Add, list and revoke the tokens of HTTP requests",
		Long: "Add, list and revoke the tokens of HTTP requests. The file of tokens holds only digests, from which no token can be\n" +
			"recovered. A running server applies changes of the file within a second or two, and ends the sessions of tokens that\n" +
			"are revoked or have expired.",
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&file, "tokens", "",
		"the file of tokens (TOOLDEX_TOKENS; default: tokens.yaml in the data directory)")
	// The path depends on the configuration, which is read only when a command runs.
	where := func() (access.File, error) {
		path := cmp.Or(file, a.config().TokensFile())
		if path == "" {
			return access.File{}, usageError{"there is no data directory", "name a file with --tokens"}
		}
		return access.File{Path: path}, nil
	}
	cmd.AddCommand(newTokensAdd(a, where), newTokensList(a, where), newTokensRevoke(a, where))
	return cmd
}

func newTokensAdd(a *app, where func() (access.File, error)) *cobra.Command {
	var t access.Token
	var expires string
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a token, and print it",
		Long: "Make a token, and print it on standard output. It is shown this once: only its digest is kept. From the first token on,\n" +
			"every request over HTTP must send one.",
		Example: "  tooldex tokens add ci --profile files --read-only --expires 30d",
		Args:    checkArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := where()
			if err != nil {
				return err
			}
			if err := access.CheckName(args[0]); err != nil {
				return asUsageError(err)
			}
			if t.Expires, err = access.ParseLifetime(expires, time.Now()); err != nil {
				return asUsageError(fmt.Errorf("--expires: %w", err))
			}
			if err := t.Limits.Check(); err != nil {
				return asUsageError(err)
			}
			// The profile may be defined on the machine that serves, so this is only a warning.
			if _, ok := a.config().Profiles[t.View.Profile]; !ok && t.View.Profile != service.WholeProfile {
				fmt.Fprintf(a.stderr, "warning: no profile %s is known here; "+
					"a server without that profile rejects the file\n", makePrintable(t.View.Profile))
			}
			secret := access.NewSecret()
			t.Name, t.Digest = args[0], access.Digest(secret)
			if err := file.Add(t); err != nil {
				return err
			}
			fmt.Fprintf(a.stderr, "added token %s to %s; it is shown this once:\n", t.Name, file.Path)
			fmt.Fprintln(a.stdout, secret)
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&t.View.Profile, "profile", "", "the profile that it gives access to (default: all tools)")
	fl.BoolVar(&t.View.ReadOnly, "read-only", false, "permit only calls of tools that change nothing")
	fl.IntVar(&t.Limits.Requests, "requests-per-minute", 0, "how many requests it permits per minute (default: any number)")
	fl.IntVar(&t.Limits.Calls, "calls-per-minute", 0, "how many calls of tools it permits per minute (default: any number)")
	fl.IntVar(&t.Limits.Concurrent, "concurrent-calls", 0, "how many calls it permits at once (default: any number)")
	fl.StringVar(&expires, "expires", "", "when it ends: 30d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z (default: never)")
	return cmd
}

func newTokensList(a *app, where func() (access.File, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their secrets, which are not stored",
		Args:  checkArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			file, err := where()
			if err != nil {
				return err
			}
			tokens, err := file.Read()
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			lines := access.Lines(tokens, time.Now())
			return a.print(lines, func(w io.Writer) error {
				rows := make([][]string, len(lines))
				for i, l := range lines {
					does, until := "every call", cmp.Or(l.Expires, "never")
					if l.ReadOnly {
						does = "reading"
					}
					if l.Expired {
						until += " (expired)"
					}
					rows[i] = []string{l.Name, cmp.Or(l.Profile, "all tools"), does, until, cmp.Or(tokens[i].Limits.String(), "none")}
				}
				return writeColumns(w, []string{"TOKEN", "PROFILE", "GOOD FOR", "EXPIRES", "LIMITS"}, rows)
			})
		},
	}
}

func newTokensRevoke(a *app, where func() (access.File, error)) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke NAME...",
		Aliases: []string{"remove", "rm"},
		Short:   "Revoke tokens; what was opened with them ends",
		Args:    checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := where()
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := file.Revoke(name); err != nil {
					return err
				}
				fmt.Fprintf(a.stderr, "revoked token %s\n", makePrintable(name))
			}
			return nil
		},
	}
}
