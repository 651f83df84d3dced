package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"tooldex/eval"
	"tooldex/tool"
)

// evalFlags are the flags of eval, some of which its subcommands share. Empty fields restrict and write nothing.
type evalFlags struct {
	mode, compare    string
	agent            string   // ollama:MODEL or openai:MODEL
	min              []string // gates, as eval.ParseGate reads them
	run, junit, html string   // files to write
	split            string
	kinds            []string
	sample           int
	cases            bool
}

func newEval(a *app) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval [DIR|FILE]",
		Short: "Measure how well search finds the right tools, and what to improve",
		Long: "Measure how well the right tools are found for labelled requests. DIR holds tools.jsonl and queries.jsonl (or\n" +
			"queries.yaml); FILE holds such requests for the stored tools, as eval init writes them; without either the demo\n" +
			"catalogue and its requests are used. With --min the command exits with 3 if a figure is too\n" +
			"low. Times are reported, and never fail the command. With --agent a chat model is given the tools that tooldex\n" +
			"selects for each request; what it calls is scored. No tool is called.",
		Example: "  tooldex eval\n  tooldex eval mine --min recall@5=.9 --min paraphrase:hit@5=.8\n" +
			"  tooldex eval mine --mode hybrid --compare keyword\n  tooldex eval mine --html report.html --junit report.xml",
		Args: checkArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			gates, err := f.gates(f.min, eval.ParseGate)
			if err != nil {
				return err
			}
			return a.eval(cmd.Context(), &f, first(args), gates)
		},
	}
	fl := cmd.Flags()
	f.addMeasureFlags(cmd)
	f.addReportFlags(cmd)
	fl.StringVar(&f.agent, "agent", "", "measure what a chat model calls: ollama:MODEL or openai:MODEL")
	fl.BoolVar(&f.cases, "cases", false, "every request in the JSON or YAML report, not only the means")
	fl.StringVar(&f.compare, "compare", "", "compare with another mode, a run file or a JSON report")
	fl.StringArrayVar(&f.min, "min", nil, "the least that a figure must reach, for example recall@5=.9; may be repeated")
	fl.StringVar(&f.run, "run", "", "write what was found for each request to this file")
	cmd.AddCommand(newEvalInit(a), newEvalCompare(a), newEvalGate(a), newEvalExplain(a), newEvalCollide(a),
		newEvalDescribe(a))
	return cmd
}

// addMeasureFlags adds the flags that choose the search mode and the requests.
func (f *evalFlags) addMeasureFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.mode, "mode", "", "hybrid (default), keyword or semantic")
	f.addRequestFlags(cmd)
}

// addRequestFlags adds the flags that choose the requests.
func (f *evalFlags) addRequestFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.split, "split", "", "only requests of this split")
	fl.StringSliceVar(&f.kinds, "kind", nil, "only requests of this kind; may be repeated")
	fl.IntVar(&f.sample, "sample", 0, "measure only this many requests, always the same ones")
}

// addReportFlags adds the flags that name further reports.
func (f *evalFlags) addReportFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.junit, "junit", "", "write JUnit XML to this file too")
	fl.StringVar(&f.html, "html", "", "write a page with plots to this file too")
}

func (f *evalFlags) options() (eval.Options, error) {
	if f.mode != "" && !knownMode(f.mode) {
		return eval.Options{}, usageError{fmt.Sprintf("unknown mode %q", f.mode), "use hybrid, keyword or semantic"}
	}
	return eval.Options{Mode: tool.Mode(f.mode), Split: f.split, Kinds: f.kinds, Sample: f.sample}, nil
}

// gates parses gates, and makes a wrong one a usage error.
func (f *evalFlags) gates(given []string, parse func(string) (eval.Gate, error)) ([]eval.Gate, error) {
	var gates []eval.Gate
	for _, s := range given {
		g, err := parse(s)
		if err != nil {
			return nil, asUsageError(err)
		}
		gates = append(gates, g)
	}
	return gates, nil
}

func knownMode(s string) bool {
	return slices.Contains([]tool.Mode{tool.Hybrid, tool.Keyword, tool.Semantic}, tool.Mode(s))
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// evaluated is what -o json prints when two runs are compared. Without a comparison the report is printed by itself.
type evaluated struct {
	Report  *eval.Report     `json:"report"`
	Compare *eval.Comparison `json:"compare"`
}

// eval measures a set and writes all reports before it fails for a missed gate, so that CI keeps them.
func (a *app) eval(ctx context.Context, f *evalFlags, path string, gates []eval.Gate) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	l, err := a.openLabelled(ctx, path)
	if err != nil {
		return err
	}
	defer a.close(l.Service)
	report, err := l.run(ctx, f, options)
	if err != nil {
		return err
	}
	if f.run != "" {
		// The run file is written before the comparison, which may fail.
		write := func(w io.Writer) error { return eval.WriteRun(w, report.Answers()) }
		if err := writeFile("write run", f.run, write); err != nil {
			return err
		}
	}
	var comparison *eval.Comparison
	if f.compare != "" {
		if comparison, err = l.compareWith(ctx, f.compare, report, options); err != nil {
			return err
		}
	}
	verdicts := report.Check(gates, nil)
	if err := f.writeReports(report, verdicts, comparison); err != nil {
		return err
	}
	if err := a.printEval(report, comparison, f.cases); err != nil {
		return err
	}
	return a.printMissedGates(verdicts)
}

// run measures the search, or what an agent calls. Missed requests get advice where a report lists them.
func (l *labelled) run(ctx context.Context, f *evalFlags, o eval.Options) (*eval.Report, error) {
	var report *eval.Report
	var err error
	if f.agent != "" {
		report, err = l.RunAgent(ctx, f.agent, l.set, o)
	} else {
		report, err = eval.Run(ctx, l.Engine, l.set, o)
	}
	if err == nil && (f.html != "" || f.cases) {
		l.AdviseMissed(report, l.set)
	}
	return report, err
}

// printMissedGates prints the gates that were not met, and returns exit code 3 if there are any.
func (a *app) printMissedGates(verdicts []eval.Verdict) error {
	missed := 0
	for _, v := range verdicts {
		if !v.Met {
			missed++
			fmt.Fprintln(a.stderr, "gate not met: "+makePrintable(v.String()))
		}
	}
	if missed > 0 {
		return silent(exitNone)
	}
	return nil
}

// writeReports writes the report files that the flags name.
func (f *evalFlags) writeReports(report *eval.Report, verdicts []eval.Verdict, c *eval.Comparison) error {
	if f.junit != "" {
		write := func(w io.Writer) error { return report.WriteJUnit(w, verdicts) }
		if err := writeFile("write junit report", f.junit, write); err != nil {
			return err
		}
	}
	if f.html != "" {
		write := func(w io.Writer) error { return report.WriteHTML(w, verdicts, c) }
		return writeFile("write page", f.html, write)
	}
	return nil
}

// printEval prints a report. JSON and YAML have the single requests only if cases is set, since they are by far the
// largest part.
func (a *app) printEval(report *eval.Report, comparison *eval.Comparison, cases bool) error {
	if a.format != "table" && !cases { // the table only counts them
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
