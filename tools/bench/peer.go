package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// peer is a gateway with a search of its own: tooldex, or another project's.
type peer struct {
	name string
	note string // how it runs here, and which half of its search
	// open starts the gateway in front of the servers and connects to it. home is a folder that it may fill.
	open func(ctx context.Context, s peerServers, home string) (*peerSession, error)
	// prepare does what is done once, before the first start; nil if there is nothing to do
	prepare func(ctx context.Context, s peerServers, home string) error
	// ask is a search, with everything left at its default
	ask func(request string) *mcp.CallToolParams
	// rank is a search whose answer a program can read, if that is another; nil if it is the same
	rank func(request string) *mcp.CallToolParams
	// found reads such an answer: names best first, and whether the gateway takes the answer for a fitting one
	found func(*mcp.CallToolResult) (names []string, confident bool, err error)
	// named is the name that the gateway gives a tool
	named func(tool.ID) string
	// invoke is a call of a tool through the gateway
	invoke func(id tool.ID, args map[string]any) *mcp.CallToolParams
	http   bool // it is called over HTTP, and calls its servers so
}

// peerServers are the servers behind a gateway, each with both transports.
type peerServers struct {
	file  string            // an mcpServers file that starts them over stdio
	urls  map[string]string // the same over streamable HTTP, by name
	tools int               // that they list together
}

// peerSession is a client of a gateway that runs.
type peerSession struct {
	*mcp.ClientSession
	pid  int
	stop func()
}

// peers lists the gateways. dir is where those of other projects are installed.
func peers(c config, dir string) []peer {
	return []peer{
		{
			name: "tooldex", note: "stdio; words and meaning",
			prepare: func(ctx context.Context, s peerServers, home string) error {
				_, _, err := command(ctx, c, "import", s.file, "-d", filepath.Join(home, "data"))
				return err
			},
			open: func(ctx context.Context, _ peerServers, home string) (*peerSession, error) {
				return openStdio(ctx, home, c.bin, "serve", "--stdio", "--mode", "search", "-d", filepath.Join(home, "data"))
			},
			ask: func(request string) *mcp.CallToolParams { return callOf("search_tools", "query", request) },
			rank: func(request string) *mcp.CallToolParams {
				return &mcp.CallToolParams{
					Name: "search_tools", Arguments: map[string]any{"query": request, "structured": true},
				}
			},
			found: foundByTooldex,
			named: func(id tool.ID) string { return id.Server() + "__" + id.Name() },
			invoke: func(id tool.ID, args map[string]any) *mcp.CallToolParams {
				return &mcp.CallToolParams{
					Name: "invoke_tool", Arguments: map[string]any{"name": id.Server() + "__" + id.Name(), "arguments": args},
				}
			},
		},
		{
			name: "ratel", note: "@ratel-ai/mcp-server 0.1.5, stdio; words, its only half in this version",
			open: func(ctx context.Context, s peerServers, home string) (*peerSession, error) {
				return openStdio(ctx, home, "node", filepath.Join(dir, "npm", "ratel.mjs"), s.file)
			},
			ask:   func(request string) *mcp.CallToolParams { return callOf("search_tools", "query", request) },
			found: foundByRatel,
			named: func(id tool.ID) string { return id.Server() + "__" + id.Name() },
			invoke: func(id tool.ID, args map[string]any) *mcp.CallToolParams {
				return &mcp.CallToolParams{
					Name: "invoke_tool", Arguments: map[string]any{"toolId": id.Server() + "__" + id.Name(), "args": args},
				}
			},
		},
		{
			name: "ToolHive", note: "`thv vmcp serve --optimizer` v0.47.0, HTTP; **words, its lexical half only**, of the request " +
				"alone: a model may add keywords",
			open: func(ctx context.Context, s peerServers, home string) (*peerSession, error) {
				return openToolHive(ctx, filepath.Join(dir, "thv"), s, home)
			},
			ask:   func(request string) *mcp.CallToolParams { return callOf("find_tool", "tool_description", request) },
			found: foundByToolHive,
			named: func(id tool.ID) string { return id.Server() + "_" + id.Name() },
			invoke: func(id tool.ID, args map[string]any) *mcp.CallToolParams {
				return &mcp.CallToolParams{
					Name: "call_tool", Arguments: map[string]any{"tool_name": id.Server() + "_" + id.Name(), "parameters": args},
				}
			},
			http: true,
		},
	}
}

func callOf(name, key, value string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: name, Arguments: map[string]any{key: value}}
}

// sessions is the revision that all gateways are asked for, so that none of them is measured with another.
const sessions = "2025-11-25"

// peerLog is the file in the home of a gateway with what it says of itself.
const peerLog = "stderr.log"

func peerClient() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
}

