package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/audit"
	"tooldex/service"
	"tooldex/tool"
)

// accounted wraps the commands that change what is configured, so that it is recorded when one was run.
func (a *app) accounted(root *cobra.Command) {
	for _, words := range changing() {
		cmd, rest, err := root.Find(strings.Fields(words))
		if err != nil || len(rest) > 0 || cmd.RunE == nil {
			continue
		}
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			a.account(cmd.Context(), words, args, err)
			return err
		}
	}
}

// changing lists the commands that change what is configured or known.
func changing() []string {
	return []string{
		"import", "connect", "servers add", "servers remove", "servers import", "servers login", "servers logout",
		"servers approve", "servers trust",
		"tokens add", "tokens revoke", "enrich", "enrich apply", "enrich approve", "enrich forget", "learn approve",
		"learn forget",
		"index rebuild", "index restore", "index compact",
	}
}

// account records a command. Of its arguments the first is, which names what was changed: others may be secrets.
func (a *app) account(ctx context.Context, words string, args []string, err error) {
	if a.demo || isUsage(err) {
		return
	}
	if a.settingsErr != nil || !a.config().Audit.On {
		return
	}
	l := service.NewAuditLog(a.config(), audit.Options{Logger: a.log})
	subject := ""
	if len(args) > 0 {
		subject = args[0]
	}
	l.Changed(ctx, a.asker(), words, subject, err)
	if err := l.Close(); err != nil {
		a.log.Warn("the audit log could not be synced", "error", err)
	}
}

// asker is who calls from the command line.
func (a *app) asker() tool.Asker {
	return tool.Asker{Client: "tooldex", Version: version, Via: "cli"}
}
