package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"tooldex/tool"
)

// writeLarge writes a catalogue of n tools into a folder, as one tools/list dump for each server: the real tools and
// those that grow makes of them.
func writeLarge(ctx context.Context, c config, n, dir string) error {
	size, err := strconv.Atoi(n)
	if err != nil || size < 1 {
		return fmt.Errorf("%q is no number of tools", n)
	}
	real, err := realTools(ctx, c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tools := grow(real, size)[:size]
	for start := 0; start < len(tools); {
		end := start + 1
		for end < len(tools) && tools[end].Server == tools[start].Server {
			end++
		}
		if err := writeDump(dir, tools[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// writeDump writes the tools of one server as tools/list returns them.
func writeDump(dir string, tools []*tool.Tool) error {
	type listed struct {
		Name         string            `json:"name"`
		Title        string            `json:"title,omitempty"`
		Description  string            `json:"description,omitempty"`
		InputSchema  json.RawMessage   `json:"inputSchema,omitempty"`
		OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
		Annotations  *tool.Annotations `json:"annotations,omitempty"`
	}
	dump := struct {
		Tools []listed `json:"tools"`
	}{}
	for _, t := range tools {
		dump.Tools = append(dump.Tools, listed{
			t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations,
		})
	}
	b, err := json.Marshal(dump)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, tools[0].Server+".json"), b, 0o644)
}
