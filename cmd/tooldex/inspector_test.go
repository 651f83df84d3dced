package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const inspectorPackage = "@modelcontextprotocol/inspector@2.12.0"

// TestInspector has the official inspector list, search and call, over stdio and HTTP.
func TestInspector(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	runCommand(t, data, "import", writeServers(t, map[string]any{
		"probe": map[string]any{"command": upstreamCommand(t)}, "other": map[string]any{"command": upstreamCommand(t)},
	}))
	bin, err := buildServing()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		target []string
	}{
		{"stdio", []string{bin, "serve", "--stdio", "--mode", "search", "--data-dir", data}},
		{"http", []string{serveHTTP(t, data, "--mode", "search") + "/mcp", "--transport", "http"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var list struct{ Tools []struct{ Name string } }
			askInspector(t, &list, tt.target, "--method", "tools/list")
			if !slices.ContainsFunc(list.Tools, func(l struct{ Name string }) bool {
				return l.Name == "search_tools"
			}) {
				t.Errorf("the list is %+v", list)
			}
			var res struct{ Content []struct{ Text string } }
			askInspector(t, &res, tt.target, "--method", "tools/call", "--tool-name", "search_tools", "--tool-arg",
				"query=turn a text into capital letters")
			if len(res.Content) == 0 || !strings.Contains(res.Content[0].Text, "probe__shout") {
				t.Errorf("the search finds %+v", res)
			}
			askInspector(t, &res, tt.target, "--method", "tools/call", "--tool-name", "invoke_tool", "--tool-arg",
				"name=probe__shout", `arguments={"text":"inspected"}`)
			if len(res.Content) == 0 || res.Content[0].Text != "INSPECTED" {
				t.Errorf("the call answers %+v", res)
			}
		})
	}
}

// askInspector runs the inspector's command line and reads what it prints.
func askInspector(t *testing.T, into any, target []string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	cmd := modernNode(t, ctx, inspectorPackage, "mcp-inspector", slices.Concat([]string{"--cli"}, target, args)...)
	cmd.Env = append(cmd.Environ(), "MCP_CATALOG_PATH="+filepath.Join(t.TempDir(), "catalog.json"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderrOf(err))
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v prints %s", args, out)
	}
}
