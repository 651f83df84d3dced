package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tooldex/internal/textclass"
	"tooldex/knowledge"
	"tooldex/scan"
	"tooldex/tool"
	"tooldex/tools/internal/train"
)

// How much an example weighs. A sentence of a real tool weighs 1; there are many of those.
const (
	hostileWeight = 4
	honestWeight  = 6
	partWeight    = 1 // of one sentence of several that make an example
)

// kept is the part of all servers that no training sees.
const kept = textclass.Folds - 1

// trainScanner makes the weights by which package scan knows sentences that are like those of attacks: from the
// examples of a folder, and from the sentences of the real tools of data and of the archetypes.
func trainScanner(out io.Writer, examples, data, archetypes, file string) error {
	rows, err := readExamples(examples)
	if err != nil {
		return err
	}
	servers, err := realServers(data)
	if err != nil {
		return err
	}
	if err := addArchetypes(servers, archetypes); err != nil {
		return err
	}
	return writeScanner(out, rows, servers, fmt.Sprintf("the tools of %d servers", len(servers)), file)
}

// writeScanner measures and writes weights of rows and of what is honest, by its source; of says what that is.
func writeScanner(out io.Writer, rows []textclass.Example, sources map[string][]scan.Example, of, file string) error {
	if err := measureScanner(out, rows, sources); err != nil {
		return err
	}
	b := textclass.Train(append(rows, honest(sources, kept)...), 1)
	fmt.Fprintf(out, "%s: %d bytes of %d examples and %s\n", file, len(b), len(rows), of)
	return os.WriteFile(file, b, 0o644)
}

// measureScanner reports the scores of sentences of real tools by a model that knows neither them nor any of their
// server, and what the examples do by one that does not know them.
func measureScanner(out io.Writer, rows []textclass.Example, servers map[string][]scan.Example) error {
	var real, hostile, tricky []float32
	for fold := range kept {
		seen := slices.DeleteFunc(slices.Clone(rows), func(e textclass.Example) bool {
			return textclass.Fold(e.Text) == fold
		})
		m, err := textclass.Open(textclass.Train(append(seen, honest(servers, kept, fold)...), 1))
		if err != nil {
			return err
		}
		for name, sentences := range servers {
			if textclass.Fold(name) == fold {
				for _, s := range sentences {
					real = append(real, m.ScoreClasses(s.Text, s.Classes))
				}
			}
		}
		for _, e := range rows {
			switch {
			case textclass.Fold(e.Text) != fold || e.Weight == partWeight:
			case e.First:
				hostile = append(hostile, m.ScoreClasses(e.Text, e.Classes))
			default:
				tricky = append(tricky, m.ScoreClasses(e.Text, e.Classes))
			}
		}
	}
	for _, scores := range [][]float32{real, hostile, tricky} {
		slices.Sort(scores)
	}
	fmt.Fprintf(out, "%8s %24s %10s %10s\n", "score", "sentences of real tools", "hostile", "tricky")
	for _, score := range []float32{0, .5, 1, 1.5, 2, 2.5, 3, 3.5, 4} {
		above := func(scores []float32) int {
			i, _ := slices.BinarySearch(scores, score)
			return len(scores) - i
		}
		fmt.Fprintf(out, "%8.1f %14d of %6d %9.1f%% %9.1f%%\n", score, above(real), len(real),
			100*float64(above(hostile))/float64(max(1, len(hostile))), 100*float64(above(tricky))/float64(max(1,
				len(tricky))))
	}
	return nil
}

// readExamples reads the sentences written for training, in the order of their files.
func readExamples(folder string) ([]textclass.Example, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no examples in %s: %w", folder, os.ErrNotExist)
	}
	var out []textclass.Example
	for _, file := range files {
		lines, err := train.ReadLines[struct{ Text, Label string }](file)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			first := l.Label != "benign"
			weight := float64(honestWeight)
			if first {
				weight = hostileWeight
			}
			units := scan.Examples(&tool.Tool{Description: l.Text})
			if len(units) == 0 {
				continue
			}
			whole := scan.Whole(l.Text)
			out = append(out, textclass.Example{Text: whole.Text, Classes: whole.Classes, First: first, Weight: weight})
			if len(units) == 1 {
				continue
			}
			for _, u := range units {
				if u.Text != whole.Text {
					out = append(out, textclass.Example{Text: u.Text, Classes: u.Classes, First: first, Weight: partWeight})
				}
			}
		}
	}
	return out, nil
}

// honest makes examples of each sentence once, of all servers but those of some parts.
func honest(servers map[string][]scan.Example, without ...int) []textclass.Example {
	var out []textclass.Example
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if slices.Contains(without, textclass.Fold(name)) {
			continue
		}
		for _, s := range servers[name] {
			if !seen[s.Text] {
				seen[s.Text] = true
				out = append(out, textclass.Example{Text: s.Text, Classes: s.Classes})
			}
		}
	}
	return out
}

// realServers returns the sentences of all tools of data, by server.
func realServers(data string) (map[string][]scan.Example, error) {
	out := map[string][]scan.Example{}
	add := func(server string, t *tool.Tool) { out[server] = append(out[server], scan.Examples(t)...) }
	files, err := filepath.Glob(filepath.Join(data, "catalogue", "*.json"))
	if err != nil {
		return nil, err
	}
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
			add(strings.TrimSuffix(filepath.Base(file), ".json"), t)
		}
	}
	sets, err := filepath.Glob(filepath.Join(data, "sets", "*", "tools.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, file := range sets {
		lines, err := train.ReadLines[struct {
			Name, Title, Description, Server string
			Parameters                       json.RawMessage
		}](file)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			add(cmp.Or(l.Server, l.Name), &tool.Tool{
				Name: l.Name, Title: l.Title, Description: l.Description,
				InputSchema: l.Parameters,
			})
		}
	}
	if len(files) == 0 || len(sets) == 0 {
		return nil, fmt.Errorf("no tools in %s: %w", data, os.ErrNotExist)
	}
	return out, nil
}

// addArchetypes adds the sentences of archetypes, which are honest tools in plain words.
func addArchetypes(servers map[string][]scan.Example, folder string) error {
	src, err := knowledge.ReadSource(os.DirFS(folder))
	if err != nil {
		return err
	}
	for _, a := range src.Archetypes {
		server := "archetypes of " + a.Server
		for _, text := range append([]string{a.Title, a.Description}, a.Params...) {
			servers[server] = append(servers[server], scan.Examples(&tool.Tool{Description: text})...)
		}
	}
	return nil
}
