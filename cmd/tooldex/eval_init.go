package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/eval"
	"tooldex/eval/inspect"
	"tooldex/internal/atomicfile"
	"tooldex/service"
	"tooldex/tool"
)

type initFlags struct {
	out     string
	force   bool
	perTool int
}

func newEvalInit(a *app) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [-o DIR|FILE]",
		Short: "Write labelled requests for your own tools, to review and to measure with",
		Long: "Write requests for the stored tools: those declared with them or in their examples, and some borrowed from similar\n" +
			"tools, each marked for review. FILE (.yaml or .yml) gets the requests; DIR also gets a copy of the tools, so that\n" +
			"it can be measured anywhere. Existing files are kept unless --force is given.",
		Example: "  tooldex eval init -o queries.yaml && tooldex eval queries.yaml\n" +
			"  tooldex eval init -o mine && tooldex eval mine",
		Args: checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.perTool < 1 {
				return usageError{fmt.Sprintf("%d requests of a tool are too few", f.perTool), "leave --per-tool out " +
					"for two"}
			}
			s, err := a.open(cmd.Context(), service.ToSearch)
			if err != nil {
				return err
			}
			defer a.close(s)
			if s.Catalog.Set().Len() == 0 {
				return &tool.Error{Code: tool.Invalid, Op: "draft requests", Msg: "no tools are " +
					"stored yet", Hint: importHint}
			}
			return a.draft(&labelled{s, eval.NewDataset("stored", s.Catalog.Set())}, &f)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "queries.yaml", "where to write: a .yaml file, or a folder")
	fl.BoolVar(&f.force, "force", false, "write over files that exist")
	fl.IntVar(&f.perTool, "per-tool", 2, "how many requests to borrow for each tool")
	return cmd
}

// draft writes a set to be labelled: a folder with the tools as well, or a YAML file of requests alone.
func (a *app) draft(l *labelled, f *initFlags) error {
	ext := strings.ToLower(filepath.Ext(f.out))
	folder := ext != ".yaml" && ext != ".yml"
	if ext == ".jsonl" || ext == ".json" {
		return usageError{"requests are drafted as YAML, which has room for comments", "give a .yaml file or a folder"}
	}
	file, label := f.out, func(id tool.ID) string { return string(id) }
	if folder {
		file, label = filepath.Join(f.out, "queries.yaml"), eval.ToolLabel
		if err := atomicfile.MkdirAll(f.out, 0o755); err != nil {
			return &tool.Error{Code: tool.Invalid, Op: "draft requests", Msg: "folder " + f.out +
				" cannot be made", Hint: "check the path", Err: causeOf(err)}
		}
	}
	if err := f.checkOverwrite(file, folder); err != nil {
		return err
	}
	if folder {
		tools := func(w io.Writer) error { return eval.WriteTools(w, l.Catalog.Set().All()) }
		if err := writeFile("write tools", filepath.Join(f.out, "tools.jsonl"), tools); err != nil {
			return err
		}
	}
	draft := l.NewInspector(l.set).Draft(inspect.DraftOptions{PerTool: f.perTool})
	command := "tooldex eval " + f.out
	if a.demo && !folder {
		command = "tooldex eval --demo " + f.out
	}
	write := func(w io.Writer) error { return inspect.WriteDraft(w, draft, label, command) }
	if err := writeFile("write requests", file, write); err != nil {
		return err
	}
	counts := map[inspect.Source]int{}
	for _, d := range draft {
		counts[d.From]++
	}
	var parts []string
	for _, from := range []inspect.Source{inspect.Declared, inspect.Example, inspect.Borrowed, inspect.Summary} {
		if n := counts[from]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, from))
		}
	}
	fmt.Fprintf(a.stdout, "%s: %d requests (%s) to review; then: %s\n", file, len(draft), strings.Join(parts, ", "),
		command)
	return nil
}

// checkOverwrite returns an error if a file would be overwritten without --force. A folder must not hold requests under
// another name either, with or without --force: a set has one file of them.
func (f *initFlags) checkOverwrite(file string, folder bool) error {
	taken := []string{file}
	if folder {
		dir := filepath.Dir(file)
		taken = append(taken, filepath.Join(dir, "tools.jsonl"), filepath.Join(dir, "queries.jsonl"),
			filepath.Join(dir, "queries.yml"))
	}
	for i, name := range taken {
		if _, err := os.Lstat(name); err != nil || f.force && (i < 2 || !folder) {
			continue
		}
		hint := "give --force to write over it, or another name with -o"
		if i >= 2 {
			hint = "a set has one file of requests: move it away, or give another folder"
		}
		return &tool.Error{Code: tool.Invalid, Op: "draft requests", Msg: "file " + name + " exists", Hint: hint}
	}
	return nil
}
