package script

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"

	"tooldex/tool"
)

// Host is what a program can reach. Its methods are called one at a time, on the goroutine of Run. An error becomes an
// exception of the program, with the text of a [*tool.Error]; that of others is hidden.
type Host interface {
	// Call calls a tool of a server and returns the tool's result.
	Call(ctx context.Context, server, name string, args json.RawMessage) (json.RawMessage, error)
	// Search returns, as JSON, the tools that fit a request; limit 0 is the default.
	Search(ctx context.Context, query string, limit int) (json.RawMessage, error)
	// Describe returns what a caller of a tool needs to know.
	Describe(ctx context.Context, name string) (string, error)
}

//go:embed guards.js
var guards string

// programName is the name of the program in positions.
const programName = "script"

// boundPatterns ends patterns that backtrack after a second: they cannot be interrupted. The module has no other way,
// and only goja uses it here.
var boundPatterns = sync.OnceFunc(func() { regexp2.DefaultMatchTimeout = time.Second })

// run is one execution. It belongs to the goroutine of Run. Only watch uses others, and interrupts vm through its own
// method.
type run struct {
	ctx   context.Context
	vm    *goja.Runtime
	host  Host
	l     Limits
	watch *watch

	stringify goja.Callable
	parse     goja.Callable
	calls     int
	results   int // bytes
}

// Run executes source, the body of an async function, and returns the value that it returns, as JSON. Every error is a
// [*tool.Error] that names the line, and the tool if a call failed.
func Run(ctx context.Context, source string, host Host, l Limits) (answer json.RawMessage, err error) {
	boundPatterns()
	l = l.withDefaults()
	if len(source) > maxSource {
		return nil, invalid(fmt.Sprintf("the script has %d bytes", len(source)), fmt.Sprintf("at most %d fit", maxSource))
	}
	defer func() {
		if x := recover(); x != nil { // a defect of the interpreter must not end the process
			answer, err = nil, invalid("the interpreter failed", "write the script in another way")
		}
	}()
	// Total includes the time of calls; the watch bounds the program's own time.
	ctx, cancel := context.WithTimeout(ctx, l.Total)
	defer cancel()
	program, err := compile(source)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, vm: goja.New(), host: host, l: l}
	if err := r.prepare(); err != nil {
		return nil, fmt.Errorf("prepare the interpreter: %w", err)
	}
	r.watch = startWatch(ctx, r.vm, l)
	defer r.watch.end()
	value, err := r.vm.RunProgram(program)
	if err != nil {
		return nil, r.failure(err)
	}
	return r.answer(value)
}

// compile checks and compiles a program.
func compile(source string) (*goja.Program, error) {
	// The program is wrapped in an async function, so that await and return work at its top.
	tree, err := goja.Parse(programName, "(async () => {"+source+"\n})()")
	if err != nil {
		return nil, invalid("the script cannot be read: "+strings.TrimPrefix(err.Error(), "SyntaxError: "), writeHint)
	}
	if line, name := forbidden(tree); name != "" {
		return nil, invalid(fmt.Sprintf("line %d: %s cannot be used here", line, name), writeHint)
	}
	program, err := goja.CompileAST(tree, true)
	if err != nil {
		return nil, invalid("the script cannot be read: "+err.Error(), writeHint)
	}
	return program, nil
}

// writeHint says what a program looks like.
const writeHint = "write the body of an async function: const r = tools.SERVER.TOOL({...}); return r.length"

// prepare bounds the interpreter and gives it what the host offers.
func (r *run) prepare() error {
	r.vm.SetMaxCallStackSize(r.l.Depth)
	start := time.Now()
	r.vm.SetTimeSource(func() time.Time { return start })
	// JSON.parse is kept from before the guards, so that the program cannot replace the one that results go through.
	parse, _ := goja.AssertFunction(r.vm.Get("JSON").ToObject(r.vm).Get("parse"))
	r.parse = parse
	made, err := r.vm.RunScript("guards", guards)
	if err != nil {
		return err
	}
	guard, _ := goja.AssertFunction(made)
	written, err := guard(goja.Undefined(), r.vm.ToValue(maxItems), r.vm.ToValue(maxText), r.vm.ToValue(maxPattern),
		r.vm.ToValue(r.checkNesting))
	if err != nil {
		return err
	}
	r.stringify, _ = goja.AssertFunction(written)
	return errors.Join(
		r.vm.Set("tools", r.vm.NewDynamicObject(serverNames{r})),
		r.vm.Set("search", r.search), r.vm.Set("describe", r.describe))
}

// checkNesting refuses JSON that would be read by too deep a recursion.
func (r *run) checkNesting(s string) {
	depth, inText := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '[' || c == '{':
			if depth++; depth > maxNesting {
				panic(r.vm.NewTypeError("JSON is nested too deeply"))
			}
		case c == ']' || c == '}':
			depth--
		}
	}
}

// answer returns what the program's promise was fulfilled with, as JSON.
func (r *run) answer(value goja.Value) (json.RawMessage, error) {
	promise, ok := value.Export().(*goja.Promise)
	if !ok {
		return nil, invalid("the script returned nothing", writeHint)
	}
	// Every call of the host is synchronous, so a promise that is pending now stays pending.
	switch promise.State() {
	case goja.PromiseStatePending:
		return nil, invalid("the script waits for something that never happens", "calls of tools need no callbacks")
	case goja.PromiseStateRejected:
		return nil, r.rejection(promise.Result())
	}
	out, err := r.stringify(goja.Undefined(), promise.Result())
	if err != nil {
		return nil, r.failure(err)
	}
	if goja.IsUndefined(out) {
		return json.RawMessage("null"), nil
	}
	text := out.String()
	if len(text) > r.l.Output {
		return nil, invalid(fmt.Sprintf("the script returned %d bytes", len(text)),
			fmt.Sprintf("at most %d fit; return less", r.l.Output))
	}
	return json.RawMessage(text), nil
}

func invalid(msg, hint string) *tool.Error {
	return &tool.Error{Code: tool.Invalid, Op: "run script", Msg: msg, Hint: hint}
}
