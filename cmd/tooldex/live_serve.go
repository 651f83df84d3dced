package main

import (
	"io/fs"
	"os"
	"reflect"
	"strconv"
	"time"

	"tooldex/mcpsrv"
)

// liveServe takes over into running endpoints what a configuration that is read again says of profiles and of how tools
// are listed. It is used by one goroutine.
type liveServe struct {
	app    *app
	all    *endpoints
	chosen *selections
	flags  serveFlags // as the command began with
	seen   fs.FileInfo
	failed string // what was said of the file of profiles last
}

// follow looks at what is new, and at the file of profiles.
func (l *liveServe) follow(news reloaded) {
	if news.confirm {
		l.confirm()
	}
	var profiles map[string]profile
	changed := false
	if news.profiles || l.profilesMoved() {
		now, err := l.app.conf.profiles(l.flags.file)
		switch {
		case err == nil:
			profiles, changed, l.failed = now, !reflect.DeepEqual(now, l.all.book.all()) &&
				len(now)+len(l.all.book.all()) > 0, ""
		case err.Error() != l.failed:
			l.failed = err.Error()
			l.app.log.Error("the profiles cannot be read; what was configured before holds", "error", err)
		}
	}
	if !changed && !news.ways {
		return
	}
	if changed {
		l.replace(profiles)
	}
	f := l.flags.again(l.app)
	l.chosen.reconfigure(f.always)
	l.all.reconfigure(f.ways())
	l.app.log.Info("clients are served as the configuration says now")
}

// confirm has calls confirmed as the configuration says now, from the next one on.
func (l *liveServe) confirm() {
	rules, err := l.app.confirmRules(l.flags.confirm)
	if err != nil {
		l.app.log.Error("what is confirmed stays as it is", "error", err)
		return
	}
	l.all.guards.rules.Store(&rules)
	l.app.log.Info("calls are confirmed as the configuration says now")
}

// replace puts other profiles in the place of those there are, and tells of what clients may miss.
func (l *liveServe) replace(profiles map[string]profile) {
	before := l.all.book.all()
	l.all.book.set(profiles)
	for name, p := range l.all.book.sorted() {
		if was, ok := before[name]; !ok || !reflect.DeepEqual(was.Servers, p.Servers) {
			warnUnknownServers(l.app.log, name, p, l.all.base.Catalog.Set())
		}
	}
	for name := range before {
		if _, ok := profiles[name]; !ok {
			l.app.log.Warn("a profile is gone; clients that are connected to it see no tools", "profile", name)
		}
	}
}

// profilesMoved reports whether the file of profiles may be another than the one that was read last.
func (l *liveServe) profilesMoved() bool {
	if l.flags.file == "" {
		return false
	}
	info, err := os.Stat(l.flags.file)
	if err != nil {
		moved := l.seen != nil || l.failed == ""
		l.seen = nil
		return moved
	}
	moved := l.seen == nil || !os.SameFile(l.seen, info) || l.seen.Size() != info.Size() ||
		!l.seen.ModTime().Equal(info.ModTime()) || time.Since(info.ModTime()) < settled
	l.seen = info
	return moved
}

// again returns the flags as they would be if the command began now.
func (f serveFlags) again(a *app) serveFlags {
	out := *f.given
	if _, origin := a.conf.value("serve.threshold"); origin != "flag" {
		out.threshold = mcpsrv.DefaultThreshold
		if n, err := strconv.Atoi(a.getenv("TOOLDEX_THRESHOLD")); err == nil {
			out.threshold = n
		}
	}
	if _, origin := a.conf.value("serve.summary"); origin != "flag" {
		out.summary = a.getenv("TOOLDEX_SUMMARY")
	}
	out.fromEnvironment(a.getenv)
	return out
}

// ways are the options of how tools are listed.
func (f serveFlags) ways() mcpsrv.Options {
	return mcpsrv.Options{
		Mode: mcpsrv.Mode(f.mode), Threshold: f.threshold, Followers: f.follows, Always: f.always,
		Summary: f.summary,
	}
}
