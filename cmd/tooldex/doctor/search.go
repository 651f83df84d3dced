package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tooldex/enrich"
	"tooldex/eval"
	"tooldex/knowledge"
	"tooldex/service"
	"tooldex/tool"
)

// checkIndex checks that the index holds the stored tools, and that a search for the name of a tool finds it. Of a
// large catalogue it asks for a sample.
func (d *doctor) checkIndex(ctx context.Context, s *service.Service) {
	set := s.Catalog.Set()
	if set.Len() == 0 {
		d.addFinding(Note, "index", "", d.o.ImportHint, "no tools are stored yet")
		return
	}
	if snap := s.Index.Current(); snap == nil || snap.Len() != set.Len() {
		d.addFinding(Broken, "index", "", "tooldex index rebuild, then tooldex import",
			"it does not hold the tools that are stored")
		return
	}
	var lost []string
	// Disabled tools are not searched for, since no search returns them.
	tools := enabledTools(set)
	asked := everyFew(tools, asksOf(len(tools)))
	for _, t := range asked {
		ok, err := findsByName(ctx, s, t)
		if err != nil {
			d.addError("index", "", err)
			return
		}
		if !ok {
			lost = append(lost, string(t.ID()))
		}
	}
	switch {
	case len(lost) == 0 && len(asked) == 1:
		d.addFine("index", "", "a search finds the only tool by its name")
	case len(lost) == 0 && len(asked) < len(tools):
		d.addFine("index", "", "each of %d tools, spread over all %d, is found by its name", len(asked), len(tools))
	case len(lost) == 0:
		d.addFine("index", "", "each of %d tools is found by its name", len(asked))
	}
	d.addGroup(Broken, "index", "tooldex index rebuild, then tooldex import", lost,
		"a search does not find 1 tool by its name", "searches do not find %d tools by their names")
}

// The bounds of what is checked in a large catalogue, where each search takes longer, too.
const (
	mostAsked    = 2000      // tools that are searched by name
	leastAsked   = 20        // of them, however large the catalogue is
	askedTimes   = 2_000_000 // tools that all of these searches may rank together
	mostCompared = 3000      // tools in a catalogue whose pairs are compared
)

// asksOf returns how many tools of a catalogue of this size are searched by name.
func asksOf(tools int) int { return min(mostAsked, max(leastAsked, askedTimes/max(tools, 1))) }

// enabledTools returns the tools that are not disabled, in a slice of its own.
func enabledTools(set *tool.Set) []*tool.Tool {
	return slices.DeleteFunc(slices.Clone(set.All()), func(t *tool.Tool) bool { return t.Disabled })
}

