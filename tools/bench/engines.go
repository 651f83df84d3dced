package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	chromem "github.com/philippgille/chromem-go"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/index"
	"tooldex/internal/vector"
	"tooldex/knowledge"
	"tooldex/search"
	"tooldex/tool"
	"tooldex/tools/internal/gauge"
	"tooldex/tools/internal/provenance"
)

// engineSearches is how often each engine is asked in one catalogue; the requests of the labelled set repeat.
const engineSearches = 300

// engine is one way to find ten tools for a request.
type engine struct {
	name string
	// bytes that one search reads of the vectors; 0 where that is not known
	reads int
	ask   func(query string, v []float32) error
}

// enginesPage times searches of tooldex beside those of other engines, over the same catalogues and requests in turn.
func enginesPage(ctx context.Context, c config) (string, error) {
	model, err := catalog.BuiltinModel()
	if err != nil {
		return "", err
	}
	real, err := realTools(ctx, c)
	if err != nil {
		return "", err
	}
	queries, err := gauge.Queries(c.data)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Search beside other engines\n\n%s\n\n", provenance.Line(ctx, "make bench-engines"))
	fmt.Fprintf(&b, "Ten tools for each of %d requests, one at a time, the engines in turn, in one process. tooldex does the whole\n"+
		"search: it analyses the request, ranks by words and meaning, judges the answer and writes signatures. The others do a\n"+
		"part of it: the scans and chromem compare vectors that are made beforehand, bleve matches words.\n\n", engineSearches)
	b.WriteString("| tools | engine | p50 | p99 | vectors read a second |\n|---|---|---|---|---|\n")
	var overlaps []string
	for _, size := range []int{0, 10_000, 100_000} {
		rows, overlap, err := timeEngines(ctx, model, grow(real, size), queries)
		if err != nil {
			return "", err
		}
		b.WriteString(rows)
		overlaps = append(overlaps, overlap)
	}
	b.WriteString("\n## Answers against an exact scan\n\nFrom 20,000 tools on, most vectors are compared roughly " +
		"([ADR 27](adr/0027-rough-cosines.md)). A search that is limited to\nall servers by name compares all of them exactly. " +
		"Shared of the first ten, over the labelled requests:\n\n")
	b.WriteString(strings.Join(overlaps, ""))
	return b.String(), nil
}

// timeEngines returns the table rows of one catalogue, and how far tooldex's answers are those of an exact scan.
func timeEngines(ctx context.Context, model catalog.Model, tools []*tool.Tool, queries []string) (rows, overlap string, err error) {
	fmt.Fprintf(os.Stderr, "engines over %d tools\n", len(tools))
	set := tool.NewSet(tools, "")
	snap, err := catalog.NewSnapshot(ctx, set, model, index.Options{})
	if err != nil {
		return "", "", err
	}
	current := &index.Index{}
	current.Swap(snap)
	ours := search.New(search.Options{Lookup: current, Embedder: model.Embedder, Base: model.Base, Map: model.Encoder})
	engines := []engine{{name: "tooldex, the whole search", ask: func(query string, _ []float32) error {
		_, err := ours.Search(ctx, tool.Query{Text: query, Limit: 10, Detail: tool.DetailSignature})
		return err
	}}}
	more, err := otherEngines(ctx, set.All(), model)
	if err != nil {
		return "", "", err
	}
	engines = append(engines, more...)
	times := make([][]time.Duration, len(engines))
	v := make([]float32, model.Encoder.Dims)
	for n := range engineSearches + 20 {
		query := queries[n%len(queries)]
		model.Encoder.Query(query, v)
		for i, e := range engines {
			start := time.Now()
			if err := e.ask(query, v); err != nil {
				return "", "", fmt.Errorf("%s: %w", e.name, err)
			}
			if n >= 20 {
				times[i] = append(times[i], time.Since(start))
			}
		}
	}
	for i, e := range engines {
		p50 := percentile(times[i], 50)
		rate := ""
		if e.reads > 0 {
			rate = fmt.Sprintf("%.1f GB/s", float64(e.reads)/p50.Seconds()/1e9)
		}
		rows += fmt.Sprintf("| %d | %s | %s | %s | %s |\n", len(tools), e.name, milliseconds(p50),
			milliseconds(percentile(times[i], 99)), rate)
	}
	share, err := exactOverlap(ctx, ours, set, queries)
	return rows, fmt.Sprintf("- %d tools: %.4f\n", len(tools), share), err
}

