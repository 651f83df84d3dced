package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/mcpsrv"
	"tooldex/tool"
)

// offices is a server of each tool that the tasks call, and of ten others, each with a schema that asks for nothing.
func offices() nearest {
	var tools []*tool.Tool
	for i := range 10 {
		tools = append(tools, &tool.Tool{
			Server: "aaa", Name: fmt.Sprint("other_", i),
			Description: strings.Repeat("words ", 50), InputSchema: json.RawMessage(`{"type":"object"}`),
		})
	}
	for _, one := range tasks() {
		server, name, _ := strings.Cut(one.tool, "__")
		tools = append(tools, &tool.Tool{Server: server, Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return nearest{alive{tool.NewSet(tools, "")}}
}

// TestTasksArePlayed plays them in each mode against a search that finds five others, so that every task searches
// twice.
func TestTasksArePlayed(t *testing.T) {
	turns := map[mcpsrv.Mode]int{mcpsrv.Full: 10, mcpsrv.Lazy: 20, mcpsrv.Dynamic: 30, mcpsrv.Search: 40}
	for mode, want := range turns {
		t.Run(string(mode), func(t *testing.T) {
			n := offices()
			srv := mcpsrv.New(mcpsrv.Options{Searcher: n, Caller: n, Catalog: n, Mode: mode})
			theirs, ours := mcp.NewInMemoryTransports()
			ran := make(chan error, 1)
			go func() { ran <- srv.Run(context.Background(), ours) }()
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				theirs, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = srv.Close()
				<-ran
			}()
			p := &player{ClientSession: session}
			if err := p.list(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, one := range tasks() {
				if err := p.do(t.Context(), mode, one); err != nil {
					t.Fatalf("%s: %v", one.tool, err)
				}
			}
			if p.turns != want || p.found != 0 {
				t.Errorf("%d turns, %d found; want %d and none", p.turns, p.found, want)
			}
			if grows := mode == mcpsrv.Dynamic; grows != (p.added > 0) || p.last-p.first != p.added {
				t.Errorf("the list was %d and is %d, %d were added", p.first, p.last, p.added)
			}
			if p.once() != p.first+p.added+p.talk || p.everyTurn < p.turns*p.first {
				t.Errorf("%+v does not add up", p.tally)
			}
		})
	}
}

func TestTurnsAddUp(t *testing.T) {
	got := tally{first: 100, last: 100}
	got.turn("four", "four four") // 1 + 3 tokens
	got.last, got.added = 150, 50
	got.turn("four", "four")
	want := tally{first: 100, last: 150, talk: 6, added: 50, turns: 2, everyTurn: 100 + 150 + 4}
	if got != want || got.once() != 156 {
		t.Error(gocmp.Diff(want, got, gocmp.AllowUnexported(tally{})))
	}
}

// TestIdleSessionsAreCheap bounds what a session keeps, far above what it does keep, so that a leak shows.
func TestIdleSessionsAreCheap(t *testing.T) {
	search := []string{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"x"}}}`}
	for name, c := range map[string]struct {
		lines      []string
		goroutines float64
	}{"opened": {nil, 1}, "searched": {search, 2}} {
		bytes, goroutines, err := costOfIdle(t.Context(), 200, offices().set.All(), c.lines)
		if err != nil || bytes <= 0 || bytes > 50_000 || goroutines > c.goroutines+.2 || goroutines < c.goroutines-.2 {
			t.Errorf("%s: %.0f bytes and %.2f goroutines, %v", name, bytes, goroutines, err)
		}
	}
}
