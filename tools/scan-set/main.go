package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tooldex/scan"
	"tooldex/tool"
	"tooldex/tools/internal/train"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scan-set:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("scan-set", flag.ContinueOnError)
	known := flags.String("known", "", "folder whose catalogue/*.json are the other servers' tools")
	names := flags.Bool("ids", false, "also print the ids of what is judged wrongly, and the rules that judged it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	beside, err := readCatalogue(*known)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-12s %8s %6s %7s %7s %7s %10s\n", "set", "attacks", "found", "recall", "honest", "alarms", "precision")
	for _, folder := range flags.Args() {
		var found, total [2]int
		var wrong []string
		for i, file := range []string{"attacks.jsonl", "honest.jsonl"} {
			lines, err := train.ReadLines[line](filepath.Join(folder, file))
			if err != nil {
				return err
			}
			total[i] = len(lines)
			for _, l := range lines {
				rules, grave := l.judge(beside)
				if grave {
					found[i]++
				}
				if grave == (i == 1) {
					wrong = append(wrong, l.ID+" "+strings.Join(rules, ","))
				}
			}
		}
		fmt.Fprintf(out, "%-12s %8d %6d %7.3f %7d %7d %10.3f\n", filepath.Base(folder), total[0], found[0],
			share(found[0], total[0]), total[1], found[1], share(found[0], found[0]+found[1]))
		if *names {
			fmt.Fprintln(out, strings.Join(wrong, "\n"))
		}
	}
	return nil
}

// line is one labelled tool.
type line struct {
	ID   string    `json:"id"`
	Tool tool.Tool `json:"tool"`
}

// judge returns the rules that found something in the tool, and whether a model is warned of it.
func (l line) judge(beside []*tool.Tool) (rules []string, grave bool) {
	t := l.Tool
	t.Server = "probe"
	found := scan.New(append([]*tool.Tool{&t}, beside...)).Tool(&t)
	for _, f := range found {
		rules = append(rules, f.Rule)
	}
	return rules, scan.Grave(found)
}

// readCatalogue returns the tools of the servers under a folder; none if it is "".
func readCatalogue(folder string) ([]*tool.Tool, error) {
	if folder == "" {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(folder, "catalogue", "*.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no servers in %s: %w", folder, os.ErrNotExist)
	}
	var out []*tool.Tool
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var list struct{ Tools []*tool.Tool }
		if err := json.Unmarshal(b, &list); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, t := range list.Tools {
			t.Server = strings.TrimSuffix(filepath.Base(file), ".json")
			out = append(out, t)
		}
	}
	return out, err
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
