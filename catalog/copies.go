package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"tooldex/scan"
	"tooldex/tool"
)

// The thresholds at which a tool counts as a near copy of another server's, whatever its name is.
const (
	leastCopyWords = 8  // words of a description; shorter ones are alike by chance
	maxCopyWords   = 96 // that are compared
	leastCopyShare = .6 // of the rows of three words of both descriptions, those that both have
	sketchSize     = 4  // rows of three words that stand for a description when candidates are looked for
	maxPerRow      = 12 // tools with one row in their sketches that others are compared with
	leastCopies    = 3  // near copies, of at least two servers' tools, that make a server a copier
)

// copied is a tool that is a near copy of another server's. copy and of are indexes of tools.
type copied struct{ copy, of int }

// wordRows returns the hashes of the rows of three words in a description, sorted, and its first word; nil for a short
// one. Case and punctuation do not count.
func wordRows(description string) (rows []uint64, first string) {
	// Letters beyond ASCII count as letters of a word; no language needs its own rules here.
	words := strings.FieldsFunc(strings.ToLower(description), func(r rune) bool {
		return r < '0' || r > '9' && r < 'a' || r > 'z' && r < 0x80
	})
	if len(words) < leastCopyWords {
		return nil, ""
	}
	words = words[:min(len(words), maxCopyWords)]
	for i := range len(words) - 2 {
		rows = append(rows, hashRow(words[i:i+3]))
	}
	// Sorted hashes serve two purposes: countCommon merges two lists in one pass, and the lowest ones are a sketch that
	// does not depend on the order of words.
	slices.Sort(rows)
	return slices.Compact(rows), words[0]
}

// hashRow returns the FNV-1a hash of words.
func hashRow(words []string) uint64 {
	h := uint64(14695981039346656037)
	for _, w := range words {
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * 1099511628211
		}
		h = (h ^ ' ') * 1099511628211
	}
	return h
}

// markCopies returns which tools are near copies, and adds these to the groups of what they copy. Groups is what
// duplicateFinder.groups returned. Sketches is the table of the rows by which their descriptions are found.
func markCopies(tools []entry, sketches *nearTable, params *parameterNames, groups []int32) (copies []bool) {
	copies = make([]bool, len(tools))
	var last int32
	members := map[int32]map[string]bool{} // servers by group
	join := func(i int, group int32) {
		groups[i] = group
		if members[group] == nil {
			members[group] = map[string]bool{}
		}
		members[group][tools[i].tool.Server] = true
	}
	for i, n := range groups {
		if n != 0 {
			last = max(last, n)
			join(i, n)
		}
	}
	for _, c := range findCopies(tools, sketches, params) {
		copies[c.copy] = true
		// A tool that is copied and was in no group begins one; its copies join it.
		if groups[c.of] == 0 {
			last++
			join(c.of, last)
		}
		group, old := groups[c.of], groups[c.copy]
		if group == old || members[group][tools[c.copy].tool.Server] {
			continue
		}
		delete(members[old], tools[c.copy].tool.Server)
		join(c.copy, group)
	}
	return copies
}

// findCopies returns the tools that servers have copied from others, in the order of tools. The tool that was there
// first is the original; of those that came together, the one of a server that copies nobody. Only servers that have
// near copies of several servers' tools count as copiers: two accounts of one service, and forks, are none.
func findCopies(tools []entry, sketches *nearTable, params *parameterNames) []copied {
	pairs := nearCopies(tools, sketches, params)
	var out []copied
	sources := map[string]map[string]bool{} // by server: the servers that it has copies of
	number := map[string]map[int]bool{}     // by server: its copies
	note := func(c copied) {
		s := tools[c.copy].tool.Server
		if sources[s] == nil {
			sources[s], number[s] = map[string]bool{}, map[int]bool{}
		}
		sources[s][tools[c.of].tool.Server] = true
		number[s][c.copy] = true
	}
	for _, p := range pairs {
		if !tools[p.copy].first.Before(tools[p.of].first) {
			note(p)
		}
		if back := (copied{p.of, p.copy}); !tools[p.of].first.Before(tools[p.copy].first) {
			note(back)
		}
	}
	// The second pass decides. A server counts as a copier by all of its pairs, so it can only be judged after the
	// first.
	copies := func(s string) bool { return len(sources[s]) > 1 && len(number[s]) >= leastCopies }
	done := map[int]bool{}
	for _, p := range pairs {
		a, b := &tools[p.of], &tools[p.copy]
		switch order := a.first.Compare(b.first); {
		case order > 0, order == 0 && copies(a.tool.Server) && !copies(b.tool.Server):
			p = copied{p.of, p.copy}
		}
		if copies(tools[p.copy].tool.Server) && !done[p.copy] {
			done[p.copy] = true
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b copied) int { return cmp.Compare(a.copy, b.copy) })
	return out
}

