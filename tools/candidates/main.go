package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"tooldex/catalog"
	"tooldex/eval"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/tools/internal/provenance"
)

// config is what the command line says.
type config struct {
	data, requests, postgres, weaviate string
	index, set                         string
	words, search                      bool
}

// most is how many candidates engines are asked for, for each text and branch.
const most = 400

func main() {
	var c config
	flag.StringVar(&c.data, "data", "../shared/data", "the folder with the sets")
	flag.StringVar(&c.requests, "requests", "intents", "the set whose requests are asked of a data directory")
	flag.StringVar(&c.postgres, "postgres", "", "the address of a database with the extension vector")
	flag.StringVar(&c.weaviate, "weaviate", "", "the address of a Weaviate, such as http://127.0.0.1:8080")
	flag.BoolVar(&c.words, "words", true, "have PostgreSQL index the words, too")
	flag.BoolVar(&c.search, "search", false, "only time the searches of tooldex")
	flag.StringVar(&c.index, "index", "ivfflat (lists = 320)", "how PostgreSQL indexes vectors")
	flag.StringVar(&c.set, "set", "SET ivfflat.probes = 64", "what is set in PostgreSQL before the first search")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Println(provenance.Line(ctx, "tools/candidates"))
	for _, arg := range flag.Args() {
		if err := run(ctx, c, arg); err != nil {
			fmt.Fprintln(os.Stderr, "candidates:", err)
			os.Exit(1)
		}
	}
}

// run measures one catalogue.
func run(ctx context.Context, c config, where string) error {
	s, texts, err := open(ctx, c, where)
	if err != nil {
		return err
	}
	times, err := s.answer(ctx, texts)
	if err != nil {
		return err
	}
	again, err := s.answer(ctx, texts)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %d tools, %d requests; the whole search, at first p50 %s, p99 %s, then p50 %s, p99 %s\n",
		filepath.Base(where), s.snap.Len(), len(texts), percentile(times, 50), percentile(times, 99), percentile(again, 50),
		percentile(again, 99))
	if c.search {
		return nil
	}
	if err := s.readItems(); err != nil {
		return err
	}
	if err := s.prepareAsks(ctx); err != nil {
		return err
	}
	exact, err := s.measure(ctx, &local{snap: s.snap}, nil)
	if err != nil {
		return err
	}
	if c.postgres != "" {
		p, err := openPgvector(ctx, c.postgres, s.snap.Dims(), c)
		if err != nil {
			return err
		}
		if _, err := s.measure(ctx, p, exact); err != nil {
			return err
		}
		size, err := p.size(ctx)
		if err != nil {
			return err
		}
		fmt.Println("  " + size)
	}
	if c.weaviate != "" {
		w, err := openWeaviate(ctx, c.weaviate)
		if err != nil {
			return err
		}
		if _, err := s.measure(ctx, w, exact); err != nil {
			return err
		}
	}
	return nil
}

// open makes a catalogue searchable, and returns the requests to ask of it.
func open(ctx context.Context, c config, where string) (*subject, []string, error) {
	model, err := catalog.BuiltinModel()
	if err != nil {
		return nil, nil, err
	}
	s := &subject{model: model}
	if _, err := os.Stat(filepath.Join(where, store.FileName)); err == nil {
		file, err := store.Open(where, store.Options{})
		if err != nil {
			return nil, nil, err
		}
		current := &index.Index{}
		if _, err := catalog.Open(ctx, catalog.Options{Store: file, Model: model, Index: current, Images: true}); err != nil {
			return nil, nil, err
		}
		s.snap = current.Current()
		texts, err := readRequests(filepath.Join(c.data, c.requests))
		return s, texts, err
	}
	dir := filepath.Join(c.data, where)
	d, err := eval.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range d.Tools {
		if _, err := sanitize.Tool(t); err != nil {
			return nil, nil, err
		}
	}
	if s.snap, err = catalog.NewSnapshot(ctx, tool.NewSet(d.Tools, ""), model, index.Options{}); err != nil {
		return nil, nil, err
	}
	texts, err := readRequests(dir)
	return s, texts, err
}

// readRequests returns the requests of a set.
func readRequests(dir string) (texts []string, err error) {
	f, err := os.Open(filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one struct{ Query string }
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, err
		}
		texts = append(texts, one.Query)
	}
	return texts, lines.Err()
}

// measure fills an engine, asks it, and prints what it gives. Exact is what reading all tools gives.
func (s *subject) measure(ctx context.Context, e engine, exact *found) (*found, error) {
	start := time.Now()
	if err := e.upsert(ctx, s.items); err != nil {
		return nil, err
	}
	took := time.Since(start)
	if _, err := s.ask(ctx, e, most); err != nil { // the first requests fill caches
		return nil, err
	}
	f, err := s.ask(ctx, e, most)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%s: filled in %s (%.0f tools a second); %d candidates of each branch p50 %s, p99 %s\n", e.name(),
		took.Round(time.Millisecond), float64(len(s.items))/took.Seconds(), most, percentile(f.times, 50),
		percentile(f.times, 99))
	if exact != nil {
		fmt.Printf("  of the exact %d: by vector %.4f, by words %.4f\n", most, recall(f.vectors, exact.vectors, most),
			recall(f.words, exact.words, most))
	}
	for _, n := range [][2]int{{200, 0}, {400, 0}, {200, 200}, {400, 200}, {400, 400}} {
		ten, first := s.shares(f, n[0], n[1])
		fmt.Printf("  %3d by vector, %3d by words: overlap@10 %.4f, first %.4f\n", n[0], n[1], ten, first)
	}
	return f, nil
}
