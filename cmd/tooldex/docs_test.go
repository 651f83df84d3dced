//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"tooldex/catalog/sources"
	"tooldex/config"
	"tooldex/enrich"
	"tooldex/eval"
	"tooldex/tool"
)

// readPages reads all documents: those at the top of the repository, and docs.
func readPages(t *testing.T) map[string]*docPage {
	t.Helper()
	out := map[string]*docPage{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && name != "docs" && !strings.HasPrefix(name, "docs/"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err == nil {
			out[name] = readPage(name, string(b))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDocuments runs every command of the documents and reads every file in them. A block is run, or read, or marked
// with the reason why it cannot be; CONTRIBUTING.md tells how.
func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands of the documents are run without -short")
	}
	models := httptest.NewServer(http.HandlerFunc(docModels))
	t.Cleanup(models.Close)
	var ran, lacked, read, marked atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d commands run, %d not for want of a program, %d blocks read, %d blocks marked as not to be run",
			ran.Load(), lacked.Load(), read.Load(), marked.Load())
		if !t.Failed() && (ran.Load()+lacked.Load() < 50 || read.Load() < 10) {
			t.Error("so few cannot be all there are")
		}
	})
	for name, p := range readPages(t) {
		if len(p.blocks) == 0 || strings.HasPrefix(name, "docs/adr/") { // what was decided stays as it was written
			continue
		}
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			t.Parallel()
			s := newDocSession(t, models.URL)
			defer func() {
				if err := s.stop(); err != nil {
					t.Error(err)
				}
			}()
			for _, b := range p.blocks {
				reason, not := b.mark(markNotRun)
				file, saved := b.mark(markFile)
				if saved {
					if err := os.WriteFile(filepath.Join(s.home, "work", file), []byte(b.text), 0o600); err != nil {
						t.Error(err)
					}
				}
				switch {
				case not && !strings.HasPrefix(reason, "needs ") && reason != "takes long":
					t.Errorf("%s:%d: a block is not run because it needs something (\"needs docker\") or \"takes long\", not: %s", name, b.line, reason)
				case not:
					marked.Add(1)
				case b.language == "sh" || b.language == "console":
					if err := s.run(name, b); err != nil {
						t.Error(err)
					}
				default:
					if err := readBlock(b); err != nil {
						t.Errorf("%s:%d: %v", name, b.line, err)
					}
					read.Add(1)
				}
			}
			ran.Add(int64(s.ran))
			lacked.Add(int64(s.lacked))
		})
	}
}

// readBlock reads a block as the program reads it that it is for.
func readBlock(b *docBlock) error {
	if _, other := b.mark(markFor); other {
		return parses(b)
	}
	switch b.language {
	case "text":
		return nil
	case "go":
		_, err := format.Source([]byte(b.text))
		return err
	case "json", "jsonc", "yaml", "toml":
		if err := parses(b); err != nil {
			return err
		}
		return means(b)
	case "":
		return errors.New("it does not say what it is: fence it as sh (commands, which are run), yaml, json, toml or go (which are read) or text (which is neither)")
	}
	return fmt.Errorf("nobody runs or reads %s here: mark it as <!-- for: PROGRAM -->, or, if it is a program itself, as <!-- not run: needs … -->", b.language)
}

