package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"tooldex/learn"
)

// learnedBy reads what is stored, as the command tells it.
func learnedBy(t *testing.T, data string) map[string]int {
	t.Helper()
	cmd := exec.Command(builtCommand(t), "learn", "list", "-o", "json", "-d", data)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != exitNone {
		t.Fatal(err)
	}
	var r learn.Report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	uses := map[string]int{}
	for _, u := range r.Tools {
		uses[string(u.Tool)] += u.Uses
	}
	return uses
}

// searchAndCall has a client search and call what it needs.
func searchAndCall(c *client) {
	c.t.Helper()
	c.call("search_tools", map[string]any{"query": "turn a text into capital letters"})
	if res := c.call("invoke_tool", map[string]any{
		"name":      "probe__shout",
		"arguments": map[string]any{"text": "hey"},
	}); res.IsError {
		c.t.Fatalf("the call was refused: %+v", res.Content)
	}
}

// TestLearnsFromCalls has two clients at once search and call; both close well, and what each did is there.
func TestLearnsFromCalls(t *testing.T) {
	data := t.TempDir()
	runCommand(t, data, "servers", "add", "probe", "--", upstreamCommand(t))
	runCommand(t, data, "servers", "add", "other", "--", upstreamCommand(t)) // so that names tell servers apart
	one, two := connectStdio(t, data, "serve", "--stdio"), connectStdio(t, data, "serve", "--stdio")
	searchAndCall(one)
	searchAndCall(two)
	searchAndCall(two)
	for _, c := range []*client{one, two} {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v\n%s", err, c.stderr)
		}
	}
	if got := learnedBy(t, data)["probe/shout"]; got != 3 {
		t.Errorf("3 calls after searches, %d are there", got)
	}
}

// TestKillWhileLearning kills a server that has something to write: the data is sound, what was written before is
// there, and learning goes on.
func TestKillWhileLearning(t *testing.T) {
	data := t.TempDir()
	runCommand(t, data, "servers", "add", "probe", "--", upstreamCommand(t))
	runCommand(t, data, "servers", "add", "other", "--", upstreamCommand(t))
	first := connectStdio(t, data, "serve", "--stdio")
	searchAndCall(first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c := connectStdio(t, data, "serve", "--stdio")
		searchAndCall(c)
		p, err := os.FindProcess(c.process)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		runCommand(t, data, "index", "verify")
		if got := learnedBy(t, data)["probe/shout"]; got < 1 || got > 4 {
			t.Errorf("%d calls are there", got)
		}
	}
	last := connectStdio(t, data, "serve", "--stdio")
	before := learnedBy(t, data)["probe/shout"]
	searchAndCall(last)
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	if got := learnedBy(t, data)["probe/shout"]; got <= before {
		t.Errorf("%d calls are there after another, %d before", got, before)
	}
}
