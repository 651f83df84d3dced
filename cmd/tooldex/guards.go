package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tooldex/audit"
	"tooldex/confirm"
	"tooldex/selection"
	"tooldex/tool"
	"tooldex/validate"
)

// guards stand around every Caller that is handed out: calls are recorded, and those that may destroy something
// confirmed. The zero guards let all through.
type guards struct {
	log *audit.Log // nil: nothing is recorded
	// where a profile does not say otherwise; the configuration may change them. Nil: none
	rules *atomic.Pointer[confirm.Rules]
}

// confirms are the rules of this moment.
func (g guards) confirms() confirm.Rules {
	if g.rules == nil {
		return confirm.Rules{}
	}
	return *g.rules.Load()
}

// guards reads the settings; a mode of confirmation that was given by a flag goes before. Nothing is written yet. The
// error is of usage.
func (a *app) guards(s *stack, mode string) (guards, error) {
	log, err := a.auditLog(s.catalog)
	if err != nil {
		return guards{}, err
	}
	rules, err := a.confirmRules(mode)
	out := guards{log, &atomic.Pointer[confirm.Rules]{}}
	out.rules.Store(&rules)
	return out, err
}

// confirmRules reads which tools need confirmation. Mode is that of a flag, "" for none.
func (a *app) confirmRules(mode string) (confirm.Rules, error) {
	r := confirm.Rules{
		Mode: confirm.Mode(a.getenv("TOOLDEX_CONFIRM")), Tools: list(a.getenv("TOOLDEX_CONFIRM_TOOLS")),
		Except: list(a.getenv("TOOLDEX_CONFIRM_EXCEPT")),
	}
	if r.Mode.Check() != nil {
		return r, usageError{
			fmt.Sprintf("TOOLDEX_CONFIRM is %q", string(r.Mode)),
			"use off, annotated, destructive or writes",
		}
	}
	r.Mode = cmp.Or(confirm.Mode(mode), r.Mode)
	if text := a.getenv("TOOLDEX_CONFIRM_TIMEOUT"); text != "" {
		const least, most = int(confirm.LeastTime / time.Second), int(confirm.MostTime / time.Second)
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return r, usageError{
				fmt.Sprintf("TOOLDEX_CONFIRM_TIMEOUT (serve.confirmTimeout) is %q", text),
				fmt.Sprintf("give seconds, from %d to %d", least, most),
			}
		}
		r.Within = time.Duration(n) * time.Second
	}
	return r, nil
}

// auditDir is where calls are recorded.
func (a *app) auditDir() string {
	if dir := a.getenv("TOOLDEX_AUDIT_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(a.dataDir, "audit")
}

// auditLog returns the log that the settings want, nil for none: in a demonstration nothing is kept, unless somebody
// says where.
func (a *app) auditLog(tools tool.Catalog) (*audit.Log, error) {
	o := audit.Options{Catalog: tools, Logger: a.log}
	on, err := a.truth("TOOLDEX_AUDIT", !a.demo || a.getenv("TOOLDEX_AUDIT_DIR") != "")
	if err == nil {
		o.Required, err = a.truth("TOOLDEX_AUDIT_REQUIRED", false)
	}
	if err == nil {
		o.Arguments, err = a.truth("TOOLDEX_AUDIT_ARGUMENTS", false)
	}
	var megabytes, days int
	for name, into := range map[string]*int{
		"TOOLDEX_AUDIT_SIZE": &megabytes, "TOOLDEX_AUDIT_FILES": &o.MaxFiles,
		"TOOLDEX_AUDIT_DAYS": &days,
	} {
		if text := a.getenv(name); text != "" && err == nil {
			if *into, err = strconv.Atoi(text); err != nil || *into <= 0 {
				return nil, usageError{fmt.Sprintf("%s is %q", name, text), "give a number above 0"}
			}
		}
	}
	if err != nil {
		return nil, err
	}
	o.Sync = audit.Sync(a.getenv("TOOLDEX_AUDIT_SYNC"))
	if o.Sync != "" && !slices.Contains([]audit.Sync{audit.Soon, audit.Each, audit.Never}, o.Sync) {
		return nil, usageError{fmt.Sprintf("TOOLDEX_AUDIT_SYNC is %q", string(o.Sync)), "use soon, each or never"}
	}
	if !on {
		if o.Required {
			return nil, usageError{
				"the audit log is required, and turned off",
				"set TOOLDEX_AUDIT=true, or TOOLDEX_AUDIT_REQUIRED=false",
			}
		}
		return nil, nil
	}
	o.Dir, o.MaxSize, o.MaxAge = a.auditDir(), int64(megabytes)*1_000_000, time.Duration(days)*24*time.Hour
	return audit.New(o), nil
}

// truth reads a variable that is true or false.
func (a *app) truth(name string, otherwise bool) (bool, error) {
	text := a.getenv(name)
	if text == "" {
		return otherwise, nil
	}
	v, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return false, usageError{fmt.Sprintf("%s is %q", name, text), "use true or false"}
	}
	return v, nil
}

// confirmed are a profile's rules: its own mode, or that of the whole, and the names of both.
func (p profile) confirmed(whole confirm.Rules) confirm.Rules {
	out := confirm.Rules{
		Mode: whole.Mode, Tools: slices.Concat(whole.Tools, p.ConfirmTools),
		Except: slices.Concat(whole.Except, p.ConfirmExcept), Within: whole.Within,
	}
	if p.Confirm != "" {
		out.Mode = p.Confirm
	}
	return out
}

// guard has calls of a view confirmed, by what its profile says at that moment.
func (e *endpoints) guard(v view) *confirm.Guard {
	return confirm.New(confirm.Options{Catalog: e.base.Catalog, Rules: func() confirm.Rules {
		if p, ok := e.book.get(v.profile); ok {
			return p.confirmed(e.guards.confirms())
		}
		return e.guards.confirms()
	}})
}

// caller returns what makes the calls of a view. There is no other way from a client to a server's tool: a call is
// recorded whatever comes of it, refused if the view does not show the tool or the arguments do not fit, confirmed if
// it has to be, and counted when it is made.
func (e *endpoints) caller(v view, policy selection.Policy) tool.Caller {
	confirmed := e.guard(v).Caller(e.meter.Caller(e.base.Caller))
	return e.guards.log.Caller(policy.Caller(validate.NewCaller(confirmed, e.base.Catalog, e.base.Schemas)))
}

// searcher returns what finds the tools of a view, which are those of tools. What calls have to be confirmed of is
// marked.
func (e *endpoints) searcher(v view, policy selection.Policy, tools tool.Catalog) tool.Searcher {
	return e.meter.Searcher(policy.Searcher(e.guard(v).Searcher(e.base.Searcher)), tools)
}

// close is the end of a command.
func (g guards) close(a *app) {
	if err := g.log.Close(); err != nil {
		a.log.Warn("the audit log could not be brought to the disk", "error", err)
	}
}

// ready tells why calls would be refused.
func (g guards) ready() error {
	if g.log.Required() {
		return g.log.Err()
	}
	return nil
}

// ailing tells what does not work, though calls are made.
func (g guards) ailing() []string {
	if err := g.log.Err(); err != nil {
		return []string{"calls cannot be recorded: " + err.Error()}
	}
	return nil
}
