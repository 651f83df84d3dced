package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tooldex/service"
	"tooldex/tool"
)

// What a finding says of the thing that was looked at, from well to ill.
const (
	isFine   = "ok"
	isNote   = "note"    // worth knowing; nothing to mend
	isWarn   = "warning" // it works, and could work better
	isBroken = "broken"
	isFixed  = "fixed" // it was mended just now
)

// finding is what doctor has to say of one thing.
type finding struct {
	Status string `json:"status"`
	// configuration, data, audit, index, model, server, trust, names, client, port, mode or search
	Check    string   `json:"check"`
	Subject  string   `json:"subject,omitempty"`
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy,omitempty"`
	Examples []string `json:"examples,omitempty"`
}

// diagnosis is all that doctor found.
type diagnosis struct {
	Broken   int       `json:"broken"`
	Warnings int       `json:"warnings"`
	Fixed    int       `json:"fixed"`
	Findings []finding `json:"findings"`
}

// doctor looks at an installation. Mend says that what can be mended safely is.
type doctor struct {
	*app
	mend     bool
	patience time.Duration // with one server
	found    []finding
}

func newDoctor(a *app) *cobra.Command {
	d := doctor{app: a}
	var noServers bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation, and say how to mend what is wrong",
		Long: "Check the configuration, the data directory, the index and the embedding model; start each server and list its tools;\n" +
			"look at names, at clients' files, at the address to serve on, at the mode that clients get, and at how well the tools can be told apart. Each\n" +
			"finding comes with its remedy. The exit code is 1 if something is broken; --fix mends what can be mended without loss.",
		Example:     "  tooldex doctor\n  tooldex doctor --fix -o json",
		Args:        wants(cobra.NoArgs),
		Annotations: configOptional,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.examine(cmd.Context(), !noServers)
			return d.report()
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&d.mend, "fix", false, "mend what can be mended without loss")
	fl.BoolVar(&noServers, "no-servers", false, "do not start the servers")
	fl.DurationVar(&d.patience, "timeout", 30*time.Second, "how long to wait for one server")
	return cmd
}

// examine makes all checks. One that cannot be made leaves those out that rest on it.
func (d *doctor) examine(ctx context.Context, servers bool) {
	d.configuration()
	d.clients()
	d.port(ctx)
	if !d.demo && !d.data(ctx) {
		return
	}
	d.audit(ctx)
	d.embedding(ctx)
	s, err := d.open(ctx, service.ToSearch)
	if err != nil {
		d.fail("index", "", err)
		return
	}
	defer d.close(s)
	if servers {
		d.servers(ctx, s)
	}
	d.index(ctx, s)
	d.trust(s)
	d.names(s)
	d.mode(s)
	d.search(ctx, s)
}

// tell adds a finding.
func (d *doctor) tell(status, check, subject, remedy, format string, args ...any) {
	d.found = append(d.found, finding{
		Status: status, Check: check, Subject: subject, Remedy: remedy,
		Message: fmt.Sprintf(format, args...),
	})
}

func (d *doctor) fine(check, subject, format string, args ...any) {
	d.tell(isFine, check, subject, "", format, args...)
}

// fail adds an error, with its hint as the remedy.
func (d *doctor) fail(check, subject string, err error) {
	var te *tool.Error
	var usage usageError
	msg, hint := err.Error(), "see the message"
	switch {
	case errors.As(err, &usage):
		hint = usage.hint
	case errors.As(err, &te):
		msg = te.Msg
		if te.Hint != "" {
			hint = te.Hint
		}
		if te.Err != nil {
			msg += ": " + te.Err.Error()
		}
	}
	d.tell(isBroken, check, subject, hint, "%s", msg)
}

func (d *doctor) report() error {
	out := diagnosis{Findings: d.found}
	for _, f := range d.found {
		switch f.Status {
		case isBroken:
			out.Broken++
		case isWarn:
			out.Warnings++
		case isFixed:
			out.Fixed++
		}
	}
	if err := d.print(out, func(w io.Writer) error { return d.findingsText(w, out) }); err != nil {
		return err
	}
	if out.Broken > 0 {
		return silent(exitFailed)
	}
	return nil
}

func (d *doctor) findingsText(w io.Writer, out diagnosis) error {
	colours := d.colours(d.stdout)
	tints := map[string]string{isFine: "32", isFixed: "32", isNote: "36", isWarn: "33", isBroken: "31"}
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
		fmt.Fprintf(w, "%s  %s: %s\n", inColour(status, tint), printable(line), printable(f.Message))
		for _, e := range f.Examples[:min(len(f.Examples), shownExamples)] {
			fmt.Fprintf(w, "%s- %s\n", indent, printable(e))
		}
		if more := len(f.Examples) - shownExamples; more > 0 {
			fmt.Fprintf(w, "%sand %d more; -o json has them all\n", indent, more)
		}
		if f.Remedy != "" {
			fmt.Fprintf(w, "%sremedy: %s\n", indent, printable(f.Remedy))
		}
	}
	verdict := "everything works"
	if out.Broken+out.Warnings > 0 {
		verdict = fmt.Sprintf("%d broken, %d warnings", out.Broken, out.Warnings)
	}
	if out.Fixed > 0 {
		verdict += fmt.Sprintf(", %d fixed", out.Fixed)
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

// shownExamples is how many examples of one finding people are shown.
const shownExamples = 3

// group adds one finding about several things, if there are any.
func (d *doctor) group(status, check, remedy string, examples []string, format string) {
	if len(examples) == 0 {
		return
	}
	slices.Sort(examples)
	d.tell(status, check, "", remedy, format, len(examples))
	d.found[len(d.found)-1].Examples = examples
}
