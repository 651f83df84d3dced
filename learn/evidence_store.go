package learn

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tooldex/tool"
)

// The bounds of what is kept.
const (
	perTool   = 512    // pieces of evidence for one tool of one profile
	overall   = 20_000 // pieces of evidence
	maxMissed = 512    // missed requests
)

// gone is how long evidence is kept after its last use once its tool has left the catalogue.
const gone = 30 * 24 * time.Hour

// evidenceStore holds entries by key. It has no lock of its own, and the entries it points to are shared with copies of
// it: they are replaced, never changed.
type evidenceStore struct {
	uses     map[string]*use
	missed   map[string]*missedRequest
	approved map[string]*approval
}

// newEvidenceStore returns an empty store.
func newEvidenceStore() *evidenceStore {
	return &evidenceStore{
		uses: map[string]*use{}, missed: map[string]*missedRequest{}, approved: map[string]*approval{},
	}
}

// isEmpty reports whether nothing is stored.
func (b *evidenceStore) isEmpty() bool { return len(b.uses)+len(b.missed)+len(b.approved) == 0 }

// countEntries returns the number of pieces of evidence and missed requests. Approvals are not counted, since they do
// not expire by age.
func (b *evidenceStore) countEntries() int { return len(b.uses) + len(b.missed) }

// addUse stores u, merged with what is stored under its key.
func (b *evidenceStore) addUse(key string, u *use) {
	if have := b.uses[key]; have != nil {
		sum := *have // a copy, since entries are shared between stores
		sum.mergeUse(u)
		u = &sum
	}
	b.uses[key] = u
}

// addMissed stores m, merged with what is stored under its key.
func (b *evidenceStore) addMissed(key string, m *missedRequest) {
	if have := b.missed[key]; have != nil {
		sum := *have
		sum.mergeMissed(m)
		m = &sum
	}
	b.missed[key] = m
}

// mergeAll adds all that is in more.
func (b *evidenceStore) mergeAll(more *evidenceStore) {
	for k, u := range more.uses {
		b.addUse(k, u)
	}
	for k, m := range more.missed {
		b.addMissed(k, m)
	}
	maps.Copy(b.approved, more.approved)
}

// addEntry adds an entry as it is stored. One that cannot be read, or of an unknown letter, is left out: it may be of a
// newer version.
func (b *evidenceStore) addEntry(key string, v []byte) {
	if key == "" {
		return
	}
	switch key[0] {
	case keyUse:
		if u, err := decodeUse(v); err == nil {
			b.uses[key] = u
		}
	case keyMissed:
		if m, err := decodeMissed(v); err == nil {
			b.missed[key] = m
		}
	case keyApproval:
		if a, err := decodeApproval(v); err == nil {
			b.approved[key] = a
		}
	}
}

// surplusKeys returns the sorted keys of what is to be dropped: evidence older than eight half-lives, evidence and
// approvals of tools that left the catalogue long ago, and what exceeds the bounds. Clients share the places of a tool,
// and tools share those of all, so that none crowds out the others.
func (b *evidenceStore) surplusKeys(now time.Time, known func(tool.ID) bool) []string {
	type place struct {
		profile string
		tool    tool.ID
	}
	var out []string
	byTool := map[place][]string{}
	for _, k := range slices.Sorted(maps.Keys(b.uses)) {
		u := b.uses[k]
		age := now.Sub(time.UnixMilli(u.last))
		if age > 8*halfLife || age > gone && !known(u.tool) {
			out = append(out, k)
			continue
		}
		p := place{u.profile, u.tool}
		byTool[p] = append(byTool[p], k)
	}
	sizes := make([]int, 0, len(byTool))
	for _, keys := range byTool {
		sizes = append(sizes, len(keys))
	}
	most := fairShare(sizes, overall)
	for _, keys := range byTool {
		if len(keys) > most {
			out = append(out, b.lastKeys(keys, most)...)
		}
	}
	if extra := len(b.missed) - maxMissed; extra > 0 {
		keys := slices.SortedFunc(maps.Keys(b.missed), func(x, y string) int {
			return cmp.Or(cmp.Compare(b.missed[x].last, b.missed[y].last), cmp.Compare(x, y))
		})
		out = append(out, keys[:extra]...)
	}
	for k, a := range b.approved {
		if now.Sub(time.UnixMilli(a.at)) > gone && !known(a.tool) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// fairShare returns the greatest number, at most perTool, that each may have so that all together have at most total.
func fairShare(sizes []int, total int) int {
	low, high := 0, perTool
	for low < high {
		try, sum := (low+high+1)/2, 0
		for _, n := range sizes {
			sum += min(n, try)
		}
		if sum <= total {
			low = try
		} else {
			high = try - 1
		}
	}
	return low
}

// lastKeys returns the keys beyond the first n when clients take turns, each with its latest evidence first.
func (b *evidenceStore) lastKeys(keys []string, n int) []string {
	byClient := map[string][]string{}
	for _, k := range keys {
		c := b.uses[k].client
		byClient[c] = append(byClient[c], k)
	}
	type turn struct {
		round int
		key   string
	}
	var turns []turn
	for _, list := range byClient {
		slices.SortFunc(list, func(x, y string) int {
			return cmp.Or(cmp.Compare(b.uses[y].last, b.uses[x].last), cmp.Compare(x, y))
		})
		for i, k := range list {
			turns = append(turns, turn{i, k})
		}
	}
	slices.SortFunc(turns, func(x, y turn) int {
		return cmp.Or(cmp.Compare(x.round, y.round), cmp.Compare(x.key, y.key))
	})
	var out []string
	for _, t := range turns[n:] {
		out = append(out, t.key)
	}
	return out
}

// removeKeys removes entries.
func (b *evidenceStore) removeKeys(keys []string) {
	for _, k := range keys {
		delete(b.uses, k)
		delete(b.missed, k)
		delete(b.approved, k)
	}
}
