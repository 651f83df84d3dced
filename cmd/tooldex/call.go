package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tooldex/tool"
)

type callFlags struct {
	json    string
	timeout time.Duration
}

func newCall(a *app) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "call NAME [key=value...]",
		Short: "Call a tool and print what it answers",
		Long: "Call a tool and print what it answers. Arguments are key=value, read by the parameter's type, or key:=JSON; a key\n" +
			"given twice makes a list. --json takes the whole object instead, - reads it from standard input, @FILE from a file.",
		Example: "  tooldex call read_text_file path=/tmp/notes.txt head=10\n  tooldex call create_entities --json @entities.json",
		Args:    wants(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context(), toList)
			if err != nil {
				return err
			}
			defer s.close()
			t, err := s.catalog.Set().Resolve(args[0])
			if err != nil {
				return forPeople(err)
			}
			arguments, err := f.arguments(a, t, args[1:])
			if err != nil {
				return err
			}
			return a.call(cmd, s, t, arguments, f.timeout)
		},
	}
	cmd.Flags().StringVar(&f.json, "json", "", "the arguments as one JSON object; - for standard input, @FILE for a file")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "give up after this time (default: the server's)")
	return cmd
}

// arguments reads the arguments from the command line, standard input or a file.
func (f *callFlags) arguments(a *app, t *tool.Tool, words []string) (json.RawMessage, error) {
	if f.json == "" {
		return arguments(t, words)
	}
	if len(words) > 0 {
		return nil, usageError{"arguments are given both by --json and as key=value", "use one of them"}
	}
	raw := []byte(f.json)
	var err error
	switch {
	case f.json == "-":
		raw, err = io.ReadAll(a.stdin)
	case f.json[0] == '@':
		raw, err = os.ReadFile(f.json[1:])
	}
	if err != nil {
		return nil, fileError("read arguments", f.json, err)
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) || raw[0] != '{' {
		return nil, usageError{"the arguments are not a JSON object", `give --json '{"key": "value"}'`}
	}
	return raw, nil
}

func (a *app) call(cmd *cobra.Command, s *stack, t *tool.Tool, arguments json.RawMessage, timeout time.Duration) error {
	gw, err := a.gateway(s)
	if err != nil {
		return err
	}
	defer func() { _ = gw.Close() }() // it always returns nil
	ctx, cancel := withTimeout(cmd.Context(), timeout)
	defer cancel()
	res, err := gw.Call(ctx, tool.Call{ID: t.ID(), Arguments: arguments, Progress: a.showProgress})
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

func (a *app) showProgress(p tool.Progress) {
	if p.Total > 0 {
		fmt.Fprintf(a.stderr, "%.0f of %.0f %s\n", p.Progress, p.Total, printable(p.Message))
		return
	}
	fmt.Fprintf(a.stderr, "%.0f %s\n", p.Progress, printable(p.Message))
}

// printCall prints the text of an answer for people, the whole answer as JSON or YAML.
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
			return &tool.Error{Code: tool.Unavailable, Op: "call", Msg: "the answer cannot be read", Hint: "see it with -o json", Err: err}
		}
		for _, c := range answer.Content {
			switch c.Type {
			case "text":
				fmt.Fprintln(w, printable(c.Text))
			case "resource":
				fmt.Fprintln(w, printable(cmp.Or(c.Resource.Text, c.Resource.URI)))
			case "resource_link":
				fmt.Fprintln(w, printable(c.URI))
			default:
				fmt.Fprintf(w, "(%s %s: see it with -o json)\n", printable(c.Type), printable(c.MIMEType))
			}
		}
		if len(answer.Content) == 0 && len(answer.Structured) > 0 {
			fmt.Fprintln(w, printable(string(answer.Structured)))
		}
		return nil
	})
}
