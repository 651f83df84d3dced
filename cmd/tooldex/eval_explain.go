package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/eval/inspect"
	"tooldex/tool"
)

func newEvalExplain(a *app) *cobra.Command {
	var path, query string
	cmd := &cobra.Command{
		Use:   "explain ID...",
		Short: "Explain the rank of a tool for a request",
		Long: "Explain the rank of the right tools: their words, cosine and borrowed words, compared with the tools ranked above.\n" +
			"ID is a labelled request of --set or a tool; for a tool, all requests that should find it first and do not are\n" +
			"explained. With --query, the IDs are the tools to explain for that request.",
		Example: "  tooldex eval explain --demo a017\n  tooldex eval explain github/create_issue --set mine\n" +
			"  tooldex eval explain github/create_issue --query 'report a bug'",
		Args: checkArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.openStored(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer a.close(l.Service)
			found, err := l.explain(cmd.Context(), args, query)
			if err != nil {
				return forPeople(err)
			}
			return a.print(found, func(w io.Writer) error { return explanationText(w, found) })
		},
	}
	cmd.Flags().StringVar(&path, "set", "", "folder, or file of requests (default: the stored tools; with --demo the demo's)")
	cmd.Flags().StringVar(&query, "query", "", "explain this request")
	return cmd
}

// explain explains each name: a labelled request, or else a tool. With a query, all names are tools and only the
// query is explained.
func (l *labelled) explain(ctx context.Context, names []string, query string) ([]*inspect.Explanation, error) {
	in := l.NewInspector(l.set)
	if query != "" {
		ids, err := l.resolve(names)
		if err != nil {
			return nil, err
		}
		x, err := in.Explain(ctx, query, ids)
		return []*inspect.Explanation{x}, err
	}
	var out []*inspect.Explanation
	for _, name := range names {
		if x, err := l.explainCase(ctx, in, name); x != nil || err != nil {
			if err != nil {
				return nil, err
			}
			out = append(out, x)
			continue
		}
		ids, err := l.resolve([]string{name})
		if err != nil {
			return nil, err
		}
		missed, err := l.explainTool(ctx, in, ids[0])
		if err != nil {
			return nil, err
		}
		out = append(out, missed...)
	}
	return out, nil
}

// resolve returns the IDs of named tools. The first unknown or ambiguous name is the error.
func (l *labelled) resolve(names []string) ([]tool.ID, error) {
	var out []tool.ID
	for _, name := range names {
		t, err := l.Catalog.Set().Resolve(name)
		if err != nil {
			return nil, err
		}
		out = append(out, t.ID())
	}
	return out, nil
}

// explainCase explains the labelled request of an ID. It returns nil, and no error, if there is none.
func (l *labelled) explainCase(ctx context.Context, in *inspect.Inspector, id string) (*inspect.Explanation, error) {
	for i := range l.set.Cases {
		c := &l.set.Cases[i]
		if c.ID != id {
			continue
		}
		var wanted []tool.ID
		for _, label := range c.Relevant {
			wanted = append(wanted, l.set.IDs(label)...)
		}
		x, err := in.Explain(ctx, c.Query, wanted)
		if err == nil {
			x.ID = id
		}
		return x, err
	}
	return nil, nil
}

// explainTool explains the requests that ought to find a tool and find another first.
func (l *labelled) explainTool(ctx context.Context, in *inspect.Inspector, id tool.ID) ([]*inspect.Explanation, error) {
	d, err := in.Describe(ctx, id)
	if err != nil {
		return nil, err
	}
	if d[0].Requests == 0 {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "explain", Msg: fmt.Sprintf("no request is known that ought to find %s", id),
			Hint: "give one with --query",
		}
	}
	out := []*inspect.Explanation{}
	for _, m := range d[0].Missed {
		x, err := in.Explain(ctx, m.Text, []tool.ID{id})
		if err != nil {
			return nil, err
		}
		x.ID = m.ID
		out = append(out, x)
	}
	return out, nil
}

func explanationText(w io.Writer, found []*inspect.Explanation) error {
	if len(found) == 0 {
		fmt.Fprintln(w, "every request that ought to find it finds it first")
	}
	for i, x := range found {
		if i > 0 {
			fmt.Fprintln(w)
		}
		name := ""
		if x.ID != "" {
			name = x.ID + ": "
		}
		fmt.Fprintf(w, "%s%q\n", makePrintable(name), makePrintable(x.Query))
		if len(x.Parts) > 0 {
			fmt.Fprintf(w, "  taken apart into %q\n", x.Parts)
		}
		if !x.Confident {
			fmt.Fprintln(w, "  answered without confidence that any tool fits")
		}
		for j := range x.Wanted {
			standingText(w, &x.Wanted[j], x.Depth)
		}
		if x.First != nil {
			fmt.Fprintln(w, "  no tool is labelled for it; found first:")
			standingText(w, x.First, x.Depth)
		}
	}
	return nil
}

func standingText(w io.Writer, s *inspect.Standing, depth int) {
	switch {
	case s.Disabled:
		fmt.Fprintf(w, "  %s is disabled, so nothing finds it\n", makePrintable(string(s.Tool)))
	case s.Place == 0:
		fmt.Fprintf(w, "  %s is not among the first %d\n", makePrintable(string(s.Tool)), depth)
	default:
		fmt.Fprintf(w, "  %s stands at %d, score %.3f\n", makePrintable(string(s.Tool)), s.Place, s.Score)
	}
	if s.Behind != "" {
		fmt.Fprintf(w, "    in the place of the same tool %s\n", makePrintable(string(s.Behind)))
	}
	fmt.Fprintf(w, "    words %.2f, cosine %.3f with weight %.2f", s.Words, s.Like, s.Weight)
	if s.Exact {
		fmt.Fprint(w, ", named exactly")
	}
	if s.Contrary {
		fmt.Fprint(w, ", held back: it does another thing than is asked for")
	}
	fmt.Fprintln(w)
	for _, from := range []string{"own", "lent", "for, own", "for, lent"} {
		if parts := partsFrom(s.Terms, from); parts != "" {
			label := map[string]string{
				"own": "its own words", "lent": "words lent to it", "for, own": "its own, by the thesaurus or lexicon",
				"for, lent": "lent, by the thesaurus or lexicon",
			}[from]
			fmt.Fprintf(w, "    %s: %s\n", label, makePrintable(parts))
		}
	}
	if len(s.Loans) > 0 {
		names := make([]string, len(s.Loans))
		for i, l := range s.Loans {
			names[i] = fmt.Sprintf("%s %.2f", l.Archetype, l.Weight)
		}
		fmt.Fprintf(w, "    lent by: %s\n", makePrintable(strings.Join(names, ", ")))
	}
	for _, r := range s.Above {
		fmt.Fprintf(w, "    before it at %d: %s, score %.3f, words %+.2f, cosine %+.3f%s\n", r.Place,
			makePrintable(string(r.Tool)), r.Score, r.Words, r.Like, makePrintable(leads(r.Terms)))
	}
}

// partsFrom lists the words that added to a score from one source, with what each added.
func partsFrom(parts []inspect.Part, from string) string {
	var out []string
	for _, p := range parts {
		if p.From == from {
			out = append(out, fmt.Sprintf("%s %.2f", p.Word, p.Added))
		}
	}
	return strings.Join(out, ", ")
}

// leads lists words with their lead over the other tool, in parentheses; "" without words.
func leads(terms []inspect.Lead) string {
	if len(terms) == 0 {
		return ""
	}
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = fmt.Sprintf("%s %+.2f", t.Word, t.More)
	}
	return " (" + strings.Join(out, ", ") + ")"
}