// peerCommand is a program that knows no home but its own, and looks for no news of itself.
func peerCommand(ctx context.Context, home, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"XDG_DATA_HOME="+filepath.Join(home, "share"), "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"TOOLHIVE_SKIP_UPDATE_CHECK=true")
	cmd.Dir = home
	return cmd
}

func openStdio(ctx context.Context, home, name string, args ...string) (*peerSession, error) {
	cmd := peerCommand(ctx, home, name, args...)
	log, err := os.Create(filepath.Join(home, peerLog))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd.Stderr = log
	s, err := peerClient().Connect(ctx, &mcp.CommandTransport{Command: cmd},
		&mcp.ClientSessionOptions{ProtocolVersion: sessions})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", name, err)
	}
	return &peerSession{s, cmd.Process.Pid, func() { _ = s.Close() }}, nil
}

// openToolHive starts a virtual server of ToolHive with its optimizer, in front of servers that it need not run.
func openToolHive(ctx context.Context, bin string, s peerServers, home string) (*peerSession, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	type backend struct {
		Name      string `json:"name"`
		URL       string `json:"url"`
		Transport string `json:"transport"`
	}
	var backends []backend
	for name, url := range s.urls {
		backends = append(backends, backend{name, url, "streamable-http"})
	}
	slices.SortFunc(backends, func(a, b backend) int { return cmp.Compare(a.Name, b.Name) })
	b, err := json.Marshal(map[string]any{ // JSON is YAML
		"name": "compared", "groupRef": "compared", "backends": backends,
		"incomingAuth": map[string]any{"type": "anonymous"},
		"outgoingAuth": map[string]any{"source": "inline", "default": map[string]any{"type": "unauthenticated"}},
		"aggregation": map[string]any{
			"conflictResolution":       "prefix",
			"conflictResolutionConfig": map[string]any{"prefixFormat": "{workload}_"},
		},
	})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(home, "vmcp.yaml")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return nil, err
	}
	cmd := peerCommand(ctx, home, bin, "vmcp", "serve", "--optimizer", "--config", file, "--port", fmt.Sprint(port))
	log, err := os.Create(filepath.Join(home, peerLog))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is stopped below
		close(ended)
	}()
	end := func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	session, err := awaitHTTP(ctx, fmt.Sprintf("http://127.0.0.1:%d/mcp", port), ended)
	if err != nil {
		end()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("connect to %s: %w: %s", bin, err, strings.TrimSpace(string(text)))
	}
	return &peerSession{session, cmd.Process.Pid, func() { _ = session.Close(); end() }}, nil
}

// awaitHTTP connects as soon as something listens.
func awaitHTTP(ctx context.Context, url string, ended <-chan struct{}) (*mcp.ClientSession, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		s, err := peerClient().Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true},
			&mcp.ClientSessionOptions{ProtocolVersion: sessions})
		if err == nil || time.Now().After(deadline) {
			return s, err
		}
		select {
		case <-tick.C:
		case <-ended:
			return nil, errors.New("it ended")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func freePort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// textOf is what a model reads of a result.
func textOf(res *mcp.CallToolResult) string {
	var parts []string
	for _, content := range res.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// structuredOf decodes the structured content of a result, or its text if that is JSON.
func structuredOf(res *mcp.CallToolResult, into any) error {
	if res.StructuredContent == nil {
		return json.Unmarshal([]byte(textOf(res)), into)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func foundByTooldex(res *mcp.CallToolResult) ([]string, bool, error) {
	var answer struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Confident bool `json:"confident"`
	}
	if err := structuredOf(res, &answer); err != nil {
		return nil, false, err
	}
	var names []string
	for _, t := range answer.Tools {
		names = append(names, t.Name)
	}
	return names, answer.Confident, nil
}

// foundByRatel puts the tools, which are grouped by server, into the order of their scores.
func foundByRatel(res *mcp.CallToolResult) ([]string, bool, error) {
	type hit struct {
		ToolID string  `json:"toolId"`
		Score  float64 `json:"score"`
	}
	var answer struct {
		Groups []struct {
			Hits []hit `json:"hits"`
		} `json:"groups"`
	}
	if err := structuredOf(res, &answer); err != nil {
		return nil, false, err
	}
	var hits []hit
	for _, g := range answer.Groups {
		hits = append(hits, g.Hits...)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.Score, a.Score) })
	var names []string
	for _, h := range hits {
		names = append(names, h.ToolID)
	}
	return names, len(names) > 0, nil
}

func foundByToolHive(res *mcp.CallToolResult) ([]string, bool, error) {
	var answer struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := structuredOf(res, &answer); err != nil {
		return nil, false, err
	}
	var names []string
	for _, t := range answer.Tools {
		names = append(names, t.Name)
	}
	return names, len(names) > 0, nil
}
