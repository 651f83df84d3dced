package inspect

import (
	"fmt"
	"strings"
)

// ExplanationText writes explanations for people. Texts of tools and requests are in it as they are: the caller removes
// what a terminal must not get.
func ExplanationText(found []*Explanation) string {
	w := &strings.Builder{}
	if len(found) == 0 {
		fmt.Fprintln(w, "every request that should find the tool finds it first")
	}
	for i, x := range found {
		if i > 0 {
			fmt.Fprintln(w)
		}
		name := ""
		if x.ID != "" {
			name = x.ID + ": "
		}
		fmt.Fprintf(w, "%s%q\n", name, x.Query)
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
	return w.String()
}

// standingText writes where one tool stands for a request, and why.
func standingText(w *strings.Builder, s *Standing, depth int) {
	switch {
	case s.Disabled:
		fmt.Fprintf(w, "  %s is disabled, so nothing finds it\n", s.Tool)
	case s.Place == 0:
		fmt.Fprintf(w, "  %s is not among the first %d\n", s.Tool, depth)
	default:
		fmt.Fprintf(w, "  %s stands at %d, score %.3f\n", s.Tool, s.Place, s.Score)
	}
	if s.Behind != "" {
		fmt.Fprintf(w, "    in the place of the same tool %s\n", s.Behind)
	}
	fmt.Fprintf(w, "    words %.2f, cosine %.3f with weight %.2f", s.Words, s.Like, s.Weight)
	if s.Exact {
		fmt.Fprint(w, ", named exactly")
	}
	if s.Contrary {
		fmt.Fprint(w, ", lowered: it does another thing than the request asks for")
	}
	fmt.Fprintln(w)
	// The sources of describeHit, in the order of how much an author can do about them: own words first.
	for _, from := range []string{"own", "lent", "for, own", "for, lent"} {
		if parts := partsFrom(s.Terms, from); parts != "" {
			label := map[string]string{
				"own": "its own words", "lent": "words lent to it", "for, own": "its own, by the thesaurus or lexicon",
				"for, lent": "lent, by the thesaurus or lexicon",
			}[from]
			fmt.Fprintf(w, "    %s: %s\n", label, parts)
		}
	}
	if len(s.Loans) > 0 {
		names := make([]string, len(s.Loans))
		for i, l := range s.Loans {
			names[i] = fmt.Sprintf("%s %.2f", l.Archetype, l.Weight)
		}
		fmt.Fprintf(w, "    lent by: %s\n", strings.Join(names, ", "))
	}
	for _, r := range s.Above {
		fmt.Fprintf(w, "    before it at %d: %s, score %.3f, words %+.2f, cosine %+.3f%s\n", r.Place,
			r.Tool, r.Score, r.Words, r.Like, leads(r.Terms))
	}
}

// partsFrom lists the words that added to a score from one source, with what each added.
func partsFrom(parts []Part, from string) string {
	var out []string
	for _, p := range parts {
		if p.From == from {
			out = append(out, fmt.Sprintf("%s %.2f", p.Word, p.Added))
		}
	}
	return strings.Join(out, ", ")
}

// leads lists words with their lead over the other tool, in parentheses; "" without words.
func leads(terms []Lead) string {
	if len(terms) == 0 {
		return ""
	}
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = fmt.Sprintf("%s %+.2f", t.Word, t.More)
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// mostListed bounds the requests of each sort in tables; JSON has all of them.
const mostListed = 10

// DescriptionText writes descriptions for people, with at most ten requests of each sort. See [ExplanationText] for the
// texts in it.
func DescriptionText(found []Description) string {
	w := &strings.Builder{}
	for i := range found {
		d := &found[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: first for %d of %d requests, among the first five for %d\n", d.Tool,
			d.First, d.Requests, d.Five)
		for _, from := range []struct{ name, label string }{{"own", "its own words"}, {"lent", "words lent to it"}} {
			if words := partsFrom(d.Words, from.name); words != "" {
				fmt.Fprintf(w, "  found by %s: %s\n", from.label, words)
			}
		}
		askedText(w, "found first for", d.Found)
		askedText(w, "should be found for", d.Missed)
		if len(d.Advice) > 0 {
			fmt.Fprintln(w, "  to improve:")
		}
		for _, adv := range d.Advice {
			fmt.Fprintf(w, "    %s: %s\n", adv.Problem, adv.Remedy)
		}
	}
	return w.String()
}

// askedText writes requests under a label, and where another tool came first.
func askedText(w *strings.Builder, label string, list []Asked) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "  %s:\n", label)
	for _, q := range list[:min(mostListed, len(list))] {
		name := string(q.From)
		if q.ID != "" {
			name += " " + q.ID
		}
		fmt.Fprintf(w, "    %q (%s)", shortenRequest(q.Text), name)
		switch {
		case q.First == "":
		case q.Place > 0:
			fmt.Fprintf(w, ", at %d after %s", q.Place, q.First)
		default:
			fmt.Fprintf(w, ", not found; first is %s", q.First)
		}
		fmt.Fprintln(w)
	}
	if more := len(list) - mostListed; more > 0 {
		fmt.Fprintf(w, "    and %d more\n", more)
	}
}

// CollisionText writes collisions for people. See [ExplanationText] for the texts in it.
func CollisionText(found []Collision) string {
	w := &strings.Builder{}
	if len(found) == 0 {
		fmt.Fprintln(w, "search confuses no two tools")
	}
	for i, c := range found {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s and %s: told apart by %.0f %% of %d requests\n", c.A,
			c.B, 100*c.Apart, c.Requests)
		fmt.Fprintf(w, "  worst: %q, a request of %s\n", shortenRequest(c.Wrong),
			c.Of)
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
				words = "nothing; give it words that the other does not have"
			}
			fmt.Fprintf(w, "  only %s says: %s\n", side.id, words)
		}
	}
	return w.String()
}

// lineLength is in characters; JSON has whole requests.
const lineLength = 160

// shortenRequest returns a request on one line, of at most lineLength characters.
func shortenRequest(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if letters := []rune(s); len(letters) > lineLength {
		return string(letters[:lineLength-1]) + "…"
	}
	return s
}