// everyFew returns at most n of all, spread evenly: the same ones in each run. It may return all itself.
func everyFew(all []*tool.Tool, n int) []*tool.Tool {
	if len(all) <= n {
		return all
	}
	out := make([]*tool.Tool, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// findsByName reports whether a search for a tool's name returns it, or a tool of the same name on another server. A
// tool of the same name is accepted: one tool that several servers offer appears once in an answer.
func findsByName(ctx context.Context, s *service.Service, t *tool.Tool) (bool, error) {
	res, err := s.Engine.Search(ctx, tool.Query{Text: s.Catalog.Set().Exposed(t.ID())})
	if err != nil {
		return false, err
	}
	for _, h := range res.Tools {
		if h.ID == t.ID() || strings.EqualFold(h.Name, t.Name) {
			return true, nil
		}
	}
	return false, nil
}

// checkNames reports names that several servers share, and names that had to be changed for clients.
func (d *doctor) checkNames(s *service.Service) {
	set := s.Catalog.Set()
	one := len(set.Servers()) == 1
	var repaired []string
	servers := map[string]int{}
	for _, t := range set.All() {
		servers[t.Name]++
		// the name that the tool gets if nothing prevents it (tool.NewSet)
		plain := t.Server + "__" + t.Name
		if one {
			plain = t.Name
		}
		if exposed := set.Exposed(t.ID()); exposed != plain {
			repaired = append(repaired, fmt.Sprintf("%s is offered as %s", t.ID(), exposed))
		}
	}
	shared := 0
	for _, n := range servers {
		if n > 1 {
			shared++
		}
	}
	if shared > 0 {
		d.addFinding(Note, "names", "", "",
			"%s used by several servers; clients call those tools SERVER__NAME", countNames(shared))
	}
	d.addGroup(Note, "names",
		"a shorter or plainer name of the server helps; clients take 64 letters, digits, hyphens and underscores",
		repaired, "1 tool has another name for clients, since its own is too long, taken, or not allowed",
		"%d tools have other names for clients, since their own are too long, taken, or not allowed")
}

// countNames returns a number of names with its verb.
func countNames(n int) string {
	if n == 1 {
		return "1 name is"
	}
	return fmt.Sprintf("%d names are", n)
}

// checkMode reports which mode auto resolves to, given the size of the catalogue.
func (d *doctor) checkMode(s *service.Service) {
	threshold, chosen := d.currentConfig().Serve.Threshold, d.currentConfig().Serve.Mode
	tokens, least := 0, ""
	for _, t := range s.Catalog.Set().All() {
		if !t.Disabled {
			tokens += t.Tokens()
		}
		if tokens > max(threshold, mostCounted) { // reading the definitions of all takes long, and changes nothing
			least = "at least "
			break
		}
	}
	// This is what auto decides; a profile may set another mode.
	mode := "dynamic for clients that follow changes of their list, and search for others"
	if tokens > 0 && tokens <= threshold {
		mode = "full"
	}
	than := "more"
	if tokens <= threshold {
		than = "not more"
	}
	d.addFine("mode", chosen, "all tools together take %s%d tokens, %s than the threshold of %d: auto means %s", least,
		tokens, than, threshold, mode)
}

const (
	longDescription = 1024      // characters; one provider refuses longer descriptions
	coin            = .5        // the share of requests that chance alone assigns to the right one of two tools
	mostCollisions  = 200       // pairs to ask for
	mostCounted     = 1_000_000 // tokens, from which on those of further tools are not counted
)

// checkSearch reports tools that searches find badly: without a description, with an overlong one, with a summary that
// adds nothing to the name, or indistinguishable from another.
func (d *doctor) checkSearch(ctx context.Context, s *service.Service) {
	set := s.Catalog.Set()
	if set.Len() == 0 {
		return
	}
	var bare, long, idle []string
	var an knowledge.Analyzer // remembers the stems of words
	for _, t := range set.All() {
		if t.Disabled {
			continue
		}
		said := strings.TrimSpace(t.Description)
		if said == "" {
			bare = append(bare, string(t.ID()))
			continue
		}
		// Few have so many bytes that their characters need to be counted.
		if len(said) > longDescription && utf8.RuneCountInString(said) > longDescription {
			long = append(long, fmt.Sprintf("%s: %d characters", t.ID(), utf8.RuneCountInString(said)))
		}
		if saysNothing(&an, t) {
			idle = append(idle, fmt.Sprintf("%s: %q", t.ID(), t.Summary))
		}
	}
	const overlay = "an overlay gives them what they lack; tooldex eval describe TOOL says what"
	d.addGroup(Warn, "search", overlay, bare, "1 tool has no description", "%d tools have no description")
	d.addGroup(Warn, "search",
		"their makers should say less; --mode search keeps them out of lists, where some providers refuse them", long,
		"1 description is longer than 1024 characters", "%d descriptions are longer than 1024 characters")
	d.addGroup(Note, "search", overlay, idle, "1 summary says no more than the name",
		"%d summaries say no more than the name")
	same, err := d.similarPairs(ctx, s)
	if err != nil {
		d.addError("search", "", err)
		return
	}
	d.addGroup(Warn, "search", "tooldex eval collide shows words that would; disable one of two tools that do the same",
		same, "requests cannot distinguish 1 pair of tools", "requests cannot distinguish %d pairs of tools")
	if len(bare)+len(long)+len(idle)+len(same) == 0 && set.Len() <= mostCompared {
		d.addFine("search", "", "every tool says what it does, and differs from the others")
	}
	d.checkUnfamiliar(s)
}

// similarPairs lists the pairs of tools that requests tell apart no better than chance. For a large catalogue it adds a
// note and lists none. The comparison takes quadratic time in the worst case, hence the bound.
func (d *doctor) similarPairs(ctx context.Context, s *service.Service) ([]string, error) {
	set := s.Catalog.Set()
	if set.Len() > mostCompared {
		d.addFinding(Note, "search", "", "tooldex eval collide compares them, in some minutes",
			"%d tools are too many to compare here", set.Len())
		return nil, nil
	}
	pairs, err := s.NewInspector(eval.NewDataset("stored", set)).Collide(ctx, mostCollisions)
	if err != nil {
		return nil, err
	}
	var same []string
	for _, p := range pairs {
		// Tools with the same content are listed even if a request could tell them apart by chance.
		if p.Same || p.Apart <= coin {
			same = append(same, fmt.Sprintf("%s and %s", p.A, p.B))
		}
	}
	return same, nil
}

// checkUnfamiliar reports tools of no known kind, which only their own words find, and proposals that await approval.
func (d *doctor) checkUnfamiliar(s *service.Service) {
	var poor, waits []string
	for _, one := range enrich.New(s.Catalog).Unfamiliar(0) {
		poor = append(poor, fmt.Sprintf("%s: %.2f like the nearest known kind", one.ID, one.Like))
	}
	for _, e := range enrich.New(s.Catalog).List() {
		if e.Pending {
			waits = append(waits, string(e.Tool))
		}
	}
	d.addGroup(Note, "search",
		"tooldex enrich export --file FILE writes a form for them; an agent fills it in by the prompt enrich_tools",
		poor, "1 tool is of an unknown kind, so that only its own words find it",
		"%d tools are of unknown kinds, so that only their own words find them")
	d.addGroup(Note, "search", "tooldex enrich list shows it, and tooldex enrich approve puts it into force", waits,
		"search phrases for 1 tool wait for approval", "search phrases for %d tools wait for approval")
}

// saysNothing reports whether every word of a summary is in the name of the tool or of its server. Words are compared
// as the index reduces them.
func saysNothing(a *knowledge.Analyzer, t *tool.Tool) bool {
	if hasNewWord(a, t) {
		return false
	}
	named := map[string]bool{}
	for _, term := range a.Terms(nil, t.Name+" "+t.Server) {
		named[term] = true
	}
	for _, term := range a.Terms(nil, t.Summary) {
		if !named[term] {
			return false
		}
	}
	return true
}

// hasNewWord reports whether the longest word of a summary begins as nothing in the name of the tool or of its server
// does. It is a quick test for most tools, and says no where it cannot tell.
func hasNewWord(a *knowledge.Analyzer, t *tool.Tool) bool {
	const first = 3 // letters that reduction leaves as they are
	name := strings.ToLower(t.Name + " " + t.Server)
	longest := ""
	for w := range strings.FieldsSeq(t.Summary) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	isLetter := func(r rune) bool { return 'a' <= r && r <= 'z' }
	if len(longest) < 2*first || strings.ContainsFunc(longest, func(r rune) bool { return !isLetter(r) }) ||
		strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return false
	}
	terms := a.Terms(nil, longest) // none of a word that says nothing
	return len(terms) == 1 && strings.HasPrefix(terms[0], longest[:first]) && !strings.Contains(name, longest[:first])
}
