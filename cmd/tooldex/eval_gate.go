package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tooldex/eval"
)

type gateFlags struct {
	evalFlags
	drop    []string
	against string
}

func newEvalGate(a *app) *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate [DIR|FILE|REPORT.json]",
		Short: "Fail a build if search quality is too low or has dropped",
		Long: "Measure as eval does, and exit with 3 if a figure is below --min, or more than --max-drop below that of the report\n" +
			"--against. An existing report is read instead of measuring again. FIGURE is a metric of the report, \"recall@5\", or\n" +
			"that of one kind of request, \"paraphrase:recall@5\". Times never fail a build.",
		Example: "  tooldex eval gate mine --min recall@5=.9 --max-drop ndcg@10=.01 --against accepted.json\n" +
			"  tooldex eval gate new.json --max-drop recall@5=0 --against accepted.json",
		Args: checkArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			gates, err := f.allGates()
			if err != nil {
				return err
			}
			return a.gate(cmd.Context(), &f, first(args), gates)
		},
	}
	f.addMeasureFlags(cmd)
	f.addReportFlags(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.min, "min", nil, "the least that a figure must reach, for example recall@5=.9; may be repeated")
	fl.StringArrayVar(&f.drop, "max-drop", nil, "the most by which a figure may lie below that of --against; may be repeated")
	fl.StringVar(&f.against, "against", "", "the report to measure drops from: JSON, a run file or a mode")
	return cmd
}

// allGates returns the gates of both kinds. It is a usage error if there are none, or drops without a report to compare
// with.
func (f *gateFlags) allGates() ([]eval.Gate, error) {
	gates, err := f.gates(f.min, eval.ParseGate)
	if err != nil {
		return nil, err
	}
	drops, err := f.gates(f.drop, eval.ParseDrop)
	switch {
	case err != nil:
		return nil, err
	case len(gates)+len(drops) == 0:
		return nil, usageError{"no gate is given", "give --min recall@5=.9, or --max-drop recall@5=.01 --against " +
			"REPORT.json"}
	case len(drops) > 0 && f.against == "":
		return nil, usageError{"--max-drop has nothing to measure from", "give --against REPORT.json, as eval -o " +
			"json prints it"}
	}
	return append(gates, drops...), nil
}

func (a *app) gate(ctx context.Context, f *gateFlags, path string, gates []eval.Gate) error {
	report, base, err := a.gatedReports(ctx, f, path)
	if err != nil {
		return err
	}
	verdicts := report.Check(gates, base)
	if err := f.writeReports(report, verdicts, nil); err != nil {
		return err
	}
	if err := a.print(verdicts, func(w io.Writer) error { return verdictTable(w, verdicts) }); err != nil {
		return err
	}
	return a.printMissedGates(verdicts)
}

// gatedReports returns the report that is checked, and the one that drops are measured from, nil without --against.
// Nothing is opened if both are report files.
func (a *app) gatedReports(ctx context.Context, f *gateFlags, path string) (report, base *eval.Report, err error) {
	options, err := f.options()
	if err != nil {
		return nil, nil, err
	}
	if report, err = readReport(path); err != nil {
		return nil, nil, err
	}
	if f.against != "" {
		if base, err = readReport(f.against); err != nil {
			return nil, nil, err
		}
	}
	if report != nil && (base != nil || f.against == "") {
		return report, base, nil
	}
	if report != nil {
		return nil, nil, usageError{"a report can only be held against another report", "give --against REPORT.json"}
	}
	l, err := a.openLabelled(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer a.close(l.Service)
	if report, err = eval.Run(ctx, l.Engine, l.set, options); err != nil {
		return nil, nil, err
	}
	if f.against != "" && base == nil {
		base, err = l.measure(ctx, f.against, options)
	}
	return report, base, err
}

func verdictTable(w io.Writer, verdicts []eval.Verdict) error {
	value := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.4f", *v)
	}
	rows := make([][]string, len(verdicts))
	for i, v := range verdicts {
		met := "met"
		if !v.Met {
			met = "NOT MET"
		}
		rows[i] = []string{v.Figure, v.Need, value(v.Got), value(v.Was), met}
	}
	return writeColumns(w, []string{"FIGURE", "WANTED", "IS", "WAS", ""}, rows)
}
