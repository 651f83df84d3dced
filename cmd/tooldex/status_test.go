package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tooldex/upstream"
)

// TestStatesAreVisible follows a server through its states, as servers list shows them while another process serves.
func TestStatesAreVisible(t *testing.T) {
	data := t.TempDir()
	up := upstreamCommand(t)
	config := writeServers(t, map[string]any{
		"probe":  map[string]any{"command": up},
		"broken": map[string]any{"command": up, "args": []string{"gone"}},
	})
	list := func() map[string]serverLine {
		t.Helper()
		var lines []serverLine
		if err := json.Unmarshal([]byte(runCommand(t, data, "servers", "list", "-o", "json", "-c", config)),
			&lines); err != nil {
			t.Fatal(err)
		}
		out := map[string]serverLine{}
		for _, l := range lines {
			out[l.Name] = l
		}
		return out
	}
	if got := list(); got["probe"].State != upstream.Configured || got["broken"].State != upstream.Configured {
		t.Errorf("before anything ran: %+v", got)
	}
	c := connectStdio(t, data, "serve", "--stdio", "--mode", "search", "-c", config)
	for deadline := time.Now().Add(wait); ; {
		got := list()
		if got["probe"].State == upstream.Running && got["broken"].State == upstream.Failed &&
			strings.Contains(got["broken"].Error, "no licence found") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("while it is served: %+v", got)
		}
	}
	const need = "turn a text into capital letters"
	for deadline := time.Now().Add(wait); !strings.Contains(c.text("search_tools", map[string]any{"query": need}),
		"shout"); {
		if time.Now().After(deadline) {
			t.Fatal("the running server's tools are not found")
		}
	}
	if res := c.call("crash", nil); !res.IsError { // there is one server with tools: they keep their names
		t.Errorf("the crash answers %s", textOf(res))
	}
	if got := c.text("search_tools", map[string]any{"query": need}); !strings.Contains(got,
		"its server does not run now") {
		t.Errorf("the search does not tell that the server ended: %s", got)
	}
	if got := c.text("shout", map[string]any{"text": "up"}); got != "UP" {
		t.Errorf("started again, it answers %s", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got := list(); got["probe"].State != upstream.Known || got["probe"].Tools != 5 ||
		got["broken"].State != upstream.Configured {
		t.Errorf("after all: %+v", got)
	}
}
