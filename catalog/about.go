package catalog

import (
	"maps"
	"strings"

	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/knowledge"
	"tooldex/tool"
	"tooldex/upstream"
)

// aboutReader is a source that says something of itself once its tools were read. *gateway.Upstream is one.
type aboutReader interface{ About() upstream.About }

// The most bytes that are kept of what a server says of itself.
const (
	maxAboutTitle        = 120
	maxAboutDescription  = 500
	maxAboutInstructions = 2000
)

// cleanAbout returns what is kept of a source's own words: bounded, and without what is hidden in them.
func cleanAbout(a upstream.About) upstream.About {
	return upstream.About{
		Title:        sanitize.Text(a.Title, maxAboutTitle),
		Description:  sanitize.Text(a.Description, maxAboutDescription),
		Instructions: sanitize.Text(a.Instructions, maxAboutInstructions),
	}
}

// judgeAbout returns what is kept of what a source says of itself, cleaned, and decides about it as about a tool. Words
// that are held are kept, but not used; the finding says so.
func (d *syncDiff) judgeAbout(o *offer, known bool) (upstream.About, []sanitize.Finding) {
	changes := d.st.trust.InspectAbout(d.now, d.scanner, o.name, o.about, !known)
	if len(changes) > 0 && d.aboutChanges == nil {
		d.aboutChanges = map[tool.ID][]byte{}
	}
	maps.Copy(d.aboutChanges, changes)
	why, found := d.st.trust.AboutFindings(o.name, changes)
	if why == "" {
		return cleanAbout(o.about), nil
	}
	finding := sanitize.Finding{
		Field: "instructions", Problem: "what " + o.name + " says of itself is held: " + why,
		Repair: "held until it is approved (tooldex servers review " + o.name + ")",
	}
	if len(found) > 0 {
		finding.Problem = "what " + o.name + " says of itself is suspicious (" + found[0].Rule + "): " + found[0].Excerpt
	}
	return cleanAbout(o.about), []sanitize.Finding{finding}
}

// serverText returns the words of a server as its tools carry them.
func serverText(a upstream.About) string {
	var parts []string
	for _, s := range []string{a.Title, a.Description, a.Instructions} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

// serverTexts returns what the server of each entry says of itself, "" for one that says nothing or is held.
func (st *state) serverTexts(entries []entry) []string {
	out, texts := make([]string, len(entries)), map[string]string{}
	for name, s := range st.sources {
		if text := serverText(s.About); text != "" && st.trust.AboutHeld(name) == "" {
			texts[name] = text
		}
	}
	if len(texts) == 0 {
		return out
	}
	for i, e := range entries {
		out[i] = texts[st.sourceOf(e.tool)]
	}
	return out
}

// shownTexts returns what the server of each tool of a set says of itself.
func shownTexts(set *tool.Set) []string {
	out := make([]string, set.Len())
	for i, t := range set.All() {
		out[i] = t.ServerText
	}
	return out
}

// serverTerms returns the terms of each text of a server, each term once: a text repeats the server's name.
func serverTerms(texts []string) map[string][]index.Term {
	out, an := map[string][]index.Term{}, knowledge.Analyzer{}
	for _, text := range texts {
		if _, ok := out[text]; ok || text == "" {
			continue
		}
		terms := an.Count(text)
		for i := range terms {
			terms[i].Weight = 1
		}
		out[text] = terms
	}
	return out
}
