package main

// reporter records one finding; id may be empty.
type reporter func(at place, id, format string, args ...any)

// rule is one check over the whole corpus.
type rule struct {
	name    string
	warning bool // counts against the budget instead of failing
	find    func(*corpus, reporter)
}

// rules lists every check. Beside these, "schema" and "canonical" come from reading the files.
func rules() []rule {
	return []rule{
		{name: "order", find: findOrder},
		{name: "place", find: findPlace},
		{name: "field", find: findFields},
		{name: "text", find: findText},
		{name: "count", find: findCounts},
		{name: "filler", find: findFiller},
		{name: "twice", find: findTwice},
		{name: "shared", find: findShared},
		{name: "sibling", find: findSiblingOwned},
		{name: "opening", find: findOpenings},
		{name: "far", find: findNear},
		{name: "thesaurus", find: findGroups},
		{name: "glossary", find: findGlossaries},
		{name: "lexicon", find: findEntries},
		{name: "leaning", warning: true, find: findLeaning},
		{name: "rephrased", warning: true, find: findRephrased},
		{name: "elsewhere", warning: true, find: findElsewhere},
		{name: "script", warning: true, find: findScript},
	}
}
