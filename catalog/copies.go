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

// settledTool is a tool with the time at which it was first seen.
type settledTool struct {
	*tool.Tool
	hash  tool.Hash
	first time.Time
}

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
// duplicateFinder.groups returned.
func markCopies(tools []settledTool, params *parameterNames, groups []int32) (copies []bool) {
	copies = make([]bool, len(tools))
	var last int32
	members := map[int32]map[string]bool{} // servers by group
	join := func(i int, group int32) {
		groups[i] = group
		if members[group] == nil {
			members[group] = map[string]bool{}
		}
		members[group][tools[i].Server] = true
	}
	for i, n := range groups {
		if n != 0 {
			last = max(last, n)
			join(i, n)
		}
	}
	for _, c := range findCopies(tools, params) {
		copies[c.copy] = true
		// A tool that is copied and was in no group begins one; its copies join it.
		if groups[c.of] == 0 {
			last++
			join(c.of, last)
		}
		group, old := groups[c.of], groups[c.copy]
		if group == old || members[group][tools[c.copy].Server] {
			continue
		}
		delete(members[old], tools[c.copy].Server)
		join(c.copy, group)
	}
	return copies
}

// findCopies returns the tools that servers have copied from others, in the order of tools. The tool that was there
// first is the original; of those that came together, the one of a server that copies nobody. Only servers that have
// near copies of several servers' tools count as copiers: two accounts of one service, and forks, are none.
func findCopies(tools []settledTool, params *parameterNames) []copied {
	pairs := nearCopies(tools, params)
	var out []copied
	sources := map[string]map[string]bool{} // by server: the servers that it has copies of
	number := map[string]map[int]bool{}     // by server: its copies
	note := func(c copied) {
		s := tools[c.copy].Server
		if sources[s] == nil {
			sources[s], number[s] = map[string]bool{}, map[int]bool{}
		}
		sources[s][tools[c.of].Server] = true
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
		case order > 0, order == 0 && copies(a.Server) && !copies(b.Server):
			p = copied{p.of, p.copy}
		}
		if copies(tools[p.copy].Server) && !done[p.copy] {
			done[p.copy] = true
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b copied) int { return cmp.Compare(a.copy, b.copy) })
	return out
}

// nearCopies returns the pairs of tools of different servers whose descriptions and parameters are nearly the same, the
// one with the lower index as the original. Its time grows with the tools alone: tools are only compared if their
// sketches have a row in common, and with maxPerRow of these. It keeps the rows of those tools alone that others are
// compared with.
func nearCopies(tools []settledTool, known *parameterNames) []copied {
	const atOnce = 4096
	var out []copied
	byRow := map[uint64][]*describedTool{}
	for start := 0; start < len(tools); start += atOnce {
		part := make([]describedTool, min(atOnce, len(tools)-start))
		inParallel(len(part), func() func(i int) {
			return func(i int) {
				part[i].at = start + i
				part[i].rows, part[i].first = wordRows(tools[start+i].Description)
			}
		})
		for i := range part {
			t := &part[i]
			if t.rows == nil {
				continue
			}
			for _, o := range t.meet(byRow, tools) {
				// Parameters are compared last, since reading a schema is the slowest step; most tools never need it.
				pa, pb := known.of(tools[o].Tool, tools[o].hash), known.of(tools[t.at].Tool, tools[t.at].hash)
				if same := countCommon(pa, pb); float64(same) >= leastParams*float64(len(pa)+len(pb)-same) {
					out = append(out, copied{t.at, o})
				}
			}
			t.enter(byRow)
		}
	}
	return out
}

// describedTool is a tool whose description is compared with others'.
type describedTool struct {
	at    int      // its place among all tools
	rows  []uint64 // as wordRows returns them
	first string
}

// sketch returns the rows by which other tools are found.
func (t *describedTool) sketch() []uint64 { return t.rows[:min(sketchSize, len(t.rows))] }

// meet returns the tools of other servers among byRow whose descriptions are nearly the same.
func (t *describedTool) meet(byRow map[uint64][]*describedTool, tools []settledTool) (near []int) {
	met := map[int]bool{}
	for _, row := range t.sketch() {
		for _, o := range byRow[row] {
			if met[o.at] || tools[o.at].Server == tools[t.at].Server || o.first != t.first ||
				float64(min(len(o.rows), len(t.rows))) < leastCopyShare*float64(max(len(o.rows), len(t.rows))) {
				continue
			}
			met[o.at] = true
			both := countCommon(o.rows, t.rows)
			if float64(both) >= leastCopyShare*float64(len(o.rows)+len(t.rows)-both) {
				near = append(near, o.at)
			}
		}
	}
	return near
}

// enter adds the tool to those that later ones are compared with, unless there are enough.
func (t *describedTool) enter(byRow map[uint64][]*describedTool) {
	var kept *describedTool // a copy: a pointer into the part would keep all tools of it in memory
	for _, row := range t.sketch() {
		if len(byRow[row]) < maxPerRow {
			if kept == nil {
				kept = &describedTool{t.at, t.rows, strings.Clone(t.first)}
			}
			byRow[row] = append(byRow[row], kept)
		}
	}
}

// settled returns the records as findCopies takes them, by ID.
func (st *state) settled() []settledTool {
	tools := make([]settledTool, 0, len(st.records))
	for _, id := range slices.Sorted(maps.Keys(st.records)) {
		tools = append(tools, settledTool{st.records[id].Tool, st.records[id].Hash, st.records[id].First})
	}
	return tools
}

// addCopies adds to what is reviewed those of the records that are near copies of other servers' tools among some,
// except those that a person approved.
func (st *state) addCopies(reviews []scan.Review, tools []settledTool) []scan.Review {
	at := map[tool.ID]int{}
	for i, r := range reviews {
		// Reviews of single tools have no kind; others are about servers.
		if r.Kind == "" {
			at[r.ID] = i
		}
	}
	for _, c := range findCopies(tools, newParameterNames()) {
		id, of := tools[c.copy].ID(), tools[c.of].ID()
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
