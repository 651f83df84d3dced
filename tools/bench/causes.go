package main

// clues is what can be told about a missed request without a person reading it.
type clues struct {
	needs, parts   int     // what is asked for by the labels, and what the search took it to be
	foreign        bool    // not in English
	translated     int     // English words that the lexicon gave
	words, unknown int     // words of meaning, and those of them that no tool of the catalogue has, lent ones included
	like, low      float64 // how like the right tool is to the archetype nearest to it, and below what that is little
	// share of what was lent to the right tool that came from archetypes that lent to the first one, too
	shared     float64
	sameServer bool // the first tool is of the right tool's server
	linked     bool // an archetype that the request is near to lent to the right tool
}

// The causes that misses are put down to.
const (
	causeParts        = "several needs not seen"
	causeNeed         = "one of several needs lost"
	causeLanguage     = "language not recognised"
	causeLexicon      = "too few words translated"
	causeUnknown      = "words that nothing here has"
	causeNoArchetype  = "no archetype of its kind"
	causeSibling      = "sibling on its server"
	causeDouble       = "like tool of another server"
	causeUnlinked     = "asked as other archetypes are"
	causeOutweighed   = "known, but outweighed"
	fewestTranslated  = 3  // English words for a request to be understood
	mostUnknown       = .5 // share of words
	leastShared       = .5
	nearestArchetypes = 10 // of a request
)

// cause is the first that applies, from what a search must get right first to what is left.
func (c clues) cause() string {
	switch {
	case c.needs > 1 && c.parts < 2:
		return causeParts
	case c.needs > 1:
		return causeNeed
	case c.foreign && c.translated == 0:
		return causeLanguage
	case c.foreign && c.translated < fewestTranslated:
		return causeLexicon
	case c.words > 0 && float64(c.unknown) >= mostUnknown*float64(c.words):
		return causeUnknown
	case c.like < c.low:
		return causeNoArchetype
	case c.shared >= leastShared && c.sameServer:
		return causeSibling
	case c.shared >= leastShared:
		return causeDouble
	case !c.linked:
		return causeUnlinked
	}
	return causeOutweighed
}

// causes lists all of them with how each is told.
func causes() [][2]string {
	return [][2]string{
		{causeParts, "the labels ask for several things, the search found no parts"},
		{causeNeed, "the search found parts, but a need has no tool among the first ten"},
		{causeLanguage, "the request is not in English, and nothing was translated"},
		{causeLexicon, "fewer than three English words came of a request in another language"},
		{causeUnknown, "half of the request's words or more are in no tool, lent words included"},
		{causeNoArchetype, "the archetype nearest to the right tool is less like it than that of three in four tools of these sets"},
		{causeSibling, "the first tool is of the same server, and half or more of what was lent to the right tool came from archetypes that lent to both"},
		{causeDouble, "the same, but the first tool is of another server: it may do as well and lack the label"},
		{causeUnlinked, "none of the ten archetypes nearest to the request lent to the right tool"},
		{causeOutweighed, "the request leads to the right tool's archetypes, but other tools have more of its words or a nearer vector"},
	}
}
