package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"tooldex/config"
	"tooldex/tool"
)

// The exit codes, which scripts rely on.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitNone   = 3 // nothing found, or a gate not met
)

// usageError is a command line that can never work, with its remedy. It ends with exit code 2.
type usageError struct{ msg, hint string }

func (e usageError) Error() string { return e.msg }

// asUsageError turns a tool.Error about command line arguments into a usageError. Other errors, and nil, stay.
func asUsageError(err error) error {
	var e *tool.Error
	if errors.As(err, &e) {
		return usageError{e.Msg, e.Hint}
	}
	return err
}

// isUsage reports whether an error is a mistake in the command line or the environment.
func isUsage(err error) bool {
	var usage usageError
	var setting config.UsageError
	return errors.As(err, &usage) || errors.As(err, &setting)
}

// silent is an exit code without a message: the command has printed everything.
type silent int

func (s silent) Error() string { return fmt.Sprintf("exit code %d", int(s)) }

// exitCode returns the exit code of an error: the same four codes for every command, which docs/reference lists.
func exitCode(err error) int {
	var quiet silent
	switch {
	case err == nil:
		return exitDone
	case isUsage(err):
		return exitUsage
	case errors.As(err, &quiet):
		return int(quiet)
	case tool.CodeOf(err) == tool.NotFound:
		return exitNone
	}
	return exitFailed
}

// printError prints an error on one line and its remedy on the next. Joined errors are printed one after the other, but
// a silent error among them silences all.
func printError(w io.Writer, err error) {
	var quiet silent
	if errors.As(err, &quiet) {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			printError(w, e)
		}
		return
	}
	msg, hint := explainError(err)
	fmt.Fprintln(w, "tooldex: "+makePrintable(msg))
	if hint != "" {
		fmt.Fprintln(w, "hint: "+makePrintable(hint))
	}
}

// explainError returns what an error says without its remedy, and the remedy, "" if it has none.
func explainError(err error) (msg, hint string) {
	msg = err.Error()
	var te *tool.Error
	var usage usageError
	var setting config.UsageError
	switch {
	case errors.As(err, &usage):
		hint = usage.hint
	case errors.As(err, &setting):
		hint = setting.Hint
	case errors.As(err, &te):
		hint = te.Hint
		if hint != "" { // the text repeats the hint, once for each error that wraps it
			msg = strings.ReplaceAll(msg, " ("+hint+")", "")
		}
	}
	return msg, hint
}