// parses reports what keeps a block from being what it says it is.
func parses(b *docBlock) error {
	switch b.language {
	case "json":
		for d := json.NewDecoder(strings.NewReader(b.text)); ; {
			var v any
			if err := d.Decode(&v); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
	case "yaml":
		for d := yaml.NewDecoder(strings.NewReader(b.text)); ; {
			var v any
			if err := d.Decode(&v); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
	}
	return nil
}

// isConfiguration reports whether one of the keys is that of a configuration file.
func isConfiguration(has map[string]bool) bool {
	b, err := json.Marshal(config.Schema())
	var schema struct{ Properties map[string]any }
	if err != nil || json.Unmarshal(b, &schema) != nil {
		return false
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(schema.Properties)), func(key string) bool { return has[key] })
}

// checkConfiguration reads a configuration file as the program does.
func checkConfiguration(text string) error {
	dir, err := os.MkdirTemp("", "docs")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "tooldex.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	_, err = config.Load(config.Options{Path: file, Getenv: func(string) string { return "" }})
	return err
}

// means reads a file of ours by the reader that the program has for it, which its keys tell.
func means(b *docBlock) error {
	has := map[string]bool{}
	var tree map[string]any
	if b.language == "yaml" || b.language == "json" {
		_ = yaml.Unmarshal([]byte(b.text), &tree) // a list, or several documents, have no keys
	}
	for key := range tree {
		has[key] = true
	}
	list := func(key string) bool { _, ok := tree[key].([]any); return ok }
	_, saved := b.mark(markFile)
	switch {
	case b.language == "toml":
		_, err := sources.ParseCodex([]byte(b.text))
		return err
	case has["catalogue"] || has["overlay"] || has["tools"] || has["server"] && list("tools") || list("servers"):
		_, err := sources.Parse("block."+b.language, []byte(b.text))
		return err
	case has["queries"]:
		return readQueries(b.text)
	case list("enrich"):
		_, err := enrich.ParseProposals([]byte(b.text))
		return err
	case has["mcpServers"] && b.language != "yaml" || has["servers"] && b.language != "yaml":
		_, err := sources.ParseServers([]byte(b.text))
		return err
	case saved: // a command of the page reads it
		return nil
	case b.language == "yaml" && isConfiguration(has):
		return checkConfiguration(b.text)
	case b.language == "json" || b.language == "jsonc": // the body of a request
		return nil
	}
	return errors.New("no file of tooldex has such keys: mend it, or mark it as <!-- for: PROGRAM -->, or, if a command of the page reads it, as <!-- file: NAME -->")
}

// readQueries reads labelled requests for the tools that they name.
func readQueries(text string) error {
	var file struct {
		Queries []struct {
			Relevant []string
			AllOf    [][]string `yaml:"all_of"`
			Grades   map[string]float64
			Steps    []struct{ Tools []string }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return err
	}
	var tools []*tool.Tool
	add := func(id string) {
		server, name, _ := strings.Cut(id, "/")
		tools = append(tools, &tool.Tool{Server: server, Name: name})
	}
	for _, q := range file.Queries {
		for _, id := range slices.Concat(append(q.AllOf, q.Relevant, slices.Collect(maps.Keys(q.Grades)))...) {
			add(id)
		}
		for _, step := range q.Steps {
			for _, id := range step.Tools {
				add(id)
			}
		}
	}
	dir, err := os.MkdirTemp("", "queries")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "queries.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return err
	}
	_, err = eval.LoadCases(name, tool.NewSet(tools, ""))
	return err
}

// TestDocumentLinks follows every link from document to document, to its heading.
func TestDocumentLinks(t *testing.T) {
	pages := readPages(t)
	for name, p := range pages {
		for _, l := range p.links() {
			if strings.Contains(l, "://") || strings.HasPrefix(l, "mailto:") {
				continue
			}
			file, heading, _ := strings.Cut(l, "#")
			target := path.Join(path.Dir(name), file)
			if file == "" {
				target = name
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, l)
				continue
			}
			if to := pages[target]; heading != "" && to != nil && !to.headings[heading] {
				t.Errorf("%s: the link %s leads to no heading; %s has %s", name, l, target,
					strings.Join(slices.Sorted(maps.Keys(to.headings)), ", "))
			}
		}
	}
}

// TestDocumentIndex wants every document to be reachable from docs/README.md.
func TestDocumentIndex(t *testing.T) {
	pages := readPages(t)
	linked := map[string]bool{"docs/README.md": true}
	if pages["docs/README.md"] == nil {
		t.Fatal("there is no docs/README.md")
	}
	for _, l := range pages["docs/README.md"].links() {
		file, _, _ := strings.Cut(l, "#")
		linked[path.Join("docs", file)] = true
	}
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && !strings.HasPrefix(name, "docs/adr/") && !linked[name] {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

// TestDocumentFigures wants every larger number in the README, in its picture, and where the comparison refers to what
// was measured, to stand where numbers are measured or set, so that none of them grows old unnoticed.
func TestDocumentFigures(t *testing.T) {
	plain := func(name string) string {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`(\d),(\d{3})\b`).ReplaceAllString(string(b), "$1$2")
	}
	var entries strings.Builder
	for _, name := range []string{
		"docs/benchmarks.md", "docs/quality.md", "docs/peers.md", "docs/reference/settings.md",
		"docs/model-card.md", "cmd/tooldex/serve.go",
	} {
		entries.WriteString(plain(name))
	}
	_, picture, _ := strings.Cut(plain("docs/picture.svg"), "</style>")
	texts := map[string]string{"docs/picture.svg": strings.Join(regexp.MustCompile(`>[^<]*<`).FindAllString(picture,
		-1), " ")}
	for name, p := range readPages(t) {
		if name == "README.md" {
			texts[name] = regexp.MustCompile(`(\d),(\d{3})\b`).ReplaceAllString(codeSpan.ReplaceAllString(p.prose, ""),
				"$1$2")
		}
	}
	for line := range strings.Lines(plain("docs/comparison.md")) {
		if strings.Contains(line, "(quality.md") || strings.Contains(line, "(peers.md") {
			texts["docs/comparison.md"] += line
		}
	}
	for name, text := range texts {
		text = regexp.MustCompile(`\w*://\S*|\]\([^)]*\)`).ReplaceAllString(text, "")
		for _, number := range regexp.MustCompile(`\d+\.\d+|\.\d{2,}|\d{3,}`).FindAllString(text, -1) {
			if !regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(number) +
				`($|[^\d])`).MatchString(entries.String()) {
				t.Errorf("%s: %s stands in none of the pages of figures", name, number)
			}
		}
	}
}

