package knowledge

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"tooldex/index"
)

// Object is something that tools of a domain deal with, and what people call it.
type Object struct {
	Domain string   `json:"domain"` // folder of the archetypes whose likes may borrow the words
	Object string   `json:"object"` // as tools name it: "pull request"
	Words  []string `json:"words"`
}

// Operation is a verb that tool names contain, alone or with a general object, and what people say for it.
type Operation struct {
	Operation string   `json:"operation"` // as tools name it: "archive", "list_members"
	Phrases   []string `json:"phrases"`
}

// Weights of the glossary's words beside those of the archetypes' requests, as measured on the labelled sets: half and
// twice these gain less.
const (
	objectWeight    = 1
	operationWeight = 1
	// leastShare of what a tool borrows must come from archetypes of a domain for the words of its objects to count
	leastShare = .25
)

// termSteps is the resolution of weights in the compiled glossary.
const termSteps = 64

// glossaryRecord is an object or an operation before it is compiled.
type glossaryRecord struct {
	domain string   // its place among the domains; "" for an operation
	stems  []string // that a tool must name, sorted
	terms  []index.Term
}

// glossaryRecords are all of them.
type glossaryRecords []glossaryRecord

// analyseGlossary returns the objects of the given domains and the operations of a source.
func analyseGlossary(src *Source, domains []string) (records glossaryRecords) {
	var an Analyzer
	add := func(domain, name string, terms []index.Term) {
		stems := an.Terms(nil, name)
		slices.Sort(stems)
		if stems = slices.Compact(stems); len(stems) > 0 && len(terms) > 0 {
			records = append(records, glossaryRecord{domain, stems, terms})
		}
	}
	for _, o := range src.Objects {
		if d, ok := slices.BinarySearch(domains, o.Domain); ok {
			add(strconv.Itoa(d), o.Object, an.Count(strings.Join(o.Words, "\n")))
		}
	}
	said := make([][]index.Term, len(src.Operations))
	shared := map[string]float64{} // by how many operations
	for i, o := range src.Operations {
		said[i] = an.Count(strings.Join(o.Phrases, "\n"))
		for _, t := range said[i] {
			shared[t.Text]++
		}
	}
	for i, o := range src.Operations {
		for k, t := range said[i] {
			said[i][k].Weight = t.Weight / float32(math.Sqrt(shared[t.Text]))
		}
		add("", o.Operation, said[i])
	}
	return records
}

// words returns the stems that the glossary adds to tools.
func (g glossaryRecords) words() (out []string) {
	for _, r := range g {
		for _, t := range r.terms {
			out = append(out, t.Text)
		}
	}
	return out
}

// compile packs the records, with the terms by their place in dict, which has all of them.
func (g glossaryRecords) compile(dict []string) ([]byte, error) {
	records := make([]string, 0, len(g))
	for _, r := range g {
		parts := make([]string, 0, 2*len(r.terms))
		for _, t := range r.terms {
			k, _ := slices.BinarySearch(dict, t.Text)
			parts = append(parts, strconv.Itoa(k), strconv.Itoa(max(1, int(t.Weight*termSteps+.5))))
		}
		records = append(records, strings.Join([]string{
			r.domain, strings.Join(r.stems, listSep), strings.Join(parts, listSep),
		}, fieldSep))
	}
	slices.Sort(records)
	return packStrings(records)
}

// glossary is the compiled glossary as a Lender uses it. The zero glossary has no words.
type glossary struct {
	objects, operations map[string][]glossaryEntry // by the first of their stems
}

// glossaryEntry is one object or operation.
type glossaryEntry struct {
	domain int
	stems  []string // sorted
	terms  []stemWeight
}

// stemWeight is a stem by its place in the dictionary, and its weight.
type stemWeight struct {
	stem   int32
	weight float32
}

// readGlossary reads what compile wrote. Records that cannot be read are left out.
func readGlossary(packed []byte) glossary {
	g := glossary{objects: map[string][]glossaryEntry{}, operations: map[string][]glossaryEntry{}}
	records, err := unpackStrings(packed)
	if err != nil {
		return g
	}
	for i := range records.n {
		parts := strings.Split(string(records.entryAt(i)), fieldSep)
		if len(parts) != 3 {
			continue
		}
		e := glossaryEntry{stems: strings.Split(parts[1], listSep)}
		said := strings.Split(parts[2], listSep)
		for k := 0; k+1 < len(said); k += 2 {
			stem, err := strconv.ParseUint(said[k], 10, 31)
			steps, weightErr := strconv.Atoi(said[k+1])
			if err == nil && weightErr == nil {
				e.terms = append(e.terms, stemWeight{int32(stem), float32(steps) / termSteps})
			}
		}
		to := g.operations
		if parts[0] != "" {
			var err error
			if e.domain, err = strconv.Atoi(parts[0]); err != nil {
				continue
			}
			to = g.objects
		}
		to[e.stems[0]] = append(to[e.stems[0]], e)
	}
	return g
}

// addTerms adds to sums the words of the objects and operations that a name contains, given by its stems in their
// order. shares holds the share of each domain in what the tool borrows.
func (g *glossary) addTerms(stems []string, shares map[int]float32, sums *termSums) {
	sorted := slices.Clone(stems)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	var named []*glossaryEntry
	for _, s := range sorted {
		for i := range g.objects[s] {
			if e := &g.objects[s][i]; shares[e.domain] >= leastShare && containsAll(sorted, e.stems) {
				named = append(named, e)
			}
		}
	}
	for _, e := range named {
		// "pull request" counts, and the "request" in it does not
		if !slices.ContainsFunc(named, func(o *glossaryEntry) bool {
			return o.domain == e.domain && len(o.stems) > len(e.stems) && containsAll(o.stems, e.stems)
		}) {
			sums.addAll(e.terms, objectWeight*shares[e.domain])
		}
	}
	for _, s := range stems {
		var best *glossaryEntry
		for i := range g.operations[s] {
			e := &g.operations[s][i]
			if containsAll(sorted, e.stems) && (best == nil || len(e.stems) > len(best.stems)) {
				best = e
			}
		}
		if best != nil {
			sums.addAll(best.terms, operationWeight)
		}
	}
}

// containsAll reports whether a sorted list contains all of some strings.
func containsAll(sorted, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool {
		_, ok := slices.BinarySearch(sorted, s)
		return !ok
	})
}
