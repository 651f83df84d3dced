package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tooldex/tool"
)

// Bounds of a good description. A client that lists tools pays for every character, and a search weighs each word less
// the more there are.
const (
	shortText = 25   // characters that say hardly more than a name
	longText  = 1000 // characters
	fewest    = 3    // requests lost to one tool that make it worth naming; of less than six requests half of them do
)

// adviseOn returns what to reword about a tool, the most effective first. The order is fixed and not computed: a
// missing or bad description outweighs what a single parameter can add.
func (in *Inspector) adviseOn(t *tool.Tool, d *Description) []Advice {
	var out []Advice
	add := func(problem, remedy string, args ...any) {
		out = append(out, Advice{problem, fmt.Sprintf(remedy, args...)})
	}
	text := strings.TrimSpace(t.Description)
	n := utf8.RuneCountInString(text)
	if t.Disabled {
		add("the tool is disabled, so nothing finds it", "enable it, or leave it out of what is measured")
	}
	switch {
	case text == "":
		add("there is no description", "write one or two sentences: what it does, to what, and when to choose it")
	case n < shortText:
		add(fmt.Sprintf("the description has %d characters", n),
			"say what it does, to what, and when to choose it over its siblings")
	case n > longText:
		add(fmt.Sprintf("the description has %d characters", n),
			"keep what says when to choose it, and move the rest to the descriptions of its parameters")
	}
	// No request can distinguish two tools with equal descriptions, so this is reported instead of the weaker finding
	// that one covers the other.
	if twin := in.sameText(t); twin != "" {
		add(fmt.Sprintf("%s has the very same description", twin), "say in each what it does that the other does not")
	} else if twin := in.coveredBy(t); twin != "" && text != "" {
		add(fmt.Sprintf("it says nothing that %s does not say", twin),
			"name what only this tool does: its object, its scope, its effect")
	}
	// Only the strongest rival: advice about several would ask for contradictory words.
	if len(d.LostTo) > 0 && (d.LostTo[0].Requests >= fewest || d.LostTo[0].Requests*2 >= d.Requests) {
		out = append(out, in.tellApart(t, d.LostTo[0]))
	}
	if described, all := countDescribed(t); all > 1 && described*2 < all {
		add(fmt.Sprintf("%d of %d parameters have no description", all-described, all),
			"a few words each are enough; they are searched too")
	}
	// Borrowed requests are what people ask of such tools; if they find others, the tool's own texts lack those words.
	if lost := d.rivalsFrom(Borrowed); len(lost) > 0 && !hasSource(d, Declared) {
		add("requests that tools of its kind answer find others, and it declares none of its own",
			"declare utterances in an overlay, for example %q, if it serves them", lost[0])
	}
	return out
}

// tellApart returns advice on how to distinguish a tool from the one that takes its requests.
func (in *Inspector) tellApart(t *tool.Tool, l Lost) Advice {
	a := Advice{Problem: fmt.Sprintf("%d of its requests find %s first", l.Requests, l.To)}
	i, ok := in.at[t.ID()]
	j, known := in.at[l.To]
	if !ok || !known {
		a.Remedy = "say what sets it apart"
		return a
	}
	only, theirs := in.distinguishingWords(i, j, telling), in.distinguishingWords(j, i, telling)
	switch {
	case len(only) == 0:
		a.Remedy = "add words of its own: all that it says, the other says too"
	case len(theirs) == 0:
		a.Remedy = fmt.Sprintf("begin its description with what only it says: %s", strings.Join(only, ", "))
	default:
		a.Remedy = fmt.Sprintf("begin its description with what only it says (%s), and leave to the other what is the other's (%s)",
			strings.Join(only, ", "), strings.Join(theirs, ", "))
	}
	return a
}

// sameText returns another tool with the same description, or "".
func (in *Inspector) sameText(t *tool.Tool) tool.ID {
	text := strings.TrimSpace(t.Description)
	for _, other := range in.tools {
		if text != "" && strings.TrimSpace(other.Description) == text && other.ID() != t.ID() {
			return other.ID()
		}
	}
	return ""
}

