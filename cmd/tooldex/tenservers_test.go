package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// realServer is a server from npm, with something to ask of it that works without a key.
type realServer struct {
	pkg    string
	args   []string
	env    map[string]string
	need   string // a request that finds the tool
	tool   string
	with   map[string]any
	answer string // a pattern that the answer matches
}

// tenServers are real servers over a folder that is a git repository with a note in it.
func tenServers(folder string) map[string]realServer {
	return map[string]realServer{
		"filesystem": {
			pkg: "@modelcontextprotocol/server-filesystem" + serverVersion, args: []string{folder},
			need: "what does this text file say", tool: "read_text_file",
			with:   map[string]any{"path": filepath.Join(folder, "notes.txt")},
			answer: "the herring is in the fridge",
		},
		"memory": {
			pkg: "@modelcontextprotocol/server-memory" + serverVersion,
			env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(folder, "memory.jsonl")},
			// the second time there is nothing to add
			need: "remember a person in the knowledge graph", tool: "create_entities", answer: `likes herring|^\[\]$`,
			with: map[string]any{"entities": []any{map[string]any{
				"name": "Ada", "entityType": "person",
				"observations": []string{"likes herring"},
			}}},
		},
		"everything": {
			pkg:  "@modelcontextprotocol/server-everything" + serverVersion,
			need: "the sum of two numbers", tool: "get-sum", with: map[string]any{"a": 40, "b": 2}, answer: "42",
		},
		"sequential-thinking": {
			pkg:  "@modelcontextprotocol/server-sequential-thinking" + serverVersion,
			need: "think a problem through step by step", tool: "sequentialthinking",
			answer: `"thoughtHistoryLength": [12]`,
			with: map[string]any{
				"thought": "begin", "thoughtNumber": 1, "totalThoughts": 1,
				"nextThoughtNeeded": false,
			},
		},
		"git": {
			pkg:  "@cyanheads/git-mcp-server@2.15.3",
			need: "which files of the repository are not committed", tool: "git_status",
			with: map[string]any{"path": folder}, answer: "lint.js",
		},
		"eslint": {
			pkg:  "@eslint/mcp@0.3.13",
			need: "lint javascript files", tool: "lint-files",
			with: map[string]any{"filePaths": []string{filepath.Join(folder, "lint.js")}}, answer: "no-unused-vars",
		},
		"pdf": {
			pkg: "@modelcontextprotocol/server-pdf@2.0.4", args: []string{"--stdio"},
			need: "which pdf documents are there", tool: "list_pdfs", answer: "(?i)pdf",
		},
		"system": {
			pkg: "@modelcontextprotocol/server-system-monitor@2.0.3", args: []string{"--stdio"},
			need: "how much memory and cpu does this machine have", tool: "get-system-info",
			answer: "(?i)cpu|memory|" + runtime.GOOS,
		},
		// The last two want a browser and the network. Without, their answer says so: it is theirs all the same.
		"playwright": {
			pkg: "@playwright/mcp@0.0.83", args: []string{"--isolated", "--headless"},
			need: "close the page in the browser", tool: "browser_close", answer: "(?i)chromium|chrome|browser|page",
		},
		"context7": {
			pkg:  "@upstash/context7-mcp@4.1.1",
			need: "find the documentation of a library", tool: "resolve-library-id",
			with: map[string]any{"query": "hooks", "libraryName": "react"}, answer: "(?i)librar",
		},
	}
}

// withNpx returns the path of npx, and skips the test only where there is none.
func withNpx(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("real servers are left out with -short")
	}
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("npx is not installed, so no real server can be run")
	}
	return npx
}

// repository makes a git repository with a note, and a script with a fault that is not committed.
func repository(t *testing.T) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"notes.txt": "the herring is in the fridge\n", "lint.js": "var unused = 1\n",
		"eslint.config.mjs": `export default [{rules: {"no-unused-vars": "error"}}]` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", folder, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return folder
}

// TestTenServers has ten real servers behind one: each is searched, described and called, and when one is killed in the
// middle of a call the others go on.
func TestTenServers(t *testing.T) {
	t.Parallel()
	npx, folder := withNpx(t), repository(t)
	servers, configured := tenServers(folder), map[string]any{}
	for name, s := range servers {
		configured[name] = map[string]any{
			"command": npx, "args": append([]string{"-y", s.pkg}, s.args...),
			"env": s.env, "cwd": folder,
		}
	}
	data := t.TempDir()
	out := runCommand(t, data, "import", writeServers(t, configured))
	for name := range servers {
		if !strings.Contains(out, name+": ") {
			t.Errorf("import does not tell of %s: %s", name, out)
		}
	}
	c := connectStdio(t, data, "serve", "--stdio")
	parent := c.process
	for name, s := range servers {
		exposed := strings.ReplaceAll(name, ".", "_") + "__" + s.tool
		if found := c.text("search_tools", map[string]any{"query": s.need, "limit": 5}); !strings.Contains(found,
			exposed) {
			t.Errorf("%q does not find %s:\n%s", s.need, exposed, found)
		}
		if text := c.text("get_tool_description", map[string]any{"name": exposed}); !strings.Contains(text, s.tool) {
			t.Errorf("%s is described as %s", exposed, text)
		}
	}
	t.Run("each answers", func(t *testing.T) { useAll(t, c, servers) })
	t.Run("one is killed", func(t *testing.T) { killOne(t, c, parent, servers) })
	t.Run("what else they offer", func(t *testing.T) { useOffers(t, c) })
}

