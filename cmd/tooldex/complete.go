package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/config"
	"tooldex/service"
	"tooldex/store"
)

// completer returns the words that may follow args, each optionally with a tab and a description.
type completer func(cmd *cobra.Command, args []string) []string

// registerCompletions registers shell completion of tools, servers, profiles and flags with few values.
func (a *app) registerCompletions(root *cobra.Command) {
	for path, c := range map[string]completer{
		"describe": a.toolNames, "call": a.callWords, "eval describe": a.toolNames,
		"enrich export": a.toolNames, "enrich approve": a.toolNames, "enrich forget": a.toolNames,
		"learn approve": a.firstTool, "learn forget": a.firstTool,
		"servers remove": a.serverNames, "servers login": a.firstServer, "servers logout": a.firstServer,
		"servers disable": a.serverNames, "servers enable": a.serverNames,
		"tools disable": a.toolNames, "tools enable": a.toolNames,
		"servers approve": a.firstServer, "servers review": a.serverNames,
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil && cmd != root {
			cmd.ValidArgsFunction = a.cobraCompleter(c)
		}
	}
	complete(root, "borrow", []string{"on", "off"})
	if serve, _, err := root.Find([]string{"serve"}); err == nil { // it has the flags of all settings
		for _, s := range config.Settings() {
			if s.Choices != nil && settingFlag(serve, s) != nil {
				complete(serve, s.Flag, s.Choices)
			}
		}
	}
	var all func(cmd *cobra.Command)
	all = func(cmd *cobra.Command) {
		for flag, c := range map[string]completer{
			"server": a.serverNames, "profile": a.profileNames,
			"always": a.toolNames,
		} {
			if cmd.Flags().Lookup(flag) != nil {
				// the only error is an unknown flag
				_ = cmd.RegisterFlagCompletionFunc(flag, a.cobraCompleter(c))
			}
		}
		for _, sub := range cmd.Commands() {
			all(sub)
		}
	}
	all(root)
}

// cobraCompleter adapts a completer to cobra. It reads the configuration again, with the flags of the line that is
// completed. A configuration that cannot be read completes nothing: the command itself reports why.
func (a *app) cobraCompleter(c completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if a.loadConfig(cmd); a.settingsErr != nil || a.openLog() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		var out []string
		for _, word := range c(cmd, args) {
			name, _, _ := strings.Cut(word, "\t")
			if strings.HasPrefix(name, begun) && !slices.Contains(args, name) {
				out = append(out, word)
			}
			if strings.HasSuffix(name, "=") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
		}
		return out, directive
	}
}

// withStoredTools calls at with the stored tools, if there are any: completion must not create a data directory.
func (a *app) withStoredTools(cmd *cobra.Command, at func(s *service.Service)) {
	if _, err := os.Stat(filepath.Join(a.config().DataDir, store.FileName)); err != nil && !a.demo && a.config().Store == "" {
		return
	}
	s, err := a.open(cmd.Context(), service.ToList)
	if err != nil {
		return
	}
	defer a.close(s)
	at(s)
}

// toolNames lists the exposed names of all stored tools, for shell completion.
func (a *app) toolNames(cmd *cobra.Command, _ []string) (out []string) {
	a.withStoredTools(cmd, func(s *service.Service) {
		set := s.Catalog.Set()
		for _, t := range set.All() {
			out = append(out, withDescription(set.Exposed(t.ID()), t.Summary))
		}
	})
	return out
}

// withDescription returns a word with the description that the shell shows beside it, on one line.
func withDescription(word, what string) string {
	if what = strings.Join(strings.Fields(makePrintable(what)), " "); what == "" {
		return word
	}
	return word + "\t" + what
}

func (a *app) firstTool(cmd *cobra.Command, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return a.toolNames(cmd, args)
}

// callWords completes a tool, and then those of its parameters that are not given yet.
func (a *app) callWords(cmd *cobra.Command, args []string) (out []string) {
	if len(args) == 0 {
		return a.toolNames(cmd, args)
	}
	a.withStoredTools(cmd, func(s *service.Service) {
		t, err := s.Catalog.Set().Resolve(args[0])
		if err != nil {
			return
		}
		for _, p := range t.Parameters() {
			given := slices.ContainsFunc(args[1:], func(w string) bool {
				return strings.HasPrefix(w, p.Name+"=") || strings.HasPrefix(w, p.Name+":=")
			})
			if !given {
				out = append(out, withDescription(p.Name+"=", p.Description))
			}
		}
	})
	return out
}

// serverNames lists the servers that are configured, stored, or have stored tools, each once.
func (a *app) serverNames(cmd *cobra.Command, _ []string) (out []string) {
	names := map[string]bool{}
	for _, s := range a.config().Servers {
		names[s.Name] = true
	}
	a.withStoredTools(cmd, func(s *service.Service) {
		for _, one := range s.Catalog.Servers() {
			names[one.Name] = true
		}
		for _, c := range s.Catalog.Set().Servers() {
			names[c.Name] = true
		}
	})
	return slices.Sorted(maps.Keys(names))
}

func (a *app) firstServer(cmd *cobra.Command, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return a.serverNames(cmd, args)
}

func (a *app) profileNames(*cobra.Command, []string) []string {
	return slices.Sorted(maps.Keys(a.config().Profiles))
}
