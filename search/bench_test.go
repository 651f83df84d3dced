package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// syntheticSnapshot makes n tools of the words of real requests, fixed by a seed. It indexes them as the catalogue
// does, but for lending, which would take minutes at a hundred thousand: words and landmarks are lent at random
// instead.
func syntheticSnapshot(b testing.TB, n int) *index.Snapshot {
	b.Helper()
	m, r := builtin(b), rand.New(rand.NewPCG(1, 1))
	var said []string
	for i := 0; i < m.Base.Len(); i += 256 {
		h, err := m.Base.Head(i)
		if err != nil {
			b.Fatal(err)
		}
		said = append(said, h.Utterances...)
	}
	var an knowledge.Analyzer
	terms := an.Count
	pick := func() string { return said[r.IntN(len(said))] }
	tools := make([]*tool.Tool, n)
	for i := range tools {
		words := strings.Fields(pick())
		tools[i] = &tool.Tool{
			Server: fmt.Sprintf("server%05d", i/30), Name: fmt.Sprintf("%s_%d",
				strings.Join(words[:min(2, len(words))], "_"), i), Description: pick() + ". " + pick(),
			InputSchema: json.RawMessage(`{"type":"object"}`),
		}
	}
	set := tool.NewSet(tools, "")
	docs := make([]index.Doc, set.Len())
	for i, t := range set.All() {
		x := knowledge.ToolText(t)
		docs[i].Fields[index.Name], docs[i].Fields[index.Text], docs[i].Fields[index.Lent] = terms(x.Name),
			terms(x.Description), terms(pick()+" "+pick()+" "+pick())
		vs, err := m.Embedder.Documents(b.Context(), []embed.Document{{
			Name: x.Name, Description: x.Description,
			Parameters: x.Parameters,
		}})
		if err != nil {
			b.Fatal(err)
		}
		docs[i].Vector = vs[0]
		for k := range 16 {
			docs[i].Landmarks = append(docs[i].Landmarks, index.Landmark{
				Point: int32(r.IntN(m.Base.Len())),
				Like:  .9 - float32(k)/40,
			})
		}
	}
	snap, err := index.Build(set, docs, index.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return snap
}

func BenchmarkSearch(b *testing.B) {
	requests := []string{
		"file a bug about the broken login", "what is on my agenda today",
		"give the customer her money back", "list open issues and send an email to the team", "Datei löschen",
	}
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			e := New(options(b, syntheticSnapshot(b, n)))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if r := mustSearch(b, e, tool.Query{
					Text:   requests[i%len(requests)],
					Detail: tool.DetailSignature,
				}); len(r.Tools) != tool.DefaultLimit {
					b.Fatal(len(r.Tools))
				}
				i++
			}
		})
	}
}

// TestAllocations holds what each further tool of an answer costs.
func TestAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	e := engineOf(t, archetypeTools(t, 300))
	for _, detail := range []tool.Detail{tool.DetailName, tool.DetailSummary, tool.DetailSignature, tool.DetailSchema} {
		of := func(limit int) float64 {
			q := tool.Query{Text: "file a bug about the broken login", Limit: limit, Detail: detail}
			return testing.AllocsPerRun(20, func() {
				if r := mustSearch(t, e, q); len(r.Tools) != limit {
					t.Fatalf("%d tools", len(r.Tools))
				}
			})
		}
		few, many := of(20), of(100)
		if many-few > 2*80+20 { // twenty for a pool that was emptied in between, as it is at random under the race detector
			t.Errorf("%s: %.2f allocations for each tool, %.0f for 20", detail, (many-few)/80, few)
		}
	}
}
