package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"tooldex/tool"
)

// hangups tells of each SIGHUP, by which programs that serve are asked to read their configuration again. Its second
// result ends that.
func hangups() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// configure takes over what has changed in the configuration file. Servers that are configured as before, and the
// sessions of clients, go on.
func (l *live) configure(ctx context.Context) {
	before := l.app.conf.servers()
	news, err := l.app.conf.reload()
	if err != nil {
		l.app.log.Error("the configuration cannot be read; what was configured before holds", "error", err)
		return
	}
	if news.level != "" {
		if err := l.app.level.UnmarshalText([]byte(news.level)); err != nil {
			l.app.log.Error("the log level stays as it is", "error", err)
		}
	}
	for _, key := range news.restart {
		l.app.log.Warn("a change of the configuration holds when tooldex is started again", "key", key)
	}
	if l.reconfigure != nil {
		l.reconfigure(news)
	}
	l.retrust = l.retrust || news.trust || news.servers && !slices.Equal(trusted(before), trusted(l.app.conf.servers()))
	if l.retrust {
		l.trust(ctx)
	}
	if !news.servers {
		return
	}
	now, err := l.app.servers(l.stack)
	if err != nil {
		l.app.log.Warn("the configured servers could not be read again", "error", err)
		return
	}
	l.app.log.Info("the servers of the configuration have changed", "servers", len(now))
	l.gw.Set(now)
	l.gw.Wake()
	named := func(list []tool.Server, name string) (tool.Server, bool) {
		i := slices.IndexFunc(list, func(s tool.Server) bool { return s.Name == name })
		if i < 0 {
			return tool.Server{}, false
		}
		return list[i], true
	}
	for _, s := range before {
		if _, ok := named(now, s.Name); !ok {
			l.forget(ctx, s.Name)
		}
	}
	for _, s := range l.app.conf.servers() {
		if was, ok := named(before, s.Name); !s.Disabled && (!ok || !sameServer(was, s)) {
			l.announced(s.Name)
		}
	}
}

// trusted names the servers that say that they are.
func trusted(servers []tool.Server) (names []string) {
	for _, s := range servers {
		if s.Trust {
			names = append(names, s.Name)
		}
	}
	return names
}

// trust has tools held, and warned of, as the configuration says now. What fails is tried again with the next look.
func (l *live) trust(ctx context.Context) {
	if l.retrust = false; !l.stack.lasting {
		return
	}
	before := l.stack.catalog.Set().Version()
	options, err := l.app.trust()
	if err == nil {
		err = l.stack.catalog.Retrust(ctx, options)
	}
	if err == nil {
		l.untrusting = ""
	}
	switch {
	case err != nil && ctx.Err() == nil:
		if l.retrust = true; err.Error() != l.untrusting {
			l.app.log.Error("who is trusted stays as it is until the tools can be read again", "error", err)
		}
		l.untrusting = err.Error()
	case err == nil && l.stack.catalog.Set().Version() != before:
		l.app.log.Info("tools are trusted as the configuration says now")
		l.changed()
	}
}
