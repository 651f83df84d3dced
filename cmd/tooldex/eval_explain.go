package main

import (
	"context"
	"fmt"

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
			return a.print(found, printing(inspect.ExplanationText(found)))
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

// explainTool explains the requests that should find a tool and find another one first.
func (l *labelled) explainTool(ctx context.Context, in *inspect.Inspector, id tool.ID) ([]*inspect.Explanation, error) {
	d, err := in.Describe(ctx, id)
	if err != nil {
		return nil, err
	}
	if d[0].Requests == 0 {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "explain", Msg: fmt.Sprintf("there is no request for %s", id),
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
