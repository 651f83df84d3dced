package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tooldex/service"
)

func newTools(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Disable and enable single tools",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSwitch(a, "tool", false), newSwitch(a, "tool", true))
	return cmd
}

// newSwitch returns the command that enables or disables servers or tools; kind is "server" or "tool".
func newSwitch(a *app, kind string, enable bool) *cobra.Command {
	verb, effect := "disable", "searches do not find them, and calls are refused"
	if enable {
		verb, effect = "enable", "undo disable"
	}
	long := "A tool is named as in a search, or as server/name; server/* means all tools of a server."
	if kind == "server" {
		long = "A disabled server is not started, and its tools are disabled."
	}
	return &cobra.Command{
		Use:   verb + " NAME...",
		Short: fmt.Sprintf("%c%s %ss: %s", verb[0]-'a'+'A', verb[1:], kind, effect),
		Long:  long + " The panel shows the change, and can make it too. A running\nserver applies it within a second or two.",
		Args:  checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), service.ToChange)
			if err != nil {
				return err
			}
			defer a.close(s)
			if err := switchNamed(cmd.Context(), s, kind, args, enable); err != nil {
				return err
			}
			for _, name := range args {
				fmt.Fprintf(a.stderr, "%sd %s %s\n", verb, kind, makePrintable(name))
			}
			return nil
		},
	}
}

func switchNamed(ctx context.Context, s *service.Service, kind string, names []string, enable bool) error {
	if kind == "server" {
		return s.SwitchServers(ctx, names, enable)
	}
	_, err := s.SwitchTools(ctx, names, enable)
	return err
}
