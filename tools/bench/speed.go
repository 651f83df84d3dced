package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tools/internal/gauge"
	"tooldex/tools/internal/provenance"
)

// row is one line of the page: what was measured, and the budget that it should keep.
type row struct {
	what, got, budget string
	met               bool
}

func timeRow(what string, got, budget time.Duration) row {
	return row{what, milliseconds(got), "at most " + milliseconds(budget), got <= budget}
}

func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}

// speedPage measures everything that has a budget, and a little more.
func speedPage(ctx context.Context, c config) (string, error) {
	dir, err := os.MkdirTemp("", "tooldex-bench")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	data := filepath.Join(dir, "data")
	var rows []row
	for _, measure := range []func() ([]row, error){
		func() ([]row, error) { return importRows(ctx, c, data) },
		func() ([]row, error) { return startRows(ctx, c, data) },
		func() ([]row, error) { return callRows(ctx, c, dir) },
		func() ([]row, error) { return tokenRows(ctx, c, data) },
		func() ([]row, error) { return taskRows(ctx, c, dir, data) },
		func() ([]row, error) { return idleRows(ctx, c) },
		func() ([]row, error) { return sizeRows(c) },
		func() ([]row, error) { return searchRows(ctx, c, dir) },
		func() ([]row, error) { return loadRows(ctx, c, dir, data) },
	} {
		more, err := measure()
		if err != nil {
			return "", err
		}
		for _, r := range more {
			fmt.Fprintf(os.Stderr, "%s: %s (%s)\n", r.what, r.got, r.budget)
		}
		rows = append(rows, more...)
	}
	return speedText(ctx, rows), nil
}

func speedText(ctx context.Context, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\n%s\n\n", provenance.Line(ctx, "make bench"))
	b.WriteString("The catalogue has 1,165 tools of 33 real servers; larger catalogues repeat it with other words. Times of the command are of whole\n" +
		"processes, from start to exit, medians of several runs. Other work on the machine makes all of them longer.\n\n")
	b.WriteString("| what | measured | budget | met |\n|---|---|---|---|\n")
	var missed []string
	for _, r := range rows {
		met := "yes"
		switch {
		case r.budget == "":
			met = ""
		case !r.met:
			met = "**no**"
			missed = append(missed, fmt.Sprintf("- %s: %s, budget %s.\n", r.what, r.got, r.budget))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.what, r.got, r.budget, met)
	}
	b.WriteString("\n## Missed budgets\n\n")
	if len(missed) == 0 {
		b.WriteString("None.\n")
	}
	b.WriteString(strings.Join(missed, ""))
	return b.String()
}

// importRows imports the catalogue into a new folder, and then again with nothing changed.
func importRows(ctx context.Context, c config, data string) ([]row, error) {
	files, err := gauge.Dumps(c.data)
	if err != nil {
		return nil, err
	}
	args := append([]string{"import", "-d", data}, files...)
	cold, err := repeat(3, func() (time.Duration, error) {
		if err := os.RemoveAll(data); err != nil {
			return 0, err
		}
		took, _, err := command(ctx, c, args...)
		return took, err
	})
	if err != nil {
		return nil, err
	}
	again, err := repeat(9, func() (time.Duration, error) {
		took, _, err := command(ctx, c, args...)
		return took, err
	})
	if err != nil {
		return nil, err
	}
	return []row{
		timeRow("import of the 33 dumps, cold", cold, 800*time.Millisecond),
		timeRow("import of the 33 dumps, nothing changed", again, 50*time.Millisecond),
	}, nil
}

// startRows measures how soon a new process answers, and how much memory it then has.
func startRows(ctx context.Context, c config, data string) ([]row, error) {
	cli, err := repeat(15, func() (time.Duration, error) {
		took, _, err := command(ctx, c, "search", "-d", data, "open a merge request")
		return took, err
	})
	if err != nil {
		return nil, err
	}
	var resident float64
	listed := time.Duration(0)
	overMCP, err := repeat(9, func() (time.Duration, error) {
		start := time.Now()
		s, err := connect(ctx, c.bin, "serve", "--stdio", "-d", data)
		if err != nil {
			return 0, err
		}
		defer func() { _ = s.Close() }()
		if _, err := s.ListTools(ctx, nil); err != nil {
			return 0, err
		}
		listed = time.Since(start)
		if _, err := s.CallTool(ctx, &mcp.CallToolParams{
			Name:      "search_tools",
			Arguments: map[string]any{"query": "open a merge request"},
		}); err != nil {
			return 0, err
		}
		took := time.Since(start)
		resident, err = gauge.ResidentMB(s.process.Process.Pid)
		return took, err
	})
	if err != nil {
		return nil, err
	}
	return []row{
		timeRow("start to first answer, command line", cli, 60*time.Millisecond),
		timeRow("start to first answer, MCP over stdio (initialize, tools/list, search_tools)", overMCP,
			60*time.Millisecond),
		{"start to tools/list, MCP over stdio", milliseconds(listed), "", true},
		{"resident memory after the first answer", fmt.Sprintf("%.0f MB", resident), "at most 80 MB", resident <= 80},
	}, nil
}

// tokenRows compares what a client reads: the meta-tools and answers here, every schema without.
func tokenRows(ctx context.Context, c config, data string) ([]row, error) {
	s, err := connect(ctx, c.bin, "serve", "--stdio", "-d", data)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(list.Tools)
	if err != nil {
		return nil, err
	}
	meta := countTokens(string(b))
	_, out, err := command(ctx, c, "list", "-d", data, "-o", "json")
	if err != nil {
		return nil, err
	}
	var tools []struct {
		Tokens int `json:"tokens"`
	}
	if err := json.Unmarshal(out, &tools); err != nil {
		return nil, err
	}
	plain := 0
	for _, t := range tools {
		plain += t.Tokens
	}
	r, err := evaluate(ctx, c, filepath.Join(c.data, "intents"), "hybrid", "")
	if err != nil {
		return nil, err
	}
	median := r.Tokens.Median
	return []row{
		{"tools/list of the 33 servers, with the warnings of five tools", fmt.Sprintf("%d tokens", plain), "", true},
		{"tools/list in search mode", fmt.Sprintf("%d tokens", meta), "at most 1000 tokens", meta <= 1000},
		{
			"median answer, 5 tools at signature", fmt.Sprintf("%.0f tokens", median), "at most 500 tokens",
			median <= 500,
		},
		{
			"saved by tools/list and one answer", fmt.Sprintf("%.1f %%", 100*(1-(float64(meta)+median)/float64(plain))),
			"", true,
		},
	}, nil
}

func sizeRows(c config) ([]row, error) {
	info, err := os.Stat(c.bin)
	if err != nil {
		return nil, err
	}
	mb := float64(info.Size()) / 1e6
	return []row{{"binary", fmt.Sprintf("%.1f MB", mb), "at most 50 MB", mb <= 50}}, nil
}
