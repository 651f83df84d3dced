package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// weaviate is a Weaviate, asked over REST and GraphQL. It holds the vectors in a graph, and the words as a text whose
// words are repeated by their weight, so that its BM25 gives about the word scores of tooldex.
type weaviate struct{ base string }

func (w *weaviate) name() string { return "Weaviate" }

// The constants of BM25F in package index, and how often a word of weight one is repeated.
const (
	saturation = 1.2
	repeats    = 4
)

// weaviateBatch is how many tools one request puts.
const weaviateBatch = 200

// openWeaviate replaces the collection.
func openWeaviate(ctx context.Context, base string) (*weaviate, error) {
	w := &weaviate{base: strings.TrimSuffix(base, "/")}
	if err := w.send(ctx, http.MethodDelete, "/v1/schema/Tool", nil, nil); err != nil {
		return nil, err
	}
	return w, w.send(ctx, http.MethodPost, "/v1/schema", map[string]any{
		"class": "Tool", "vectorizer": "none",
		"vectorIndexConfig": map[string]any{"distance": "dot", "ef": 1000, "efConstruction": 200, "maxConnections": 32},
		"invertedIndexConfig": map[string]any{
			// Lengths are in the weights already, so b is zero.
			"bm25": map[string]any{"k1": saturation * repeats, "b": 0}, "stopwords": map[string]any{"preset": "none"},
		},
		"properties": []any{
			map[string]any{"name": "doc", "dataType": []string{"int"}},
			map[string]any{"name": "words", "dataType": []string{"text"}, "tokenization": "whitespace"},
		},
	}, nil)
}

func (w *weaviate) upsert(ctx context.Context, items []item) error {
	for part := range slices.Chunk(items, weaviateBatch) {
		objects := make([]any, len(part))
		for k := range part {
			it := &part[k]
			objects[k] = map[string]any{
				"class": "Tool", "id": fmt.Sprintf("00000000-0000-4000-8000-%012x", it.doc), "vector": it.vector,
				"properties": map[string]any{"doc": it.doc, "words": repeated(it.words)},
			}
		}
		var results []struct {
			Result struct {
				Status string
				Errors any
			}
		}
		body := map[string]any{"objects": objects}
		if err := w.send(ctx, http.MethodPost, "/v1/batch/objects", body, &results); err != nil {
			return err
		}
		// What fails is said for each object, in an answer whose status is 200.
		for _, r := range results {
			if r.Result.Status != "SUCCESS" {
				return fmt.Errorf("an object of a batch: %s: %v", r.Result.Status, r.Result.Errors)
			}
		}
		if len(results) != len(part) {
			return fmt.Errorf("%d results for %d objects", len(results), len(part))
		}
	}
	return nil
}

// repeated writes words as a text, each about as often as its weight says. A weight lies between zero and saturation+1.
func repeated(words []word) string {
	var b strings.Builder
	for _, one := range words {
		raw := saturation * one.weight / (saturation + 1 - one.weight)
		for range max(1, int(repeats*raw+.5)) {
			b.WriteString(one.text)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func (w *weaviate) byVector(ctx context.Context, a *ask, n int) ([]int32, error) {
	v, err := json.Marshal(a.vector)
	if err != nil {
		return nil, err
	}
	return w.get(ctx, fmt.Sprintf("nearVector: {vector: %s}", v), n)
}

func (w *weaviate) byWords(ctx context.Context, a *ask, n int) ([]int32, error) {
	var terms []string
	for _, one := range a.words {
		// Weaviate weighs all words of a request alike: the thesaurus' words, of a seventh of the weight, are left out.
		if one.weight == 1 {
			terms = append(terms, one.text)
		}
	}
	if len(terms) == 0 {
		return nil, nil
	}
	query, err := json.Marshal(strings.Join(terms, " "))
	if err != nil {
		return nil, err
	}
	return w.get(ctx, fmt.Sprintf("bm25: {query: %s, properties: [\"words\"]}", query), n)
}

// get returns the first n tools of a query.
func (w *weaviate) get(ctx context.Context, by string, n int) ([]int32, error) {
	var out struct {
		Data struct {
			Get struct{ Tool []struct{ Doc int32 } }
		}
		Errors []struct{ Message string }
	}
	query := fmt.Sprintf("{Get{Tool(limit: %d, %s){doc}}}", n, by)
	if err := w.send(ctx, http.MethodPost, "/v1/graphql", map[string]any{"query": query}, &out); err != nil {
		return nil, err
	}
	if len(out.Errors) > 0 {
		return nil, fmt.Errorf("weaviate: %s", out.Errors[0].Message)
	}
	docs := make([]int32, len(out.Data.Get.Tool))
	for i, t := range out.Data.Get.Tool {
		docs[i] = t.Doc
	}
	return docs, nil
}

// send sends a request and reads the answer into one.
func (w *weaviate) send(ctx context.Context, method, path string, body, into any) error {
	var in bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&in).Encode(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, w.base+path, &in)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %.300s", method, path, resp.Status, b)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(b, into)
}