// coveredBy returns a tool of the same server whose text has every word of this one's, or "". Tools of other servers
// are not compared: a person who chooses a server has decided.
func (in *Inspector) coveredBy(t *tool.Tool) tool.ID {
	i, ok := in.at[t.ID()]
	if !ok {
		return ""
	}
	// the next other tool, as soon as one word is missing
siblings:
	for j, other := range in.tools {
		if j == i || other.Server != t.Server {
			continue
		}
		for term := range in.own[i] {
			if _, ok := in.own[j][term]; !ok {
				continue siblings
			}
		}
		return other.ID()
	}
	return ""
}

// countDescribed returns how many parameters of a tool have a description, and how many there are.
func countDescribed(t *tool.Tool) (with, all int) {
	for _, p := range t.Parameters() {
		all++
		if p.Description != "" {
			with++
		}
	}
	return with, all
}

// rivalsFrom returns the texts of missed requests of one source.
func (d *Description) rivalsFrom(from Source) []string {
	var out []string
	for _, a := range d.Missed {
		if a.From == from {
			out = append(out, a.Text)
		}
	}
	return out
}

// hasSource reports whether any measured request of a tool comes from a source.
func hasSource(d *Description, from Source) bool {
	for _, list := range [][]Asked{d.Found, d.Missed} {
		for _, a := range list {
			if a.From == from {
				return true
			}
		}
	}
	return false
}

// Remedy says in a sentence what would make a missed request find one of the tools that it should: which of its words
// the tool lacks, or what sets the tool apart from the one that was found first. First is "" if nothing was found. It
// makes no search. Wanted may be empty for a request that no tool should serve.
func (in *Inspector) Remedy(query string, wanted []tool.ID, first tool.ID) string {
	if len(wanted) == 0 {
		return in.unwantedRemedy(query, first)
	}
	// Disabled tools come first, since no rewording helps them.
	for _, id := range wanted {
		if t, ok := in.o.Set.Get(id); ok && t.Disabled {
			return fmt.Sprintf("%s is disabled: enable it", id)
		}
	}
	i, ok := in.at[wanted[0]]
	if !ok {
		return ""
	}
	if lacks := in.rarestWords(query, func(term string) bool { _, has := in.own[i][term]; return !has }); len(lacks) > 0 {
		return fmt.Sprintf("add a search phrase to %s with: %s", wanted[0], strings.Join(lacks, ", "))
	}
	if j, ok := in.at[first]; ok {
		if only := in.distinguishingWords(i, j, telling); len(only) > 0 {
			return fmt.Sprintf("begin the description of %s with what %s does not say: %s", wanted[0], first,
				strings.Join(only, ", "))
		}
		return fmt.Sprintf("say in %s what it does that %s does not", wanted[0], first)
	}
	return ""
}

// unwantedRemedy says by which words a request that no tool serves found its first tool.
func (in *Inspector) unwantedRemedy(query string, first tool.ID) string {
	j, ok := in.at[first]
	if !ok {
		return ""
	}
	shared := in.rarestWords(query, func(term string) bool { _, has := in.own[j][term]; return has })
	if len(shared) == 0 {
		return fmt.Sprintf("say in %s what it does not do", first)
	}
	return fmt.Sprintf("%s matches by: %s; say there what it does not do", first, strings.Join(shared, ", "))
}

// rarestWords returns the words of a request whose terms keep accepts, at most telling, rarest first.
func (in *Inspector) rarestWords(query string, keep func(term string) bool) []string {
	type found struct {
		word   string
		rarity float64
	}
	var all []found
	seen := map[string]bool{}
	in.o.Words(query, func(w, term string) {
		if !seen[term] && len(term) > 2 && keep(term) {
			seen[term] = true
			all = append(all, found{w, in.rarityOf(term)})
		}
	})
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.rarity, a.rarity) })
	out := make([]string, 0, telling)
	for _, f := range all[:min(telling, len(all))] {
		out = append(out, f.word)
	}
	return out
}
