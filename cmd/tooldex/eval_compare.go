package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/eval"
	"tooldex/tool"
)

func newEvalCompare(a *app) *cobra.Command {
	var f evalFlags
	var path string
	var all bool
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs or search modes, request by request",
		Long: "Compare two runs, request by request. A and B are each a mode (hybrid, keyword, semantic), a run file as\n" +
			"--run writes it, or a report as -o json --cases prints it. Changes come with 95 % intervals of a paired bootstrap:\n" +
			"10,000 draws of the requests with replacement, always the same ones. Positive means that B is better.",
		Example: "  tooldex eval compare keyword hybrid\n  tooldex eval compare before.jsonl after.jsonl --set mine\n" +
			"  tooldex eval compare before.json after.json",
		Args: checkArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := f.options()
			if err != nil {
				return err
			}
			c, err := a.evalCompare(cmd.Context(), args, path, options)
			if err != nil {
				return err
			}
			if all {
				c.Most = c.Queries
			}
			if f.html != "" {
				if err := writeFile("write page", f.html, c.WriteHTML); err != nil {
					return err
				}
			}
			return a.print(c, c.WriteText)
		},
	}
	f.addRequestFlags(cmd)
	cmd.Flags().StringVar(&path, "set", "", "folder, or file of requests, that the runs are over (default: the demo's)")
	cmd.Flags().StringVar(&f.html, "html", "", "write a page with the requests that moved to this file too")
	cmd.Flags().BoolVar(&all, "all", false, "list every win, loss and tie, not only the greatest")
	return cmd
}

func (a *app) evalCompare(ctx context.Context, names []string, path string, o eval.Options) (*eval.Comparison, error) {
	var reports [2]*eval.Report
	var l *labelled
	for i, name := range names {
		r, err := readReport(name)
		if err != nil {
			return nil, err
		}
		if r == nil { // a mode or a run file, which need the set
			if l == nil {
				if l, err = a.openLabelled(ctx, path); err != nil {
					return nil, err
				}
				defer a.close(l.Service)
			}
			if r, err = l.measure(ctx, name, o); err != nil {
				return nil, err
			}
		}
		reports[i] = r
	}
	c, err := eval.Compare(reports[0], reports[1])
	if err != nil {
		return nil, err
	}
	c.A, c.B = sideName(names[0]), sideName(names[1])
	return c, nil
}

// compareWith compares a report with other: a mode, a run file or a JSON report.
func (l *labelled) compareWith(ctx context.Context, other string, report *eval.Report,
	o eval.Options,
) (*eval.Comparison, error) {
	base, err := readReport(other)
	if err == nil && base == nil {
		base, err = l.measure(ctx, other, o)
	}
	if err != nil {
		return nil, err
	}
	c, err := eval.Compare(base, report)
	if err != nil {
		return nil, err
	}
	c.A = sideName(other)
	return c, nil
}

// measure searches in a mode and scores it, or scores the run file of that name.
func (l *labelled) measure(ctx context.Context, name string, o eval.Options) (*eval.Report, error) {
	if knownMode(name) {
		o.Mode = tool.Mode(name)
		return eval.Run(ctx, l.Engine, l.set, o)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usageError{fmt.Sprintf("%q is neither a mode nor a readable file", name), "give keyword, " +
			"semantic, hybrid, a file that --run wrote, or a JSON report"}
	}
	defer func() { _ = file.Close() }() // it was only read: nothing can be lost
	answers, err := eval.ReadRun(file, name)
	if err != nil {
		return nil, err
	}
	return eval.Score(l.set, answers, o)
}

// readReport reads a JSON report. It returns nil, and no error, for a name that does not end in .json.
func readReport(name string) (*eval.Report, error) {
	if !strings.EqualFold(filepath.Ext(name), ".json") {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fileError("read report", name, err)
	}
	defer func() { _ = file.Close() }() // it was only read: nothing can be lost
	return eval.ReadReport(file, name)
}

func sideName(name string) string {
	if knownMode(name) {
		return name
	}
	return filepath.Base(name)
}
