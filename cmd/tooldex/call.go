package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tooldex/access"
	"tooldex/confirm"
	"tooldex/gateway"
	"tooldex/service"
	"tooldex/tool"
)

type callFlags struct {
	json    string
	timeout time.Duration
	yes     bool // confirmed in advance
}

func newCall(a *app) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "call NAME [key=value...]",
		Short: "Call a tool and print what it answers",
		Long: "Call a tool and print what it answers. Arguments are key=value, read by the parameter's type, or key:=JSON; a key\n" +
			"given twice makes a list. --json takes the whole object instead, - reads it from standard input, @FILE from a file.\n" +
			"A tool that needs confirmation (serve.confirm) is asked about on a terminal, and elsewhere called only with --yes.",
		Example: "  tooldex call read_text_file path=notes.txt head=10\n  tooldex call create_entities --json @entities.json",
		Args:    checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), service.ToList)
			if err != nil {
				return err
			}
			defer a.close(s)
			gw := s.NewGateway(gateway.Options{})
			defer func() { _ = gw.Close() }() // it always returns nil
			// The call goes through the same chain as one over MCP or HTTP: it is recorded, validated and confirmed.
			views, err := s.NewViews(cmd.Context(), service.ViewOptions{Gateway: gw})
			if err != nil {
				return err
			}
			defer views.Close()
			view := views.New(access.View{})
			t, err := view.Catalog.Set().Resolve(args[0])
			if err != nil {
				views.Audit.Refused(cmd.Context(), args[0], tool.Call{Who: a.callerIdentity()}, err)
				return forPeople(err)
			}
			arguments, err := f.arguments(a, t, args[1:])
			if err != nil {
				return err
			}
			return a.callTool(cmd.Context(), views, view, t, tool.Call{
				ID: t.ID(), Arguments: arguments, Progress: a.showProgress,
				Who: a.callerIdentity(), Confirmed: f.yes,
			}, &f)
		},
	}
	cmd.Flags().StringVar(&f.json, "json", "", "the arguments as one JSON object; - for standard input, @FILE for a file")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "call it though it needs confirmation, without asking")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "give up after this time (default: the server's)")
	return cmd
}

// arguments reads the arguments from the command line, standard input or a file.
func (f *callFlags) arguments(a *app, t *tool.Tool, words []string) (json.RawMessage, error) {
	if f.json == "" {
		return parseArguments(t, words)
	}
	if len(words) > 0 {
		return nil, usageError{"arguments are given both by --json and as key=value", "use one of them"}
	}
	raw := []byte(f.json)
	var err error
	switch {
	case f.json == "-":
		raw, err = readMost(a.stdin)
	case f.json[0] == '@':
		raw, err = readSmall(f.json[1:])
	}
	if err != nil {
		return nil, fileError("read arguments", f.json, err)
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) || raw[0] != '{' {
		return nil, usageError{"the arguments are not a JSON object", `give --json '{"key": "value"}'`}
	}
	return raw, nil
}

// callTool asks for a confirmation where one is needed and possible, makes the call and prints the answer. An answer
// that is itself an error is printed, and ends with exit code 1.
func (a *app) callTool(ctx context.Context, views *service.Views, view *service.View, t *tool.Tool, call tool.Call,
	f *callFlags,
) error {
	// With --json - standard input holds the arguments, so it cannot carry an answer.
	if view.NeedsConfirmation(t) && !call.Confirmed && f.json != "-" && isTerminal(a.stdin) {
		if call.Confirmed = a.saysYes(confirm.Question(call.ID, call.Arguments) + "\n\nMake it?"); !call.Confirmed {
			err := &tool.Error{Code: tool.Denied, Op: "call", Msg: "nothing was called", Err: confirm.Declined}
			views.Audit.Refused(ctx, t.Name, call, err)
			return err
		}
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	res, err := view.Caller.Call(ctx, call)
	if errors.Is(err, confirm.Unasked) {
		return &tool.Error{Code: tool.Denied, Op: "call", Msg: string(call.ID) +
			" needs to be confirmed; nothing was called", Hint: "give --yes, if you are sure", Err: confirm.Unasked}
	}
	if err != nil {
		return err
	}
	if err := a.printCall(res); err != nil {
		return err
	}
	if res.IsError {
		return silent(exitFailed)
	}
	return nil
}

// saysYes asks the person at the terminal. Only y and yes count; the end of input is a no.
func (a *app) saysYes(question string) bool {
	fmt.Fprintf(a.stderr, "%s [y/N] ", makePrintable(question))
	line, err := bufio.NewReader(a.stdin).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}

// showProgress prints the server's progress to stderr, so that stdout has the result alone.
func (a *app) showProgress(p tool.Progress) {
	if p.Total > 0 {
		fmt.Fprintf(a.stderr, "%.0f of %.0f %s\n", p.Progress, p.Total, makePrintable(p.Message))
		return
	}
	fmt.Fprintf(a.stderr, "%.0f %s\n", p.Progress, makePrintable(p.Message))
}

// printCall prints the text of an answer, or with -o json or yaml the whole answer as the server sent it.
func (a *app) printCall(res *tool.CallResult) error {
	var v any = res.Raw
	return a.print(v, func(w io.Writer) error {
		var answer struct {
			Content []struct {
				Type     string `json:"type"`
				Text     string `json:"text"`
				MIMEType string `json:"mimeType"`
				URI      string `json:"uri"`
				Resource struct {
					URI  string `json:"uri"`
					Text string `json:"text"`
				} `json:"resource"`
			} `json:"content"`
			Structured json.RawMessage `json:"structuredContent"`
		}
		if err := json.Unmarshal(res.Raw, &answer); err != nil {
			return &tool.Error{Code: tool.Unavailable, Op: "call", Msg: "the answer cannot be read", Hint: "see it " +
				"with -o json", Err: err}
		}
		for _, c := range answer.Content {
			switch c.Type {
			// Texts and texts of resources are printed; images and audio are only named.
			case "text":
				fmt.Fprintln(w, makePrintable(c.Text))
			case "resource":
				fmt.Fprintln(w, makePrintable(cmp.Or(c.Resource.Text, c.Resource.URI)))
			case "resource_link":
				fmt.Fprintln(w, makePrintable(c.URI))
			default:
				fmt.Fprintf(w, "(%s %s: see it with -o json)\n", makePrintable(c.Type), makePrintable(c.MIMEType))
			}
		}
		if len(answer.Content) == 0 && len(answer.Structured) > 0 {
			fmt.Fprintln(w, makePrintable(string(answer.Structured)))
		}
		return nil
	})
}
