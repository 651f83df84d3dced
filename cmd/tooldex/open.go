package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tooldex/catalog/sources"
	"tooldex/cmd/tooldex/demo"
	"tooldex/service"
	"tooldex/tool"
)

const importHint = "tooldex import FILE reads tools/list dumps, catalogue files and mcpServers files; --demo shows an example"

// open opens the stored tools, or with --demo those of the demo. Close the service after use, by a.close. What only
// reads makes no directory that a flag names: that is a slip of the keyboard.
func (a *app) open(ctx context.Context, use service.Use) (*service.Service, error) {
	if a.demo {
		return a.openDemo(ctx, service.Options{Use: use})
	}
	dir := a.config().DataDir
	if reads := use == service.ToSearch || use == service.ToList; reads && a.settings.Origin("dataDir").Layer == "flag" {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, usageError{"there is no data directory " + dir, "check --data-dir; tooldex import makes a new one"}
		}
	}
	return a.openService(ctx, service.Options{Dir: dir, Use: use})
}

// openService opens a service with the configuration, log and progress of the command.
func (a *app) openService(ctx context.Context, o service.Options) (*service.Service, error) {
	p := a.newProgress()
	defer p.clearLine()
	if o.Logger, o.Version, o.Progress = a.log, version, p.update; o.Config == nil {
		o.Config = a.settings.Config
	}
	if name := o.Config().Tenant; name != "" {
		o.Logger = a.log.With("tenant", name)
	}
	return service.Open(ctx, o)
}

// openWith opens a service of the tools of some sources, unchecked, in a temporary folder unless o names one.
func (a *app) openWith(ctx context.Context, all []sources.Source, o service.Options) (*service.Service, error) {
	o.Unchecked = true
	s, err := a.openService(ctx, o)
	if err != nil {
		return nil, err
	}
	reports, err := s.Catalog.SyncAll(ctx, all)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	for _, r := range reports {
		for _, f := range r.Findings {
			a.log.Info("finding", "tool", f.Tool, "problem", f.Problem, "repair", f.Repair)
		}
	}
	if o.Use == service.ToSearch && !o.Serving {
		s.EmbedNow(ctx)
	}
	return s, nil
}

// openDemo opens the built-in catalogue.
func (a *app) openDemo(ctx context.Context, o service.Options) (*service.Service, error) {
	all, err := demo.Sources()
	if err != nil {
		return nil, err
	}
	return a.openWith(ctx, all, o)
}

// close closes a service. An error is only logged: it means that a temporary folder remains.
func (a *app) close(s *service.Service) {
	if err := s.Close(); err != nil {
		a.log.Warn("cannot remove a temporary folder", "error", err)
	}
}

// memorySource is a sources.Source of tools in memory.
type memorySource struct {
	name  string
	tools []*tool.Tool
}

func (m memorySource) Name() string                                { return m.name }
func (m memorySource) Tools(context.Context) ([]*tool.Tool, error) { return m.tools, nil }

// printDemoHint prints, in the demo only, how to connect an agent.
func (a *app) printDemoHint() {
	if !a.demo {
		return
	}
	program, err := os.Executable()
	if err != nil || strings.Contains(program, "go-build") { // "go run" removes what it built
		program = filepath.Join("bin", "tooldex")
	}
	fmt.Fprintf(a.stdout, `
These are the tools of the demo. To let an agent search them, give its client this server:
  claude mcp add tooldex -- %[1]s serve --demo
or, in any mcpServers configuration:
  {"mcpServers": {"tooldex": {"command": %[1]q, "args": ["serve", "--demo"]}}}
For the servers of your own clients: %[1]s servers import, and serve without --demo.
`, program)
}
