package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tooldex/service"
)

func newSkills(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "skills [NAME[/FILE]]",
		Short: "List the skills in the folders of the setting skills, or show one",
		Long: "List the skills in the folders of the setting skills, with what the scanner found in them. NAME shows the SKILL.md of\n" +
			"one, NAME/FILE another of its files. What cannot be used of the folders is printed to standard error.",
		Args: checkArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), service.ToList)
			if err != nil {
				return err
			}
			defer a.close(s)
			report, err := s.ReportSkills(cmd.Context(), args...)
			fmt.Fprint(a.stderr, makePrintable(report.Notes()))
			if err != nil {
				return err
			}
			return a.print(report, func(w io.Writer) error { return writeColumns(w, nil, report.Rows()) })
		},
	}
}
