package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/internal/textclass"
	"tooldex/knowledge"
	"tooldex/search"
	"tooldex/tool"
)

// sample is one request put to one world, with what came of it.
type sample struct {
	fold     int
	kind     string
	exact    bool
	evidence search.Evidence
	first    bool // the best tool serves
}

// collector makes samples.
type collector struct {
	static  *embed.Static
	encoder knowledge.Encoder
	source  *knowledge.Source
	domains map[string]string
	talk    []talk
	words   *translator
	worlds  int // of each fold
	each    int // requests of each kind put to a world
}

// collect returns the samples of all worlds of one fold.
func (c *collector) collect(ctx context.Context, fold int) ([]sample, error) {
	src, kinds := divide(c.source, fold)
	compiled, err := knowledge.Compile(src, c.encoder)
	if err != nil {
		return nil, fmt.Errorf("compile fold %d: %w", fold, err)
	}
	base, err := knowledge.Open(compiled)
	if err != nil {
		return nil, fmt.Errorf("open fold %d: %w", fold, err)
	}
	model, err := textclass.Open(trainTalk(c.source, c.talk, c.words, fold))
	if err != nil {
		return nil, err
	}
	embedOperations(kinds, c.encoder)
	var unseen []talk
	for _, t := range c.talk {
		if talkFold(t.Text) == fold {
			unseen = append(unseen, t)
		}
	}
	var out []sample
	for i := range c.worlds {
		r := rand.New(rand.NewPCG(uint64(fold), uint64(i)))
		w := drawWorld(kinds, c.domains, worldSize(i, c.worlds), r)
		requests := w.drawRequests(unseen, c.encoder, c.each, r)
		dress(requests, c.words, r)
		some, err := c.put(ctx, base, w, requests, model)
		if err != nil {
			return nil, err
		}
		for k := range some {
			some[k].fold = fold
		}
		out = append(out, some...)
	}
	return out, nil
}

// open makes a world searchable, and returns the operation of each tool.
func (c *collector) open(ctx context.Context, base *knowledge.Base, w *world) (*search.Engine, map[tool.ID]*operation,
	error,
) {
	of := map[tool.ID]*operation{}
	var tools []*tool.Tool
	for _, p := range w.tools {
		t, err := p.asTool()
		if err != nil {
			return nil, nil, err
		}
		if _, err := sanitize.Tool(t); err != nil {
			return nil, nil, err
		}
		if of[t.ID()] == nil {
			of[t.ID()] = p
			tools = append(tools, t)
		}
	}
	snap, err := catalog.NewSnapshot(ctx, tool.NewSet(tools, ""),
		catalog.Model{Embedder: c.static, Base: base, Encoder: c.encoder}, index.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("index a world: %w", err)
	}
	current := &index.Index{}
	current.Swap(snap)
	return search.New(search.Options{Lookup: current, Embedder: c.static, Base: base, Map: c.encoder}), of, nil
}

// same is the likeness from which two operations answer the same requests.
const same = .8

// put puts requests to a world, on all processors.
func (c *collector) put(ctx context.Context, base *knowledge.Base, w *world, requests []request,
	model *textclass.Model,
) ([]sample, error) {
	engine, of, err := c.open(ctx, base, w)
	if err != nil {
		return nil, err
	}
	out := make([]sample, len(requests))
	var (
		next  atomic.Int64
		group sync.WaitGroup
		first atomic.Pointer[error]
	)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(requests) && first.Load() == nil; i = int(next.Add(1)) - 1 {
				q := requests[i]
				j, err := engine.Judge(ctx, q.text, 10)
				if err != nil {
					first.CompareAndSwap(nil, &err)
					return
				}
				s := sample{kind: q.kind, exact: j.Exact, evidence: j.Evidence}
				s.evidence[search.EvidenceIndex("talk")] = search.BoundTalk(float64(model.Score(q.text)))
				if q.kind == answerable && len(j.Hits) > 0 {
					p := of[j.Hits[0].ID]
					s.first = p == q.of || p.likeness(q.of) >= same
				}
				out[i] = s
			}
		})
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return nil, *err
	}
	return out, nil
}

// domainsOf returns the domain of each kind of server: the folder that it lies in.
func domainsOf(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "archetypes", "*", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(b)) {
			var a knowledge.Archetype
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			out[a.Server] = filepath.Base(filepath.Dir(file))
		}
	}
	return out, nil
}