// useAll calls one tool of each server at once.
func useAll(t *testing.T, c *client, servers map[string]realServer) {
	var calls sync.WaitGroup
	for name, s := range servers {
		calls.Go(func() {
			if err := s.use(t.Context(), c, name); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

func (s realServer) use(ctx context.Context, c *client, name string) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	with := s.with
	if with == nil {
		with = map[string]any{}
	}
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "invoke_tool", Arguments: map[string]any{"name": name + "__" +
		s.tool, "arguments": with}})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !regexp.MustCompile(s.answer).MatchString(textOf(res)) || strings.HasPrefix(textOf(res), "unavailable") {
		return fmt.Errorf("%s answers %q", name, textOf(res))
	}
	return nil
}

// killOne kills a server in the middle of a call. The call fails at once and says why, the others go on meanwhile, and
// the next call of the killed one starts it again.
func killOne(t *testing.T, c *client, parent int, servers map[string]realServer) {
	running, failed := make(chan struct{}, 100), make(chan string, 1)
	c.progress.Store(&running)
	go func() {
		params := &mcp.CallToolParams{
			Name:      "everything__trigger-long-running-operation",
			Arguments: map[string]any{"duration": 120, "steps": 1200},
		}
		params.SetProgressToken("long")
		res, err := c.CallTool(t.Context(), params)
		if err != nil {
			failed <- "a protocol error: " + err.Error()
			return
		}
		failed <- textOf(res)
	}()
	select {
	case <-running:
	case text := <-failed:
		t.Fatalf("the long operation answers at once: %s", text)
	case <-time.After(wait):
		t.Fatal("the long operation does not begin")
	}
	victims := descendants(t, parent, "server-everything")
	if len(victims) == 0 {
		t.Fatal("the server's process is not there")
	}
	for _, pid := range victims {
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Errorf("kill: %v", err)
		}
	}
	others := maps.Clone(servers)
	delete(others, "everything")
	useAll(t, c, others)
	select {
	case text := <-failed:
		if !strings.Contains(text, `"everything"`) || !strings.Contains(text, "ended") {
			t.Errorf("the call of the killed server answers %q", text)
		}
	case <-time.After(wait):
		t.Fatal("the call of the killed server hangs")
	}
	if err := servers["everything"].use(t.Context(), c, "everything"); err != nil {
		t.Errorf("after it was killed: %v", err)
	}
}

// useOffers reads a resource and fills in a prompt of a real server.
func useOffers(t *testing.T, c *client) {
	list, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list.Resources, func(r *mcp.Resource) bool {
		return strings.HasPrefix(r.URI, "tooldex://everything/")
	})
	if at < 0 {
		t.Fatalf("no resource of everything is listed among %d", len(list.Resources))
	}
	read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: list.Resources[at].URI})
	if err != nil || len(read.Contents) == 0 || read.Contents[0].URI != list.Resources[at].URI ||
		read.Contents[0].Text == "" {
		t.Errorf("%s reads as %+v, %v", list.Resources[at].URI, read, err)
	}
	prompt, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{
		Name:      "everything__args-prompt",
		Arguments: map[string]string{"city": "Oslo"},
	})
	if err != nil || len(prompt.Messages) == 0 || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text,
		"Oslo") {
		t.Errorf("the prompt is %+v, %v", prompt, err)
	}
}

// descendants finds the processes below one whose command line holds a text.
func descendants(t *testing.T, parent int, text string) []int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-A", "-ww", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		t.Skipf("processes cannot be listed: %v", err)
	}
	children := map[int][]int{}
	lines := map[int]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		pid, err1 := strconv.Atoi(fields[0])
		ppid, err2 := strconv.Atoi(fields[1])
		if err1 == nil && err2 == nil {
			children[ppid] = append(children[ppid], pid)
			lines[pid] = line
		}
	}
	var found []int
	for next := []int{parent}; len(next) > 0; next = next[1:] {
		for _, pid := range children[next[0]] {
			next = append(next, pid)
			if strings.Contains(lines[pid], text) {
				found = append(found, pid)
			}
		}
	}
	return found
}
