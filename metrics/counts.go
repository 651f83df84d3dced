package metrics

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// counts is what was counted in a slot of time. It is stored as JSON. An older version of the program drops fields that
// it does not have when it adds to an entry, so no field may be needed to interpret the others.
type counts struct {
	Searches   int64                    `json:"searches,omitempty"`
	Selections int64                    `json:"selections,omitempty"`
	Hits       int64                    `json:"hits,omitempty"` // of the cache of selections
	Degraded   int64                    `json:"degraded,omitempty"`
	Nothing    int64                    `json:"nothing,omitempty"`
	Tools      int64                    `json:"tools,omitempty"` // handed out
	Used       int64                    `json:"used,omitempty"`  // tokens
	Saved      int64                    `json:"saved,omitempty"` // tokens
	Search     histogram                `json:"search,omitzero"`
	Categories map[string]int64         `json:"categories,omitempty"` // of tools handed out
	Called     map[string]int64         `json:"called,omitempty"`     // by the tool's ID
	Last       map[string]int64         `json:"last,omitempty"`       // when a tool was called last, in Unix seconds
	Servers    map[string]*serverCounts `json:"servers,omitempty"`
	// Profiles holds at most maxProfiles, and the rest under otherProfiles.
	Profiles map[string]profileCounts `json:"profiles,omitempty"`
}

// profileCounts counts what the clients of one profile did. Clients of all tools have the profile "".
type profileCounts struct {
	Searches int64 `json:"searches,omitempty"`
	Nothing  int64 `json:"nothing,omitempty"` // searches that found nothing
	Calls    int64 `json:"calls,omitempty"`
	Errors   int64 `json:"errors,omitempty"`
}

// serverCounts counts the calls of one server's tools.
type serverCounts struct {
	Calls  int64     `json:"calls"`
	Errors int64     `json:"errors,omitempty"`
	Took   histogram `json:"took,omitzero"`
}

// maxNames bounds the tools and categories of an entry; the most frequent are kept.
const maxNames = 1000

// The bound of the profiles of an entry: profiles that are renamed stay in the totals for ever. No profile can have the
// name otherProfiles.
const (
	maxProfiles   = 100
	otherProfiles = "(others)"
)

// addProfile adds to the counts of a profile.
func (c *counts) addProfile(name string, add profileCounts) {
	known := len(c.Profiles)
	if _, ok := c.Profiles[otherProfiles]; ok {
		known--
	}
	if _, ok := c.Profiles[name]; !ok && known >= maxProfiles {
		name = otherProfiles
	}
	sum := c.Profiles[name]
	sum.Searches += add.Searches
	sum.Nothing += add.Nothing
	sum.Calls += add.Calls
	sum.Errors += add.Errors
	c.Profiles[name] = sum
}

// newCounts returns empty counts without nil maps.
func newCounts() *counts {
	return &counts{
		Categories: map[string]int64{}, Called: map[string]int64{}, Last: map[string]int64{},
		Servers: map[string]*serverCounts{}, Profiles: map[string]profileCounts{},
	}
}

// decodeCounts reads a stored entry. An entry that cannot be read counts as empty.
func decodeCounts(b []byte) *counts {
	c := newCounts()
	if len(b) == 0 || json.Unmarshal(b, c) != nil {
		return newCounts()
	}
	maps.DeleteFunc(c.Servers, func(_ string, s *serverCounts) bool { return s == nil })
	// A newer version may have stored more buckets than this one has.
	for _, h := range c.allHistograms() {
		h.Counts = h.Counts[:min(len(h.Counts), bounded+1)]
	}
	whole := newCounts() // replaces maps that are null in c
	whole.addAll(c)
	return whole
}

// allHistograms returns all histograms of c.
func (c *counts) allHistograms() []*histogram {
	all := []*histogram{&c.Search}
	for _, s := range c.Servers {
		all = append(all, &s.Took)
	}
	return all
}

// encodeCounts returns c as it is stored.
func (c *counts) encodeCounts() []byte {
	b, err := json.Marshal(c)
	if err != nil { // numbers and names always encode
		return nil
	}
	return b
}

// addAll adds o to c. o is not changed, and shares no memory with c afterwards. The maps of c keep the maxNames
// largest.
func (c *counts) addAll(o *counts) {
	c.Searches += o.Searches
	c.Selections += o.Selections
	c.Hits += o.Hits
	c.Degraded += o.Degraded
	c.Nothing += o.Nothing
	c.Tools += o.Tools
	c.Used += o.Used
	c.Saved += o.Saved
	c.Search.addCounts(o.Search)
	for name, n := range o.Categories {
		c.Categories[name] += n
	}
	for id, n := range o.Called {
		c.Called[id] += n
	}
	for id, at := range o.Last {
		c.Last[id] = max(c.Last[id], at)
	}
	for name, s := range o.Servers {
		mine := c.serverOf(name)
		mine.Calls += s.Calls
		mine.Errors += s.Errors
		mine.Took.addCounts(s.Took)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Profiles)) {
		c.addProfile(name, o.Profiles[name])
	}
	c.Categories, c.Called = largestOf(c.Categories), largestOf(c.Called)
	maps.DeleteFunc(c.Last, func(id string, _ int64) bool { return c.Called[id] == 0 })
}

// serverOf returns the counts of a server for changing, after adding them if there are none.
func (c *counts) serverOf(name string) *serverCounts {
	if c.Servers[name] == nil {
		c.Servers[name] = &serverCounts{}
	}
	return c.Servers[name]
}

// totalRequests counts searches and selections.
func (c *counts) totalRequests() int64 { return c.Searches + c.Selections }

// totalCalls sums the calls of all servers.
func (c *counts) totalCalls() (calls, errors int64) {
	for _, s := range c.Servers {
		calls += s.Calls
		errors += s.Errors
	}
	return calls, errors
}

// largestOf returns the maxNames most frequent of m. It is m itself if there are no more.
func largestOf(m map[string]int64) map[string]int64 {
	if len(m) <= maxNames {
		return m
	}
	kept := make(map[string]int64, maxNames)
	for _, t := range sortTallies(m)[:maxNames] {
		kept[t.Name] = t.Count
	}
	return kept
}

// sortTallies returns m as a list, the most frequent first, ties by name. It is never nil.
func sortTallies(m map[string]int64) []Tally {
	out := make([]Tally, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Tally{Name: name, Count: m[name]})
	}
	slices.SortStableFunc(out, func(a, b Tally) int { return cmp.Compare(b.Count, a.Count) })
	return out
}
