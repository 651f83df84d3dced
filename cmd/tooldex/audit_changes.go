package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/audit"
	"tooldex/internal/redact"
	"tooldex/service"
	"tooldex/tool"
)

// wrapAudited wraps the commands that change the configuration, so that each run of them is recorded.
func (a *app) wrapAudited(root *cobra.Command) {
	for _, words := range changingCommands() {
		cmd, rest, err := root.Find(strings.Fields(words))
		if err != nil || len(rest) > 0 || cmd.RunE == nil {
			continue
		}
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			a.recordCommand(cmd.Context(), words, args, err)
			return err
		}
	}
}

// changingCommands lists the commands that change the configuration or the stored tools. Names of none are ignored.
func changingCommands() []string {
	return []string{
		"import", "connect", "servers add", "servers remove", "servers import", "servers login", "servers logout",
		"servers approve", "servers trust", "servers disable", "servers enable", "tools disable", "tools enable",
		"tokens add", "tokens revoke", "enrich", "enrich apply", "enrich approve", "enrich forget", "learn approve",
		"learn forget",
		"index rebuild", "index restore", "index compact", "index copy",
	}
}

// recordCommand records a command and its first argument, which names what was changed. The others may be secrets.
func (a *app) recordCommand(ctx context.Context, words string, args []string, err error) {
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
	if strings.Contains(subject, "://") { // it may have a password
		subject = redact.Address(subject)
	}
	l.Changed(ctx, a.callerIdentity(), words, subject, err)
	if err := l.Close(); err != nil {
		a.log.Warn("the audit log could not be synced", "error", err)
	}
}

// callerIdentity identifies the command line as the caller of tools and the author of changes.
func (a *app) callerIdentity() tool.Asker {
	return tool.Asker{Client: "tooldex", Version: version, Via: "cli"}
}
