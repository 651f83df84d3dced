package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"tooldex/cmd/tooldex/clients"
	"tooldex/config"
	"tooldex/service"
	"tooldex/tool"
)

// The status of a finding. Only Broken makes the command fail.
const (
	Fine   = "ok"
	Note   = "note"    // worth knowing; nothing to fix
	Warn   = "warning" // it works, and could work better
	Broken = "broken"
	Fixed  = "fixed" // it was broken, and is fixed now
)

// Finding is the result of one check.
type Finding struct {
	Status string `json:"status"`
	// configuration, data, audit, index, model, server, trust, names, client, port, mode or search
	Check    string   `json:"check"`
	Subject  string   `json:"subject,omitempty"` // what was checked: a path, an address or a name
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy,omitempty"`   // a command or an instruction; "" if there is nothing to do
	Examples []string `json:"examples,omitempty"` // all of what the message counts
}

// Diagnosis is the result of all checks.
type Diagnosis struct {
	Broken   int       `json:"broken"`
	Warnings int       `json:"warnings"`
	Fixed    int       `json:"fixed"`
	Findings []Finding `json:"findings"`
}

// Options says what to check. The functions and the Logger are required.
type Options struct {
	Settings    *config.Loader
	SettingsErr error // why the configuration cannot be read; nil if it can
	Demo        bool  // check the demo, and no data directory
	Fix         bool  // fix what can be fixed without loss
	SkipServers bool  // start no servers
	// ServerTimeout bounds the wait for one server.
	ServerTimeout time.Duration
	Clients       clients.Place // where clients keep their files
	// Open opens the stored tools with their index.
	Open func(context.Context) (*service.Service, error)
	// Rebuild replaces a damaged file by what can be read of it, and describes what it saved. ReadSources then reads
	// again what the tools came from.
	Rebuild     func(context.Context) (saved string, err error)
	ReadSources func(context.Context) error
	Progress    service.Progress // called from several goroutines while servers are asked
	ImportHint  string           // how to import tools
	Logger      *slog.Logger
}

// doctor is one run of Run. Only its own goroutine adds findings. The checks run one after the other; only servers are
// asked concurrently.
type doctor struct {
	o     Options
	found []Finding
}

// Run makes all checks and returns their findings in the order of the checks. If a check cannot be made, those that
// depend on it are left out.
func Run(ctx context.Context, o Options) Diagnosis {
	d := &doctor{o: o}
	d.checkAll(ctx)
	out := Diagnosis{Findings: d.found}
	for _, f := range d.found {
		switch f.Status {
		case Broken:
			out.Broken++
		case Warn:
			out.Warnings++
		case Fixed:
			out.Fixed++
		}
	}
	return out
}

// currentConfig returns the current configuration. It is usable even if Options.SettingsErr is set.
func (d *doctor) currentConfig() *config.Config { return d.o.Settings.Config() }

// checkAll orders the checks: first those that need no store, then those that open it, and those of its content last.
func (d *doctor) checkAll(ctx context.Context) {
	d.checkConfig()
	d.checkClients()
	d.checkPort(ctx)
	if !d.o.Demo && !d.checkData(ctx) {
		return
	}
	d.checkAudit(ctx)
	d.checkEmbedder(ctx)
	s, err := d.o.Open(ctx)
	if err != nil {
		d.addError("index", "", err)
		return
	}
	// The findings are complete by then; a failed close has no remedy to offer.
	defer func() { _ = s.Close() }()
	if !d.o.SkipServers {
		d.checkServers(ctx, s)
	}
	d.checkIndex(ctx, s)
	d.checkTrust(s)
	d.checkSkills(ctx, s)
	d.checkNames(s)
	d.checkMode(s)
	d.checkSearch(ctx, s)
}

// addFinding adds a finding, whose message is format with args.
func (d *doctor) addFinding(status, check, subject, remedy, format string, args ...any) {
	d.found = append(d.found, Finding{
		Status: status, Check: check, Subject: subject, Remedy: remedy,
		Message: fmt.Sprintf(format, args...),
	})
}

// addFine adds a finding of a check that found nothing wrong. It needs no remedy.
func (d *doctor) addFine(check, subject, format string, args ...any) {
	d.addFinding(Fine, check, subject, "", format, args...)
}

// addError adds a Broken finding for an error, with its hint as the remedy.
func (d *doctor) addError(check, subject string, err error) {
	var te *tool.Error
	var usage config.UsageError
	msg, hint := err.Error(), "see the message"
	switch {
	case errors.As(err, &usage):
		hint = usage.Hint
	case errors.As(err, &te):
		msg = te.Msg
		if te.Hint != "" {
			hint = te.Hint
		}
		if te.Err != nil {
			msg += ": " + te.Err.Error()
		}
	}
	d.addFinding(Broken, check, subject, hint, "%s", msg)
}

// addGroup adds one finding about several things, if there are any: the sentence one if there is one thing, else
// several, a format that takes their number. examples are sorted in place.
func (d *doctor) addGroup(status, check, remedy string, examples []string, one, several string) {
	if len(examples) == 0 {
		return
	}
	slices.Sort(examples)
	message := one
	if len(examples) > 1 {
		message = fmt.Sprintf(several, len(examples))
	}
	d.addFinding(status, check, "", remedy, "%s", message)
	d.found[len(d.found)-1].Examples = examples
}

// Count returns a number with a noun: 1 tool, 2 tools.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// causeOf strips the operation and the path from an error of package os, since the finding names the path already.
func causeOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