// nearCopies returns the pairs of tools of different servers whose descriptions and parameters are nearly the same, the
// one with the lower index as the original. Its time grows with the tools alone: tools are only compared if their
// sketches have a row in common, and with the first maxPerRow of these. The rows of a description are kept only while
// later tools are compared with it.
func nearCopies(tools []entry, sketches *nearTable, known *parameterNames) []copied {
	const atOnce = 4096
	var out []copied
	compared, others := sketches.meeting(len(tools), maxPerRow)
	first := map[int32]*describedTool{} // those of others so far
	for start := 0; start < len(tools); start += atOnce {
		part := make([]describedTool, min(atOnce, len(tools)-start))
		inParallel(len(part), func() func(i int) {
			return func(i int) {
				if part[i].at = int32(start + i); compared[start+i] || others[start+i] {
					part[i].rows, part[i].first = wordRows(tools[start+i].tool.Description)
				}
			}
		})
		for i := range part {
			t := &part[i]
			if compared[t.at] {
				for _, o := range t.meet(sketches, first, tools) {
					// Parameters are compared last, since reading a schema is the slowest step; most tools never need it.
					pa, pb := known.of(tools[o].tool, tools[o].hash), known.of(tools[t.at].tool, tools[t.at].hash)
					if same := countCommon(pa, pb); float64(same) >= leastParams*float64(len(pa)+len(pb)-same) {
						out = append(out, copied{int(t.at), int(o)})
					}
				}
			}
			if others[t.at] { // a copy, so that the others of its part can be given back
				first[t.at] = &describedTool{t.at, t.rows, strings.Clone(t.first)}
			}
		}
	}
	return out
}

// describedTool is a tool whose description is compared with others'.
type describedTool struct {
	at    int32    // its place among all tools
	rows  []uint64 // as wordRows returns them
	first string
}

// meet returns the tools of other servers whose descriptions are nearly the same, among those before it that sketches
// has for the rows of its own sketch.
func (t *describedTool) meet(sketches *nearTable, before map[int32]*describedTool, tools []entry) (near []int32) {
	met := map[int32]bool{}
	for _, row := range t.rows[:min(sketchSize, len(t.rows))] {
		looked := 0
		sketches.find(row, func(doc int32) bool {
			if looked++; doc >= t.at || looked > maxPerRow {
				return false
			}
			o := before[doc]
			if met[doc] || tools[doc].tool.Server == tools[t.at].tool.Server || o.first != t.first ||
				float64(min(len(o.rows), len(t.rows))) < leastCopyShare*float64(max(len(o.rows), len(t.rows))) {
				return true
			}
			met[doc] = true
			both := countCommon(o.rows, t.rows)
			if float64(both) >= leastCopyShare*float64(len(o.rows)+len(t.rows)-both) {
				near = append(near, doc)
			}
			return true
		})
	}
	return near
}

// settled returns the records as findCopies takes them, by ID.
func (st *state) settled() []entry {
	tools := make([]entry, 0, len(st.records))
	for _, id := range slices.Sorted(maps.Keys(st.records)) {
		r := st.records[id]
		tools = append(tools, entry{tool: r.Tool, hash: r.Hash, first: r.First})
	}
	return tools
}

// addCopies adds to what is reviewed those of the records that are near copies of other servers' tools among some,
// except those that a person approved.
func (st *state) addCopies(reviews []scan.Review, tools []entry) []scan.Review {
	at := map[tool.ID]int{}
	for i, r := range reviews {
		// Reviews of single tools have no kind; others are about servers.
		if r.Kind == "" {
			at[r.ID] = i
		}
	}
	for _, c := range findCopies(tools, newSketches(tools), newParameterNames()) {
		id, of := tools[c.copy].tool.ID(), tools[c.of].tool.ID()
		rec, ok := st.records[id]
		if !ok || st.trust.Approved(formOf(rec)) {
			continue
		}
		found := scan.CopyFinding(of)
		if i, ok := at[id]; ok {
			reviews[i].Suspicions = append(slices.Clone(reviews[i].Suspicions), found)
			continue
		}
		reviews = append(reviews, scan.Review{
			ID: id, Why: found.Why, Form: formOf(rec).ID(), Since: rec.Changed.UTC().Format(time.RFC3339),
			Suspicions: []scan.Finding{found},
		})
	}
	return reviews
}
