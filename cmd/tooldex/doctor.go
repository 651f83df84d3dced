package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tooldex/cmd/tooldex/doctor"
	"tooldex/service"
)

func newDoctor(a *app) *cobra.Command {
	var o doctor.Options
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation, and suggest remedies",
		Long: "Check the configuration, the data directory, the index and the embedding model; start each server and list its tools;\n" +
			"check names, clients' files, the address to serve on, the mode that clients get, and how well search separates the\n" +
			"tools. Each finding has a remedy. The exit code is 1 if something is broken; --fix repairs what it can without loss.",
		Example:     "  tooldex doctor\n  tooldex doctor --fix -o json",
		Args:        checkArgs(cobra.NoArgs),
		Annotations: configOptional,
		RunE:        func(cmd *cobra.Command, _ []string) error { return a.runChecks(cmd.Context(), o) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.Fix, "fix", false, "mend what can be mended without loss")
	fl.BoolVar(&o.SkipServers, "no-servers", false, "do not start the servers")
	fl.DurationVar(&o.ServerTimeout, "timeout", 30*time.Second, "how long to wait for one server, not counting its installation")
	return cmd
}

// runChecks runs the checks and prints the findings. It ends with exit code 1 if something is broken.
func (a *app) runChecks(ctx context.Context, o doctor.Options) error {
	p := a.newProgress()
	o.Settings, o.SettingsErr, o.Demo, o.Clients, o.ImportHint = a.settings, a.settingsErr, a.demo, a.clientPlace(),
		importHint
	o.Progress, o.Logger, o.ReadSources = p.update, a.log, a.readSources
	o.Open = func(ctx context.Context) (*service.Service, error) { return a.open(ctx, service.ToSearch) }
	o.Rebuild = func(ctx context.Context) (string, error) {
		out, err := rebuildStore(ctx, a.config().DataDir)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d tools and %d servers are saved, and the old file is kept as %s", out.Tools, out.Servers,
			filepath.Base(out.Backup)), nil
	}
	out := doctor.Run(ctx, o)
	p.clearLine()
	if err := a.print(out, func(w io.Writer) error { return a.diagnosisText(w, out) }); err != nil {
		return err
	}
	if out.Broken > 0 {
		return silent(exitFailed)
	}
	return nil
}

// diagnosisText prints the findings with their remedies, coloured on a terminal.
func (a *app) diagnosisText(w io.Writer, out doctor.Diagnosis) error {
	colours := a.usesColours(a.stdout)
	tints := map[string]string{doctor.Fine: "32", doctor.Fixed: "32", doctor.Note: "36", doctor.Warn: "33", doctor.Broken: "31"}
	const indent = "           "
	for _, f := range out.Findings {
		status, tint := fmt.Sprintf("%-9s", f.Status), ""
		if colours {
			tint = tints[f.Status]
		}
		line := f.Check
		if f.Subject != "" {
			line += " " + f.Subject
		}
		fmt.Fprintf(w, "%s  %s: %s\n", inColour(status, tint), makePrintable(line), makePrintable(f.Message))
		for _, e := range f.Examples[:min(len(f.Examples), shownExamples)] {
			fmt.Fprintf(w, "%s- %s\n", indent, makePrintable(e))
		}
		if more := len(f.Examples) - shownExamples; more > 0 {
			fmt.Fprintf(w, "%sand %d more; -o json has them all\n", indent, more)
		}
		if f.Remedy != "" {
			fmt.Fprintf(w, "%sremedy: %s\n", indent, makePrintable(f.Remedy))
		}
	}
	verdict := "everything works"
	if out.Broken+out.Warnings > 0 {
		verdict = fmt.Sprintf("%d broken, %s", out.Broken, doctor.Count(out.Warnings, "warning"))
	}
	if out.Fixed > 0 {
		verdict += fmt.Sprintf(", %d fixed", out.Fixed)
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

// shownExamples bounds the examples of one finding in tables; JSON has all of them.
const shownExamples = 3
