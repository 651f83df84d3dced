package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/eval/inspect"
)

const mostPairs = 20

func newEvalCollide(a *app) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "collide",
		Short: "List pairs of tools that search confuses, and the words that would separate them",
		Long: "List pairs of tools that search confuses, worst first. Each tool's summary and some of its requests are searched\n" +
			"for; APART is the share of them that rank the right one of the two first (50 % would be chance). The words are those\n" +
			"that only one of the two has, the most distinctive first.",
		Example: "  tooldex eval collide\n  tooldex eval collide --set mine --limit 50 -o json",
		Args:    checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.openStored(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer a.close(l.Service)
			limit := cmp.Or(a.limit, mostPairs)
			found, err := l.NewInspector(l.set).Collide(cmd.Context(), limit)
			if err != nil {
				return err
			}
			if found == nil {
				found = []inspect.Collision{}
			}
			return a.print(found, func(w io.Writer) error { return collisionText(w, found) })
		},
	}
	cmd.Flags().StringVar(&path, "set", "", "folder, or file of requests (default: the stored tools; with --demo the demo's)")
	a.limitFlag(cmd, "how many pairs to list (default 20)")
	return cmd
}

func collisionText(w io.Writer, found []inspect.Collision) error {
	if len(found) == 0 {
		fmt.Fprintln(w, "search confuses no two tools")
	}
	for i, c := range found {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s and %s: told apart by %.0f %% of %d requests\n", makePrintable(string(c.A)),
			makePrintable(string(c.B)), 100*c.Apart, c.Requests)
		fmt.Fprintf(w, "  worst: %q, a request of %s\n", makePrintable(shortenRequest(c.Wrong)),
			makePrintable(string(c.Of)))
		if c.Same {
			fmt.Fprintln(w, "  their texts have the same words: describe what differs, or disable one of them")
			continue
		}
		for _, side := range []struct {
			id    string
			words []string
		}{{string(c.A), c.OnlyA}, {string(c.B), c.OnlyB}} {
			words := strings.Join(side.words, ", ")
			if words == "" {
				words = "nothing; give it words of its own"
			}
			fmt.Fprintf(w, "  only %s says: %s\n", makePrintable(side.id), makePrintable(words))
		}
	}
	return nil
}

const lineLength = 160

// shortenRequest returns a request on one line, of at most lineLength characters.
func shortenRequest(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if letters := []rune(s); len(letters) > lineLength {
		return string(letters[:lineLength-1]) + "…"
	}
	return s
}
