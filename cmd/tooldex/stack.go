package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"sync"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/cmd/tooldex/demo"
	"tooldex/index"
	"tooldex/learn"
	"tooldex/search"
	"tooldex/store"
	"tooldex/tool"
)

const importHint = "tooldex import FILE reads tools/list dumps, catalogue files and mcpServers files; --demo shows what it is like"

// stack is the part of the program that every verb needs: what is stored, and the search over it.
type stack struct {
	store   *store.Store
	catalog *catalog.Catalog
	engine  *search.Engine
	// searcher is engine for clients, who take turns.
	searcher tool.Searcher
	// searching is what engine was made of.
	searching search.Options
	learner   *learn.Learner
	running   running       // tells engine how the servers are
	index     *index.Index  // what engine searches; nil without an engine
	model     catalog.Model // what makes it searchable, or will
	chosen    *embedder     // the model in place of the built-in one; nil for that
	ending    func()        // ends what goes on in the background; nil for nothing
	scratch   string        // the folder to remove in the end; "" for stored tools
	lasting   bool          // its tools are those of the data directory, and not made for this run alone
	demo      bool
}

// open opens the stored tools, or those of the demo.
func (a *app) open(ctx context.Context, u use) (*stack, error) {
	if a.demo {
		return a.openDemo(ctx, u)
	}
	return a.openDir(ctx, a.dataDir, u)
}

func (a *app) openDir(ctx context.Context, dir string, u use) (*stack, error) {
	s, err := a.openStore(ctx, dir, u)
	if a.serving && errors.Is(err, store.ErrDamaged) {
		if err = a.heal(ctx, dir, err); err == nil {
			s, err = a.openStore(ctx, dir, u)
		}
	}
	return s, err
}

func (a *app) openStore(ctx context.Context, dir string, u use) (*stack, error) {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return nil, err
	}
	out := &stack{store: s, lasting: dir == a.dataDir}
	return out, a.connect(ctx, out, u)
}

// openScratch makes tools searchable for as long as the command runs.
func (a *app) openScratch(ctx context.Context, all []sources.Source, u use) (*stack, error) {
	dir, err := os.MkdirTemp("", "tooldex")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	s, err := a.openDir(ctx, dir, u)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.scratch = dir
	reports, err := s.catalog.SyncAll(ctx, all)
	if err != nil {
		s.close()
		return nil, err
	}
	for _, r := range reports {
		for _, f := range r.Findings {
			a.log.Info("finding", "tool", f.Tool, "problem", f.Problem, "repair", f.Repair)
		}
	}
	if u == toSearch && !a.serving {
		a.embedNow(ctx, s)
	}
	return s, nil
}

func (a *app) openDemo(ctx context.Context, u use) (*stack, error) {
	var all []sources.Source
	files, err := fs.Glob(demo.FS, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list the demo catalogue: %w", err)
	}
	for _, name := range files {
		b, err := demo.FS.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the demo catalogue: %w", err)
		}
		content, err := sources.Parse(name, b)
		if err != nil {
			return nil, err
		}
		all = append(all, content.Sources...)
	}
	s, err := a.openScratch(ctx, all, u)
	if err != nil {
		return nil, err
	}
	s.demo = true
	return s, nil
}

// embedding has tools embedded in the background until the stack is closed.
func (s *stack) embedding(ctx context.Context, a *app) {
	ctx, stop := context.WithCancel(ctx)
	var task sync.WaitGroup
	task.Go(func() { a.embedAlways(ctx, s) })
	s.ending = func() {
		stop()
		task.Wait()
	}
}

// close ends what goes on in the background, and removes what was made for this run alone. A temporary folder that
// stays behind is no reason to fail.
func (s *stack) close() {
	if s.ending != nil {
		s.ending()
	}
	if s.scratch != "" {
		_ = os.RemoveAll(s.scratch)
	}
}

// given is a source of tools that are in memory already.
type given struct {
	name  string
	tools []*tool.Tool
}

func (g given) Name() string                                { return g.name }
func (g given) Tools(context.Context) ([]*tool.Tool, error) { return g.tools, nil }

// servers gives the configured servers, by name: those that are stored, and those of the configuration file, which win.
func (a *app) servers(s *stack) ([]tool.Server, error) {
	return merge(slices.Clone(s.catalog.Servers()), a.conf.servers()), nil
}

// merge puts more in the place of those of the same name, and keeps the order by name.
func merge(all, more []tool.Server) []tool.Server {
	for _, m := range more {
		all = slices.DeleteFunc(all, func(s tool.Server) bool { return s.Name == m.Name })
	}
	all = append(all, more...)
	slices.SortFunc(all, func(a, b tool.Server) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func sameServer(a, b tool.Server) bool { return reflect.DeepEqual(a, b) }

// saveServers stores the configuration of servers.
func (s *stack) saveServers(ctx context.Context, servers []tool.Server) error {
	if _, err := s.store.Write(ctx, &store.Batch{Servers: servers}); err != nil {
		return err
	}
	_, err := s.catalog.Refresh(ctx)
	return err
}

// removeServer forgets a server and its tools, whether it was configured or came from a file.
func (s *stack) removeServer(ctx context.Context, name string) error {
	_, err := s.catalog.Remove(ctx, name)
	if err != nil && tool.CodeOf(err) == tool.NotFound {
		return &tool.Error{
			Code: tool.NotFound, Op: "remove", Msg: fmt.Sprintf("there is no server named %q", name),
			Hint: "tooldex servers list shows them",
		}
	}
	return err
}
