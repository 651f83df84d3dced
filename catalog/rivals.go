package catalog

import (
	"encoding/binary"
	"iter"

	"tooldex/store"
)

// maxRivals is the size from which the tools of a server do not compete for what archetypes lend: a change of one tool
// makes all its rivals be analysed again.
const maxRivals = 500

// rivals counts the tools of each server. Tools of one server compete for the words that archetypes lend, so each
// analysis holds a signature of the tools that it was made beside: the sum over their texts, 0 without rivals.
type rivals map[string]int

// countRivals counts the tools of each server, if any tool borrows.
func (x *searchable) countRivals(entries []entry) rivals {
	out := rivals{}
	if x.m.Base == nil || x.m.NoBorrow {
		return out
	}
	for _, e := range entries {
		out[e.tool.Server]++
	}
	return out
}

// has reports whether a tool has rivals.
func (r rivals) has(e entry) bool {
	n := r[e.tool.Server]
	return n > 1 && n <= maxRivals && !e.tool.NoBorrow
}

// signText returns what a text adds to the signature of its rivals.
func signText(h store.TextHash) uint64 { return binary.LittleEndian.Uint64(h[:]) }

// toAnalyse returns the tools that have no analysis, and the rivals of tools that are new, gone or changed, in the
// order of entries.
func (r rivals) toAnalyse(entries []entry, have *derived) []entry {
	now, stale := map[string]uint64{}, map[string]bool{}
	for _, e := range entries {
		h, ok := textOf(have.lent[e.hash])
		if !ok {
			stale[e.tool.Server] = true
		} else if r.has(e) {
			now[e.tool.Server] += signText(h)
		}
	}
	isStale := func(e entry) bool {
		made, ok := rivalsOf(have.lent[e.hash])
		if !r.has(e) {
			return !ok || made != 0
		}
		return stale[e.tool.Server] || made != now[e.tool.Server]
	}
	for _, e := range entries {
		if r.has(e) && isStale(e) {
			stale[e.tool.Server] = true
		}
	}
	var out []entry
	for _, e := range entries {
		if isStale(e) {
			out = append(out, e)
		}
	}
	return out
}

// chunksOfServers yields parts of entries, which are sorted by server, of about n tools each. Rivals are in the same
// part.
func chunksOfServers(entries []entry, n int) iter.Seq[[]entry] {
	return func(yield func([]entry) bool) {
		for start, end := 0, 0; start < len(entries); start = end {
			for end < len(entries) && end-start < n {
				run := end + 1
				for run < len(entries) && entries[run].tool.Server == entries[end].tool.Server {
					run++
				}
				if run-end > maxRivals {
					run = start + n // none of them competes
				}
				end = run
			}
			if !yield(entries[start:end]) {
				return
			}
		}
	}
}
