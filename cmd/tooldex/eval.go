package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"tooldex/catalog"
	"tooldex/cmd/tooldex/demo"
	"tooldex/eval"
	"tooldex/tool"
)

type evalFlags struct {
	mode    string
	compare string
	min     []string
	run     string
	split   string
	kinds   []string
	sample  int
	cases   bool
}

func newEval(a *app) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval [DIR]",
		Short: "Measure how well the right tools are found, and gate on it",
		Long: "Measure how well the right tools are found for labelled requests. DIR holds tools.jsonl and queries.jsonl (or\n" +
			"queries.yaml); without it the demo catalogue and its requests are used. With --min the command ends with 3 when a\n" +
			"figure is not reached.",
		Example: "  tooldex eval\n  tooldex eval mine --min recall@5=.9 --min paraphrase:hit@5=.8\n  tooldex eval mine --mode hybrid --compare keyword",
		Args:    wants(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !knownMode(f.mode) {
				return usageError{fmt.Sprintf("unknown mode %q", f.mode), "use hybrid, keyword or semantic"}
			}
			var gates []eval.Gate
			for _, s := range f.min {
				g, err := eval.ParseGate(s)
				if err != nil {
					var te *tool.Error
					errors.As(err, &te)
					return usageError{te.Msg, te.Hint}
				}
				gates = append(gates, g)
			}
			dir := ""
			if len(args) > 0 {
				dir = args[0]
			}
			return a.eval(cmd.Context(), f, dir, gates)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "mode", "", "hybrid (default), keyword or semantic")
	fl.StringVar(&f.compare, "compare", "", "compare with another mode, or with a run file")
	fl.StringArrayVar(&f.min, "min", nil, "the least that a figure must reach, for example recall@5=.9; may be repeated")
	fl.StringVar(&f.run, "run", "", "write what was found for each request to this file")
	fl.StringVar(&f.split, "split", "", "only requests of this split")
	fl.StringSliceVar(&f.kinds, "kind", nil, "only requests of this kind; may be repeated")
	fl.IntVar(&f.sample, "sample", 0, "only so many requests, always the same ones")
	fl.BoolVar(&f.cases, "cases", false, "every request in the JSON or YAML report, not only the means")
	return cmd
}

func knownMode(s string) bool {
	return s == "" || slices.Contains([]tool.Mode{tool.Hybrid, tool.Keyword, tool.Semantic}, tool.Mode(s))
}

// evaluated is what -o json prints when two runs are compared.
type evaluated struct {
	Report  *eval.Report     `json:"report"`
	Compare *eval.Comparison `json:"compare"`
}

func (a *app) eval(ctx context.Context, f evalFlags, dir string, gates []eval.Gate) error {
	set, s, err := a.openSet(ctx, dir)
	if err != nil {
		return asInput(err)
	}
	defer s.close()
	options := eval.Options{Mode: tool.Mode(f.mode), Split: f.split, Kinds: f.kinds, Sample: f.sample}
	report, err := eval.Run(ctx, s.engine, set, options)
	if err != nil {
		return err
	}
	if f.run != "" {
		if err := writeRun(f.run, report); err != nil {
			return err
		}
	}
	var comparison *eval.Comparison
	if f.compare != "" {
		if comparison, err = compare(ctx, s, set, options, report, f.compare); err != nil {
			return err
		}
	}
	failures := report.Check(gates)
	if err := a.printEval(report, comparison, f.cases); err != nil {
		return err
	}
	for _, failure := range failures {
		fmt.Fprintln(a.stderr, "gate not met: "+failure.String())
	}
	if len(failures) > 0 {
		return silent(exitNone)
	}
	return nil
}

// openSet loads the set and makes its tools searchable, apart from those that are stored.
func (a *app) openSet(ctx context.Context, dir string) (*eval.Dataset, *stack, error) {
	if dir == "" {
		return a.openDemoSet(ctx)
	}
	set, err := eval.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range set.Notes {
		a.log.Info(note)
	}
	s, err := a.openScratch(ctx, []catalog.Source{given{set.Name, set.Tools}}, toSearch)
	return set, s, err
}

func (a *app) openDemoSet(ctx context.Context) (*eval.Dataset, *stack, error) {
	a.demo = true
	s, err := a.open(ctx, toSearch)
	if err != nil {
		return nil, nil, err
	}
	set, err := demoCases(s)
	if err != nil {
		s.close()
		return nil, nil, err
	}
	set.Name = "demo"
	return set, s, nil
}

// demoCases reads the requests against the open catalogue, since they may name tools as people do.
func demoCases(s *stack) (*eval.Dataset, error) {
	files, err := fs.Glob(demo.FS, "queries-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("list the demo requests: %w", err)
	}
	var all []byte
	for _, name := range files {
		b, err := demo.FS.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the demo requests: %w", err)
		}
		all = append(append(all, bytes.TrimSpace(b)...), '\n')
	}
	file := filepath.Join(s.scratch, "queries.jsonl")
	if err := os.WriteFile(file, all, 0o600); err != nil {
		return nil, fmt.Errorf("unpack the demo requests: %w", err)
	}
	return eval.LoadCases(file, s.catalog.Set())
}

// compare measures what is called other: a mode, or else a run file.
func compare(ctx context.Context, s *stack, set *eval.Dataset, o eval.Options, report *eval.Report, other string) (*eval.Comparison, error) {
	var base *eval.Report
	name := other
	if knownMode(other) {
		o.Mode = tool.Mode(other)
		r, err := eval.Run(ctx, s.engine, set, o)
		if err != nil {
			return nil, err
		}
		base = r
	} else {
		file, err := os.Open(other)
		if err != nil {
			return nil, usageError{fmt.Sprintf("%q is neither a mode nor a readable file", other), "give keyword, semantic, hybrid, or a file that --run wrote"}
		}
		defer func() { _ = file.Close() }()
		answers, err := eval.ReadRun(file, other)
		if err != nil {
			return nil, err
		}
		if base, err = eval.Score(set, answers, o); err != nil {
			return nil, err
		}
		name = filepath.Base(other)
	}
	c, err := eval.Compare(base, report)
	if err != nil {
		return nil, err
	}
	c.A = name
	return c, nil
}

func writeRun(path string, report *eval.Report) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return &tool.Error{Code: tool.Invalid, Op: "write run", Msg: "file " + path + " cannot be written", Hint: "check the path", Err: errors.Unwrap(err)}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return eval.WriteRun(file, report.Answers())
}

func (a *app) printEval(report *eval.Report, comparison *eval.Comparison, cases bool) error {
	if a.format != "table" && !cases {
		copied := *report
		copied.Cases = nil
		report = &copied
	}
	var v any = report
	if comparison != nil {
		v = evaluated{report, comparison}
	}
	return a.print(v, func(w io.Writer) error {
		if err := report.WriteText(w); err != nil || comparison == nil {
			return err
		}
		fmt.Fprintln(w)
		return comparison.WriteText(w)
	})
}

// asInput makes a missing file an error of input: exit code 3 is for gates.
func asInput(err error) error {
	var te *tool.Error
	if !errors.As(err, &te) || te.Code != tool.NotFound {
		return err
	}
	copied := *te
	copied.Code = tool.Invalid
	return &copied
}
