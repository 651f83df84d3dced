package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/search"
	"tooldex/tool"
	"tooldex/tools/internal/gauge"
)

// sizes are the catalogues in which searches are timed: how many tools (zero means the real ones alone), how many
// searches, and the budget of the median.
func sizes() []struct {
	tools, searches int
	budget          time.Duration
} {
	return []struct {
		tools, searches int
		budget          time.Duration
	}{
		{0, 3000, 300 * time.Microsecond},
		{10_000, 2000, 1500 * time.Microsecond},
		{100_000, 500, 10 * time.Millisecond},
	}
}

// searchRows times searches within this process, with the model that the command carries.
func searchRows(ctx context.Context, c config, _ string) ([]row, error) {
	model, err := catalog.BuiltinModel()
	if err != nil {
		return nil, err
	}
	real, err := realTools(ctx, c)
	if err != nil {
		return nil, err
	}
	queries, err := gauge.Queries(c.data)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, size := range sizes() {
		tools := grow(real, size.tools)
		fmt.Fprintf(os.Stderr, "making %d tools searchable\n", len(tools))
		snap, err := catalog.NewSnapshot(ctx, tool.NewSet(tools, ""), model, index.Options{})
		if err != nil {
			return nil, err
		}
		current := &index.Index{}
		current.Swap(snap)
		engine := search.New(search.Options{
			Lookup: current, Embedder: model.Embedder, Base: model.Base,
			Map: model.Encoder,
		})
		times, err := timeSearches(ctx, engine, queries, size.searches)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("search in process, %d tools", len(tools))
		rows = append(rows, timeRow(name+", p50", percentile(times, 50), size.budget),
			row{name + ", p99", milliseconds(percentile(times, 99)), "", true})
	}
	return rows, nil
}

func timeSearches(ctx context.Context, engine tool.Searcher, queries []string, n int) ([]time.Duration, error) {
	times := make([]time.Duration, 0, n)
	for i := range n + len(queries) { // the first round warms caches up and does not count
		q := tool.Query{Text: queries[i%len(queries)], Detail: tool.DetailSignature}
		start := time.Now()
		if _, err := engine.Search(ctx, q); err != nil {
			return nil, err
		}
		if i >= len(queries) {
			times = append(times, time.Since(start))
		}
	}
	return times, nil
}

// realTools reads the dumps as an import does.
func realTools(ctx context.Context, c config) ([]*tool.Tool, error) {
	files, err := gauge.Dumps(c.data)
	if err != nil {
		return nil, err
	}
	var out []*tool.Tool
	for _, file := range files {
		content, err := sources.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, src := range content.Sources {
			tools, err := src.Tools(ctx)
			if err != nil {
				return nil, err
			}
			for _, t := range tools {
				if t.Server == "" {
					t.Server = src.Name()
				}
				if _, err := sanitize.Tool(t); err == nil {
					out = append(out, t)
				}
			}
		}
	}
	return out, nil
}

// grow makes a catalogue of n tools: the real ones, and copies on other servers in which every fourth word of the
// description is one of another tool's, so that words have about as many tools as they would.
func grow(real []*tool.Tool, n int) []*tool.Tool {
	out := append([]*tool.Tool(nil), real...)
	random := rand.New(rand.NewPCG(7, 11))
	words := make([][]string, len(real))
	for i, t := range real {
		words[i] = strings.Fields(t.Description)
	}
	for i := 0; len(out) < n; i++ {
		copied := *real[i%len(real)]
		copied.Server = fmt.Sprintf("%s-%d", copied.Server, 1+i/len(real))
		own := append([]string(nil), words[i%len(real)]...)
		for j := range own {
			if other := words[random.IntN(len(words))]; len(other) > 0 && j%4 == 3 {
				own[j] = other[random.IntN(len(other))]
			}
		}
		copied.Description = strings.Join(own, " ")
		out = append(out, &copied)
	}
	return out
}