// otherEngines fills the engines that tooldex is compared with.
func otherEngines(ctx context.Context, tools []*tool.Tool, model catalog.Model) ([]engine, error) {
	dims := model.Encoder.Dims
	flat, small := make([]float32, len(tools)*dims), make([]int8, len(tools)*dims)
	scores := make([]float32, len(tools))
	db, err := chromem.NewDB().CreateCollection("tools", nil, nil)
	if err != nil {
		return nil, err
	}
	words, err := bleve.NewMemOnly(bleve.NewIndexMapping())
	if err != nil {
		return nil, err
	}
	batch := words.NewBatch()
	for i, t := range tools {
		doc := knowledge.ToolText(t)
		row := flat[i*dims : (i+1)*dims]
		model.Encoder.Document(doc.Name, doc.Description, doc.Parameters, row)
		for k, x := range row {
			small[i*dims+k] = int8(max(-127, min(127, x*400)))
		}
		if vector.Dot(row, row) > 0 {
			if err := db.AddDocument(ctx, chromem.Document{ID: strconv.Itoa(i), Embedding: row}); err != nil {
				return nil, err
			}
		}
		if err := batch.Index(strconv.Itoa(i), embed.Document{Name: doc.Name, Description: doc.Description}); err != nil {
			return nil, err
		}
		if batch.Size() == 1000 || i == len(tools)-1 {
			if err := words.Batch(batch); err != nil {
				return nil, err
			}
			batch.Reset()
		}
	}
	copied, into := make([]float32, len(flat)), make([]int8, dims)
	return []engine{
		{"a scan of all vectors, float32", 4 * len(flat), func(_ string, v []float32) error {
			for i := range tools {
				scores[i] = vector.Dot(v, flat[i*dims:(i+1)*dims])
			}
			return nil
		}},
		{"a scan of all vectors, int8, plain Go", len(small), func(_ string, v []float32) error {
			for k, x := range v {
				into[k] = int8(max(-127, min(127, x*400)))
			}
			for i := range tools {
				scores[i] = dotInt8(into, small[i*dims:(i+1)*dims])
			}
			return nil
		}},
		{"a copy of the float32 vectors (memory bandwidth)", 4 * len(flat), func(string, []float32) error {
			copy(copied, flat)
			return nil
		}},
		{"chromem, ten nearest", 4 * len(flat), func(_ string, v []float32) error {
			_, err := db.QueryEmbedding(ctx, v, 10, nil, nil)
			return err
		}},
		{"bleve, ten by words, in memory", 0, func(query string, _ []float32) error {
			_, err := words.SearchInContext(ctx, bleve.NewSearchRequestOptions(bleve.NewMatchQuery(query), 10, 0, false))
			return err
		}},
	}, nil
}

// dotInt8 returns the product of two vectors of one length.
func dotInt8(a, b []int8) float32 {
	var sum int32
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return float32(sum)
}

// exactOverlap returns the mean share of the first ten tools that a search and an exact one have in common.
func exactOverlap(ctx context.Context, ours tool.Searcher, set *tool.Set, queries []string) (float64, error) {
	var servers []string
	for _, s := range set.Servers() {
		servers = append(servers, s.Name)
	}
	sum := 0.0
	for _, query := range queries {
		var found [2][]tool.ID
		for i, of := range [][]string{nil, servers} {
			q := tool.Query{Text: query, Limit: 10, Detail: tool.DetailName}
			q.Filter.Servers = of
			res, err := ours.Search(ctx, q)
			if err != nil {
				return 0, err
			}
			for _, h := range res.Tools {
				found[i] = append(found[i], h.ID)
			}
		}
		same := 0
		for _, id := range found[0] {
			if slices.Contains(found[1], id) {
				same++
			}
		}
		if n := max(len(found[0]), len(found[1])); n > 0 {
			sum += float64(same) / float64(n)
		} else {
			sum++
		}
	}
	return sum / float64(len(queries)), nil
}
