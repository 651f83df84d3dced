package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/service"
	"tooldex/tool"
)

// description is one tool as describe prints it.
type description struct {
	ID           tool.ID                `json:"id"`
	Exposed      string                 `json:"exposed"`
	Title        string                 `json:"title,omitempty"`
	Summary      string                 `json:"summary,omitempty"`
	Description  string                 `json:"description,omitempty"`
	Category     string                 `json:"category,omitempty"`
	Signature    string                 `json:"signature"`
	Parameters   []tool.Parameter       `json:"parameters,omitempty"`
	Examples     []tool.Example         `json:"examples,omitempty"`
	Keywords     []string               `json:"keywords,omitempty"`
	Synonyms     []string               `json:"synonyms,omitempty"`
	Related      []tool.ID              `json:"related,omitempty"`
	Annotations  *tool.Annotations      `json:"annotations,omitempty"`
	Disabled     bool                   `json:"disabled,omitempty"`
	Warning      string                 `json:"warning,omitempty"` // why the tool looks suspicious
	Deprecated   string                 `json:"deprecated,omitempty"`
	Tokens       int                    `json:"tokens"`
	InputSchema  json.RawMessage        `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage        `json:"outputSchema,omitempty"`
	FoundBy      *service.SearchPhrases `json:"foundBy,omitempty"` // only with --detail
}

func newDescribe(a *app) *cobra.Command {
	var detail bool
	cmd := &cobra.Command{
		Use:   "describe NAME...",
		Short: "Show everything about tools: parameters, examples, related tools",
		Long: "Show everything about tools: parameters, examples, related tools. With --detail also the requests and synonyms that\n" +
			"find each, with where they come from: declared by its author or an overlay, learned, generated, or borrowed from the\n" +
			"archetypes that the tool is like.",
		Args: checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			needs := service.ToList
			if detail {
				needs = service.ToSearch
			}
			s, err := a.open(cmd.Context(), needs)
			if err != nil {
				return err
			}
			defer a.close(s)
			found, missing := a.describeTools(s, args, detail)
			// The tools that exist are printed even if other names are wrong.
			if len(found) > 0 {
				if err := a.print(found, func(w io.Writer) error { return descriptionText(w, found) }); err != nil {
					return err
				}
			}
			return missing
		},
	}
	cmd.Flags().BoolVar(&detail, "detail", false, "also show what finds each tool, and what of it is borrowed")
	return cmd
}

// describeTools returns the named tools that exist, and the joined errors of the other names.
func (a *app) describeTools(s *service.Service, names []string, detail bool) ([]description, error) {
	set := s.Catalog.Set()
	var found []description
	var errs []error
	for _, name := range names {
		// A name may be an ID, an exposed name, or a plain name that only one tool has.
		t, err := set.Resolve(name)
		if err != nil {
			errs = append(errs, forPeople(err))
			continue
		}
		d := describe(set, t)
		if detail {
			if d.FoundBy, err = s.Phrases(t); err != nil {
				errs = append(errs, err)
			}
		}
		found = append(found, d)
	}
	return found, errors.Join(errs...)
}

// describe returns everything about a tool that clients may see, in the members of the JSON output.
func describe(set *tool.Set, t *tool.Tool) description {
	return description{
		ID: t.ID(), Exposed: set.Exposed(t.ID()), Title: t.Title, Summary: t.Summary, Description: t.Description,
		Category: t.Category, Signature: t.Signature(), Parameters: t.Parameters(), Examples: t.Examples,
		Keywords: t.Keywords, Synonyms: t.Synonyms, Related: t.Related, Annotations: t.Annotations,
		Disabled: t.Disabled, Warning: t.Warning, Deprecated: t.Deprecated, Tokens: t.Tokens(),
		InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
	}
}

// descriptionText prints tools one after the other. Texts of servers go through makePrintable, so that they cannot send
// escape sequences to the terminal.
func descriptionText(w io.Writer, list []description) error {
	for i, d := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n  %s\n", d.ID, makePrintable(d.Signature))
		if d.Warning != "" {
			fmt.Fprintf(w, "  warning: %s\n", d.Warning)
		}
		if d.Deprecated != "" {
			fmt.Fprintf(w, "  deprecated: %s\n", makePrintable(d.Deprecated))
		}
		if d.Description != "" {
			fmt.Fprintf(w, "\n%s\n", indent(d.Description))
		}
		if len(d.Parameters) > 0 {
			fmt.Fprintln(w)
			if err := parameterTable(w, d.Parameters); err != nil {
				return err
			}
		}
		for _, e := range d.Examples {
			fmt.Fprintf(w, "\n  example: %s\n", makePrintable(e.Description))
			if len(e.Invocation) > 0 {
				fmt.Fprintf(w, "    %s\n", makePrintable(string(e.Invocation)))
			}
			if e.Output != "" {
				fmt.Fprintf(w, "    gives: %s\n", makePrintable(e.Output))
			}
		}
		if len(d.Related) > 0 {
			names := make([]string, len(d.Related))
			for i, id := range d.Related {
				names[i] = string(id)
			}
			fmt.Fprintf(w, "\n  related: %s\n", makePrintable(strings.Join(names, ", ")))
		}
		if d.FoundBy != nil {
			if err := phrasesText(w, d.FoundBy); err != nil {
				return err
			}
		}
	}
	return nil
}

// parameterTable prints one parameter on each line: name, type, whether it is required, description.
func parameterTable(w io.Writer, params []tool.Parameter) error {
	rows := make([][]string, len(params))
	for i, p := range params {
		need := "optional"
		switch {
		case p.Required:
			need = "required"
		case len(p.Default) > 0:
			need = "default " + string(p.Default)
		}
		rows[i] = []string{"  " + p.Name, p.Type, need, p.Description}
	}
	return writeColumns(w, nil, rows)
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(makePrintable(strings.TrimSpace(s)), "\n", "\n  ")
}

// forPeople returns err with a hint that names the search command in place of the tool that agents search with.
func forPeople(err error) error {
	var te *tool.Error
	if !errors.As(err, &te) {
		return err
	}
	copied := *te
	copied.Hint = strings.ReplaceAll(te.Hint, "search_tools finds tools", "tooldex search finds tools")
	return &copied
}
