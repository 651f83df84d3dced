package main

import (
	"errors"
	"fmt"
	"strings"
)

// verdict is one thing that is looked at after a run.
type verdict struct {
	what, figure, bar string
	met, counts       bool // whether it is as it should be, and whether the run fails if not
}

// writeVerdicts writes the table of verdicts.
func writeVerdicts(b *strings.Builder, all []verdict) {
	b.WriteString("| what | figure | wanted | |\n|---|---|---|---|\n")
	for _, v := range all {
		mark := "met"
		if !v.met {
			mark = "**missed**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", v.what, v.figure, v.bar, mark)
	}
}

// missed returns an error that lists what fails the run, nil if nothing does.
func missed(all []verdict) error {
	var out []string
	for _, v := range all {
		if v.counts && !v.met {
			out = append(out, v.what+": "+v.figure+", want "+v.bar)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return errors.New(strings.Join(out, "; "))
}
