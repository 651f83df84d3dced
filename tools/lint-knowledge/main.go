package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("lint", flag.ContinueOnError)
	flags.SetOutput(stderr)
	format := flags.Bool("fmt", false, "rewrite the archetype files in canonical form before checking")
	quiet := flags.Bool("q", false, "print errors and totals only")
	coverage := flags.Bool("coverage", false, "print a page of what is known of each kind of server instead of findings")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: lint [-fmt] [-q] [-coverage] DIR")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	dir := flags.Arg(0)
	if *format {
		if err := formatArchetypes(dir); err != nil {
			fmt.Fprintln(stderr, err)
			return 2
		}
	}
	c, err := load(dir)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if *coverage {
		if err := writeCoverage(stdout, c); err != nil {
			fmt.Fprintln(stderr, err)
			return 2
		}
		return 0
	}
	r := check(c)
	r.write(stdout, *quiet)
	if r.errors() > 0 {
		return 1
	}
	return 0
}
