package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// confirmChange shows a difference and reports whether it may be written: with --yes, or when a person at a terminal
// agrees. Without a terminal it is a usage error.
func (a *app) confirmChange(text, path string, f *connectFlags) (bool, error) {
	if a.format == "table" {
		a.showDifference(text)
	}
	if f.dryRun {
		return false, nil
	}
	return a.confirmOnce("write "+path+"?", f.yes)
}

// confirmOnce reports whether a person at a terminal answers a question with yes; yes answers it beforehand. It is a
// usage error without a terminal, and ends with exit code 1 at a no.
func (a *app) confirmOnce(question string, yes bool) (bool, error) {
	switch {
	case yes:
		return true, nil
	case !isTerminal(a.stdin):
		return false, unasked
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	if errors.Is(err, io.EOF) && answer == "" {
		fmt.Fprintln(a.stderr)
		return false, unasked
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	fmt.Fprintln(a.stderr, "nothing was written")
	return false, silent(exitFailed)
}

var unasked = usageError{"nothing was written: there is no terminal to confirm at", "give --yes to write, or --dry-run to " +
	"see the difference"}

// showDifference prints a unified diff, coloured on a terminal.
func (a *app) showDifference(text string) {
	colours := a.usesColours(a.stdout)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		colour := ""
		switch {
		case !colours:
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			colour = "1"
		case strings.HasPrefix(line, "+"):
			colour = "32"
		case strings.HasPrefix(line, "-"):
			colour = "31"
		case strings.HasPrefix(line, "@@"):
			colour = "36"
		}
		fmt.Fprintln(a.stdout, inColour(makePrintable(line), colour))
	}
}

// usesColours reports whether output to w may be coloured: on a terminal, unless NO_COLOR or TERM=dumb forbids it.
func (a *app) usesColours(w any) bool {
	return isTerminal(w) && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

// inColour wraps a text in an ANSI colour: the number of an SGR code, "" for none.
func inColour(text, colour string) string {
	if colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
