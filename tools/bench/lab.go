package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/cmd/tooldex/demo"
	"tooldex/embed"
	"tooldex/eval"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/knowledge"
	"tooldex/search"
	"tooldex/tool"
)

// lab is where searches are taken apart and put together otherwise than in the command, over the same sets. The
// knowledge is compiled anew, so that parts of it can be left out.
type lab struct {
	data      string
	static    *embed.Static
	encoder   knowledge.Encoder
	source    *knowledge.Source
	base      *knowledge.Base
	shipped   bool // the command carries this very knowledge
	sets      map[string]*labelled
	snapshots map[string]*index.Snapshot
}

// labelled is a set with its tools as a catalogue has them.
type labelled struct {
	*eval.Dataset
	catalogue *tool.Set
}

func newLab(c config) (*lab, error) {
	static, err := embed.Builtin()
	if err != nil {
		return nil, err
	}
	l := &lab{
		data: c.data, static: static, encoder: catalog.Encoder(static), sets: map[string]*labelled{},
		snapshots: map[string]*index.Snapshot{},
	}
	if l.source, err = knowledge.ReadSource(os.DirFS(c.knowledge)); err != nil {
		return nil, err
	}
	if l.base, err = l.compile(l.source); err != nil {
		return nil, err
	}
	builtin, err := knowledge.Builtin()
	if err != nil {
		return nil, err
	}
	l.shipped = builtin.Version() == l.base.Version()
	return l, nil
}

func (l *lab) compile(src *knowledge.Source) (*knowledge.Base, error) {
	b, err := knowledge.Compile(src, l.encoder)
	if err != nil {
		return nil, err
	}
	return knowledge.Open(b)
}

// set loads a set by its name, once.
func (l *lab) set(ctx context.Context, name string) (*labelled, error) {
	if s := l.sets[name]; s != nil {
		return s, nil
	}
	s, err := l.load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	s.Name = name
	l.sets[name] = s
	return s, nil
}

func (l *lab) load(ctx context.Context, name string) (*labelled, error) {
	if name == demoSet {
		return loadDemo(ctx)
	}
	dir := filepath.Join(l.data, name)
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join(l.data, "sets", name)
	}
	d, err := eval.Load(dir)
	if err != nil {
		return nil, err
	}
	tools, err := clean(d.Tools)
	return &labelled{d, tools}, err
}

// clean makes tools fit to be served, as an import does.
func clean(tools []*tool.Tool) (*tool.Set, error) {
	for _, t := range tools {
		if _, err := sanitize.Tool(t); err != nil {
			return nil, err
		}
	}
	return tool.NewSet(tools, ""), nil
}

// loadDemo reads the set that is compiled into the command.
func loadDemo(ctx context.Context) (*labelled, error) {
	files, err := fs.Glob(demo.FS, "*")
	if err != nil {
		return nil, err
	}
	var (
		tools    []*tool.Tool
		requests []byte
	)
	for _, name := range files {
		b, err := demo.FS.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".jsonl") {
			requests = append(append(requests, bytes.TrimSpace(b)...), '\n')
			continue
		}
		content, err := sources.Parse(name, b)
		if err != nil {
			return nil, err
		}
		for _, src := range content.Sources {
			more, err := src.Tools(ctx)
			if err != nil {
				return nil, err
			}
			tools = append(tools, more...)
		}
	}
	set, err := clean(tools)
	if err != nil {
		return nil, err
	}
	d, err := loadRequests(requests, set)
	return &labelled{d, set}, err
}

// loadRequests reads requests that are in memory: eval reads them from files.
func loadRequests(requests []byte, set *tool.Set) (*eval.Dataset, error) {
	dir, err := os.MkdirTemp("", "tooldex-bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "queries.jsonl")
	if err := os.WriteFile(file, requests, 0o600); err != nil {
		return nil, err
	}
	return eval.LoadCases(file, set)
}

// setup is one way to search: what tools are indexed with, and what the engine knows when a request comes.
type setup struct {
	name    string
	indexed string // names what tools are indexed with; setups of one name share snapshots
	tools   catalog.Model
	engine  search.Options // but for Lookup
	mode    tool.Mode
}

// plain is BM25F over what tools say of themselves, and nothing else.
func (l *lab) plain() setup {
	return setup{name: "words alone (BM25F)", indexed: "words", mode: tool.Keyword}
}

// whole is the search as the command has it.
func (l *lab) whole() setup {
	return l.with("the whole search", l.base)
}

func (l *lab) with(name string, base *knowledge.Base) setup {
	return setup{
		name: name, indexed: "lent by " + base.Version() + fmt.Sprint(base.Len()), mode: tool.Hybrid,
		tools:  catalog.Model{Embedder: l.static, Base: base, Encoder: l.encoder},
		engine: search.Options{Embedder: l.static, Base: base, Map: l.encoder},
	}
}

// open makes a set searchable by a setup.
func (l *lab) open(ctx context.Context, s setup, set *labelled) (*search.Engine, *index.Snapshot, error) {
	key := set.Name + " " + s.indexed
	snap := l.snapshots[key]
	if snap == nil {
		var err error
		if snap, err = catalog.NewSnapshot(ctx, set.catalogue, s.tools, index.Options{}); err != nil {
			return nil, nil, fmt.Errorf("index %s: %w", set.Name, err)
		}
		l.snapshots[key] = snap
	}
	current := &index.Index{}
	current.Swap(snap)
	o := s.engine
	o.Lookup = current
	return search.New(o), snap, nil
}

// rankings is how sets are run here: for places alone, on both processors, since nothing is timed.
func rankings(mode tool.Mode) eval.Options {
	return eval.Options{Mode: mode, Limit: tool.MaxLimit, Answer: -1, Workers: 2}
}

// run puts the requests of a set to a setup.
func (l *lab) run(ctx context.Context, s setup, set *labelled) (*eval.Report, error) {
	engine, _, err := l.open(ctx, s, set)
	if err != nil {
		return nil, err
	}
	return eval.Run(ctx, engine, set.Dataset, rankings(s.mode))
}

// runNamed is run for a set by its name.
func (l *lab) runNamed(ctx context.Context, s setup, name string) (*eval.Report, error) {
	set, err := l.set(ctx, name)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", name, s.name)
	return l.run(ctx, s, set)
}

// scoresOf returns the means of a kind of requests, "" for all, and how many there are.
func scoresOf(r *eval.Report, kind string) (eval.Scores, int) {
	if kind == "" {
		return r.All.Scores, r.All.Queries
	}
	for _, k := range r.Kinds {
		if k.Kind == kind {
			return k.Scores, k.Queries
		}
	}
	return nil, 0
}
