package inspect

import (
	"context"
	"testing"

	"tooldex/catalog"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/search"
	"tooldex/tool"
)

// office is a catalogue with a pair of twins on two servers, a pair that differs in a word, a tool that says nothing,
// and some that are fine.
func office() []*tool.Tool {
	schema := func(s string) []byte { return []byte(`{"type":"object","properties":{` + s + `}}`) }
	return []*tool.Tool{
		{
			Server: "desk", Name: "send_letter", Description: "Send a letter by post to somebody's address",
			Utterances: []tool.Utterance{{Text: "mail this to my aunt on paper"}},
		},
		{
			Server: "desk", Name: "water_plants", Description: "Water the plants in the office",
			Examples: []tool.Example{{Description: "give the ficus a drink"}},
		},
		{Server: "desk", Name: "book_room", Description: "Reserve a meeting room for a time"},
		{
			Server: "desk", Name: "book_room_weekly", Description: "Reserve a meeting room for a time every week",
			InputSchema: schema(`"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string","description":"who"}`),
		},
		{Server: "desk", Name: "run", InputSchema: schema(``)},
		{Server: "east", Name: "list_files", Description: "List the files in a folder"},
		{Server: "west", Name: "list_files", Description: "List the files in a folder"},
		{Server: "west", Name: "old_thing", Description: "Does what nobody needs any more", Disabled: true},
	}
}

// inspector inspects tools through the search that the program has, with the model and the knowledge that it carries.
func inspector(t testing.TB, tools []*tool.Tool, requests map[tool.ID][]Request) *Inspector {
	t.Helper()
	model, err := catalog.BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	set := tool.NewSet(tools, "")
	snap, err := catalog.NewSnapshot(context.Background(), set, model, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := &index.Index{}
	x.Swap(snap)
	var analyzer knowledge.Analyzer
	return New(Options{
		Set:      set,
		Searcher: search.New(search.Options{Lookup: x, Embedder: model.Embedder, Base: model.Base, Map: model.Encoder}),
		Words: func(text string, yield func(word, term string)) {
			knowledge.Words(text, func(w string) {
				for _, term := range analyzer.Terms(nil, w) {
					yield(w, term)
				}
			})
		},
		Requests: func(tl *tool.Tool) []Request {
			out := requests[tl.ID()]
			for _, u := range tl.Utterances {
				out = append(out, Request{Text: u.Text, From: Declared})
			}
			for _, e := range tl.Examples {
				out = append(out, Request{Text: e.Description, From: Example})
			}
			return out
		},
	})
}

// broken is a Searcher that fails.
type broken struct{}

func (broken) Search(context.Context, tool.Query) (*tool.Result, error) {
	return nil, &tool.Error{Code: tool.Unavailable, Op: "search", Msg: "index is away"}
}

func failing(t testing.TB) *Inspector {
	in := inspector(t, office(), nil)
	in.o.Searcher = broken{}
	return in
}
