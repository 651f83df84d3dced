package script

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/dop251/goja"

	"tooldex/tool"
)

// failure returns the error for a program that the interpreter ended.
func (r *run) failure(err error) error {
	var stopped *goja.InterruptedError
	if errors.As(err, &stopped) {
		reason, _ := stopped.Value().(error)
		if errors.Is(reason, context.Canceled) {
			return reason
		}
		var e *tool.Error
		if errors.As(reason, &e) {
			return at(e, stopped.String())
		}
		return at(invalid("the script was stopped", ""), stopped.String())
	}
	var deep *goja.StackOverflowError
	if errors.As(err, &deep) {
		return at(invalid("functions call each other too deeply", "use a loop"), deep.String())
	}
	var thrown *goja.Exception
	if errors.As(err, &thrown) {
		return r.rejection(thrown.Value())
	}
	return invalid(err.Error(), "")
}

// rejection returns the error for a value that the program threw.
func (r *run) rejection(value goja.Value) error {
	msg, stack := value.String(), ""
	if o, ok := value.(*goja.Object); ok {
		if s := o.Get("stack"); s != nil {
			stack = s.String()
		}
	}
	return at(invalid(clip(msg), ""), stack)
}

// position finds a line of the program in a stack.
var position = regexp.MustCompile(`\b` + programName + `:(\d+):\d+`)

// at puts the line before the message, if the stack has one.
func at(e *tool.Error, stack string) *tool.Error {
	if m := position.FindStringSubmatch(stack); m != nil {
		e.Msg = "line " + m[1] + ": " + e.Msg
	}
	return e
}

// clip bounds a text that came from the program.
func clip(s string) string {
	const most = 1000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " ..."
}