// TestDocumentSpans wants commands within sentences to have verbs and flags that there are.
func TestDocumentSpans(t *testing.T) {
	for name, p := range readPages(t) {
		if name == "CHANGELOG.md" || strings.HasPrefix(name, "docs/adr/") { // what was true when it was written
			continue
		}
		for _, span := range p.spans() {
			if words := strings.Fields(strings.TrimPrefix(span, "bin/")); len(words) > 1 && words[0] == "tooldex" {
				if err := knownCommand(bareRoot(), words[1:]); err != nil {
					t.Errorf("%s: `%s`: %v", name, span, err)
				}
			}
		}
	}
}

// knownCommand reports what in a command line there is not. A word in capitals stands for any.
func knownCommand(root *cobra.Command, words []string) error {
	cmd := root
	for _, word := range words {
		word = strings.Trim(word, "[]")
		if word == "--" {
			return nil
		}
		name, isFlag := strings.CutPrefix(word, "--")
		if isFlag {
			name, _, _ = strings.Cut(name, "=")
			if flagNamed(cmd, name) == nil {
				return fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), name)
			}
			continue
		}
		for option := range strings.SplitSeq(word, "|") { // of verbs, all but the last are only looked at
			next, _, err := cmd.Find([]string{option})
			switch {
			case err == nil && next != cmd:
				if option == word {
					cmd = next
				}
			case cmd == root && option != strings.ToUpper(option) && !strings.HasPrefix(word, "-"):
				return fmt.Errorf("there is no verb %s", option)
			}
		}
	}
	return nil
}

func flagNamed(cmd *cobra.Command, name string) *pflag.Flag {
	for c := cmd; c != nil; c = c.Parent() {
		if f := c.Flags().Lookup(name); f != nil && (c == cmd || c.PersistentFlags().Lookup(name) != nil) {
			return f
		}
		if f := c.PersistentFlags().Lookup(name); f != nil {
			return f
		}
	}
	if name == "help" {
		return &pflag.Flag{}
	}
	return nil
}

func TestKnownCommand(t *testing.T) {
	for line, ok := range map[string]bool{
		"search --limit 3 x": true, "learn list|approve|forget": true, "COMMAND --help": true,
		"serve --listen A --demo": true, "connect cursor -- --mode full": true,
		"serch x": false, "search --nothing": false, "learn --listen": false,
	} {
		if err := knownCommand(bareRoot(), strings.Fields(line)); (err == nil) != ok {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestReadBlock shows that what is wrong in a document is noticed.
func TestReadBlock(t *testing.T) {
	for name, c := range map[string]struct {
		language, text string
		marks          []docMark
		says           string
	}{
		"a configuration":       {"yaml", "serve: {mode: full}", nil, ""},
		"a slip in it":          {"yaml", "serve: {mod: full}", nil, "mode"},
		"keys of nobody":        {"yaml", "services: {a: b}", nil, "no file of tooldex"},
		"those of another":      {"yaml", "services: {a: b}", []docMark{{markFor, "docker compose"}}, ""},
		"what is no YAML":       {"yaml", "a: [", []docMark{{markFor, "docker compose"}}, "yaml"},
		"an overlay":            {"yaml", "overlay: {a/b: {summary: x}}", nil, ""},
		"a slip in an overlay":  {"yaml", "overlay: {a/b: {sumary: x}}", nil, "sumary"},
		"requests":              {"yaml", "queries: [{query: x, relevant: [a/b]}]", nil, ""},
		"steps of a request":    {"yaml", "queries: [{query: x, steps: [{tools: [a/b]}]}]", nil, ""},
		"a slip in requests":    {"yaml", "queries: [{query: x, relevent: [a/b]}]", nil, "no relevant tools"},
		"a client's file":       {"json", `{"mcpServers": {"a": {"command": "x"}}}`, nil, ""},
		"a server of nothing":   {"json", `{"mcpServers": {"a": {}}}`, nil, "neither a command nor a url"},
		"a body":                {"json", `{"message": "x"}`, nil, ""},
		"what is no JSON":       {"json", `{"message": "x",}`, nil, "invalid"},
		"Go":                    {"go", "x := 1", nil, ""},
		"what is no Go":         {"go", "x := ", nil, "expected"},
		"output":                {"text", "anything", nil, ""},
		"another language":      {"python", "x = 1", nil, "nobody runs"},
		"nothing said about it": {"", "x", nil, "does not say"},
	} {
		err := readBlock(&docBlock{language: c.language, text: c.text, marks: c.marks})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
