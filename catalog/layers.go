package catalog

import (
	"cmp"
	"maps"
	"slices"

	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// A change of a few servers in a large catalogue builds an index of their tools alone, which is laid over the one that
// was built of all. Servers are the unit: whatever decides about a tool's place in the index but duplicates and the
// rarity of words depends on the tools of its server alone.
const (
	leastLayered = 5000 // tools from which on this pays
	layeredShare = 16   // one part in this many of the tools may be in the addition; more are built anew
	mergedShare  = 64   // one part in this many from which on an addition becomes part of the base when an image is written
	mostCompared = 8192 // tools that are compared to find the duplicates of those that changed
)

// layering is the index that was built last of all tools, and the servers whose tools have changed since.
type layering struct {
	base    *index.Snapshot // nil before the first
	image   *openedImage    // the image that base is of; nil if it is of none, or of none that is known
	changed map[string]bool
	// since has the servers that changed since a new base began to be made; nil while none is.
	since map[string]bool
	near  nearTables // of base; made when they are needed first, if image does not have them
}

// use makes a snapshot of all tools the base.
func (l *layering) use(base *index.Snapshot, image *openedImage, changed map[string]bool) {
	*l = layering{base: base, image: image, changed: changed}
	if image != nil {
		l.near = image.near
	}
}

// note notes that servers have changed.
func (l *layering) note(changed map[string]bool) {
	if l.since != nil {
		maps.Copy(l.since, changed)
	}
}

// layer returns the index of the tools of set as an addition to the base, and the servers in the addition; nil if it
// cannot be made so, or does not pay. Changed are the servers that have changed since the index was published last; nil
// stands for all. Entries are those of all tools of set, or at least of the servers in the addition.
func (x *searchable) layer(set *tool.Set, entries []entry, have *derived, changed map[string]bool) (*index.Snapshot,
	map[string]bool,
) {
	base := x.layers.base
	least := cmp.Or(x.layerFrom, leastLayered)
	if base == nil || changed == nil || base.Len() < least || base.Model() != have.model || base.Dims() == 0 {
		return nil, nil
	}
	servers := make(map[string]bool, len(x.layers.changed)+len(changed))
	maps.Copy(servers, x.layers.changed)
	maps.Copy(servers, changed)
	a := addition{x: x, set: set, entries: entries, base: base, servers: servers}
	if !a.place() || len(a.docs)*layeredShare > base.Len() {
		return nil, nil
	}
	extra, err := a.build(have)
	if err != nil {
		return nil, nil // the index of all tools has the same error, or is whole
	}
	if !a.findDuplicates() {
		return nil, nil
	}
	snap, err := index.Layer(set, base, extra, a.from, a.groups, a.copies)
	if err != nil {
		return nil, nil
	}
	return snap, servers
}

// addition is an index that is laid over a base.
type addition struct {
	x       *searchable
	set     *tool.Set
	entries []entry // sorted by ID; of all tools in set, or at least of those of servers
	base    *index.Snapshot
	servers map[string]bool // whose tools are in it
	from    []int32         // by document of the whole, as index.Layer takes it
	at      []int32         // by document of the base: its number in the whole, -1 for one that is gone
	docs    []int           // the documents of the addition, in the whole
	changed []int           // those of them that are new or whose texts differ from the base's
	groups  []int32
	copies  []bool
	// members has the documents of each group, and last is the highest number of a group; nil until join needs them.
	members map[int32][]int
	last    int32
}

// entry returns the entry of a document. Of a tool of a server that has not changed it may have no hash.
func (a *addition) entry(i int) entry {
	if len(a.entries) == a.set.Len() {
		return a.entries[i]
	}
	e := entry{tool: a.set.All()[i]}
	if k, ok := slices.BinarySearchFunc(a.entries, e, compareID); ok {
		return a.entries[k]
	}
	if image := a.x.layers.image; image != nil && a.from[i] >= 0 {
		e.first = image.firstSeen(int(a.from[i]))
	}
	return e
}

// placeOf returns the number in the whole of a document of the base, -1 for one that is gone, or that a damaged table
// names.
func (a *addition) placeOf(doc int32) int32 {
	if doc < 0 || int(doc) >= len(a.at) {
		return -1
	}
	return a.at[doc]
}

// place finds for each tool where its document comes from. It returns false if a tool of a server that has not changed
// is not in the base.
func (a *addition) place() bool {
	all, before := a.set.All(), a.base.Set().All()
	a.from, a.at = make([]int32, len(all)), make([]int32, len(before))
	a.groups, a.copies = make([]int32, len(all)), make([]bool, len(all))
	k := 0
	// gone passes over documents of the base that have no place any more, and reports whether that may be.
	gone := func() bool {
		a.at[k] = -1
		k++
		return a.servers[before[k-1].Server]
	}
	for i, t := range all {
		for k < len(before) && !isSame(before[k], t) && before[k].ID() < t.ID() {
			if !gone() {
				return false
			}
		}
		there := k < len(before) && isSame(before[k], t)
		if !a.servers[t.Server] {
			if !there {
				return false
			}
			a.from[i], a.at[k] = int32(k), int32(i)
			a.copies[i] = a.base.IsCopy(k)
			k++
			continue
		}
		a.from[i] = ^int32(len(a.docs))
		a.docs = append(a.docs, i)
		if there && before[k].Description == t.Description && string(before[k].InputSchema) == string(t.InputSchema) {
			a.copies[i] = a.base.IsCopy(k)
			a.keepGroup(i, k)
		} else {
			a.changed = append(a.changed, i)
		}
		if there {
			a.at[k] = -1
			k++
		}
	}
	for k < len(before) {
		if !gone() {
			return false
		}
	}
	for g, family := range a.base.DuplicateGroups() {
		for _, d := range family {
			if at := a.at[d]; at >= 0 {
				a.groups[at] = int32(g + 1)
			}
		}
	}
	return true
}

// isSame reports whether two tools have the same ID.
func isSame(a, b *tool.Tool) bool { return a.Name == b.Name && a.Server == b.Server }

// keepGroup gives a document of the addition the group that it had in the base.
func (a *addition) keepGroup(i, before int) {
	family := a.base.Duplicates(before)
	if family == nil {
		return
	}
	groups := a.base.DuplicateGroups()
	g, _ := slices.BinarySearchFunc(groups, family[0], func(f []int32, first int32) int { return cmp.Compare(f[0], first) })
	a.groups[i] = int32(g + 1)
}

// build builds the index of the documents of the addition alone.
func (a *addition) build(have *derived) (*index.Snapshot, error) {
	tools := make([]*tool.Tool, len(a.docs))
	for k, i := range a.docs {
		tools[k] = a.set.All()[i]
	}
	set, docs := tool.NewSet(tools, ""), make([]index.Doc, len(a.docs))
	words := serverTerms(shownTexts(set))
	inParallel(len(docs), func() func(k int) {
		return func(k int) {
			docs[k] = a.x.indexDocument(a.entry(a.docs[k]), have)
			docs[k].Fields[index.Server] = words[tools[k].ServerText]
		}
	})
	o := a.x.o
	o.Model = have.model
	b, err := index.NewBuilder(set, index.LayerLengths(a.base, docs), o, "")
	if err != nil {
		return nil, err
	}
	for k := range docs {
		if err := b.Add(&docs[k]); err != nil {
			return nil, err
		}
	}
	return b.Snapshot()
}

// findDuplicates sets the groups of the documents that are new or whose texts have changed, and which of them are
// copies. It compares them with the tools of the same names and of similar texts, and with all tools of these tools'
// servers. It returns false if these are too many.
func (a *addition) findDuplicates() bool {
	if len(a.changed) == 0 {
		return true
	}
	all, near := a.set.All(), a.x.layers.nearTables()
	// Copies are looked for among all tools of the servers that changed, since the number of a server's copies decides.
	changed := map[string]bool{}
	for _, i := range a.changed {
		changed[all[i].Server] = true
	}
	// Other servers in the addition have only lost tools, or have other ones held. The tables do not have their tools.
	ownNames, ownRows := map[uint64][]int{}, map[uint64][]int{}
	for _, i := range a.docs {
		if changed[all[i].Server] {
			continue
		}
		for _, name := range comparableNames(all[i]) {
			ownNames[hashName(name)] = append(ownNames[hashName(name)], i)
		}
		for _, row := range sketchOf(all[i]) {
			ownRows[row] = append(ownRows[row], i)
		}
	}
	// each calls fn with the tools of other servers than that of tool i that a table has for a hash, at most so many.
	each := func(t *nearTable, own map[uint64][]int, h uint64, i, most int, fn func(d int)) {
		found := 0
		t.find(h, func(doc int32) bool {
			if d := a.placeOf(doc); d >= 0 && all[d].Server != all[i].Server {
				fn(int(d))
				found++
			}
			return found < most
		})
		for _, d := range own[h] {
			fn(d)
		}
	}
	mates := maps.Clone(changed) // servers to compare with
	similar := map[int]bool{}    // tools of similar texts
	for _, i := range a.changed {
		for _, name := range comparableNames(all[i]) {
			each(&near.names, ownNames, hashName(name), i, maxCompared, func(d int) { mates[all[d].Server] = true })
		}
	}
	for _, i := range a.docs {
		if !changed[all[i].Server] {
			continue
		}
		for _, row := range sketchOf(all[i]) {
			each(&near.rows, ownRows, row, i, maxPerRow, func(d int) { similar[d] = true })
		}
	}
	return a.group(mates) && a.markCopied(changed, similar)
}

// group gives the changed documents the groups of what they duplicate, among the tools of some servers.
func (a *addition) group(servers map[string]bool) bool {
	var some []int
	var tools []*tool.Tool
	for i, t := range a.set.All() {
		if servers[t.Server] {
			some, tools = append(some, i), append(tools, t)
		}
	}
	if len(some) > mostCompared {
		return false
	}
	if a.x.params == nil {
		a.x.params = newParameterNames()
	}
	f := newDuplicateFinder(tools, a.x.params)
	terms := make([][]index.Term, len(some))
	inParallel(len(some), func() func(k int) {
		an := newDescriptionAnalyzer()
		return func(k int) {
			if slices.ContainsFunc(comparableNames(tools[k]), f.isShared) {
				terms[k] = an(tools[k])
			}
		}
	})
	for k, i := range some {
		e := a.entry(i)
		f.note(k, &e.hash, terms[k])
	}
	found := f.groups()
	members := map[int32][]int{} // by group among some
	for k, g := range found {
		if g != 0 {
			members[g] = append(members[g], some[k])
		}
	}
	isChanged := map[int]bool{}
	for _, i := range a.changed {
		isChanged[i] = true
	}
	for k, i := range some {
		if !isChanged[i] || found[k] == 0 {
			continue
		}
		for _, mate := range members[found[k]] {
			if mate != i && a.join(i, mate) {
				break
			}
		}
	}
	return true
}

// join puts document i into the group of another, or begins one with it. It returns false if the group has a tool of
// the same server.
func (a *addition) join(i, mate int) bool {
	all := a.set.All()
	if a.members == nil {
		a.members = map[int32][]int{}
		for d, g := range a.groups {
			if g != 0 {
				a.members[g] = append(a.members[g], d)
				a.last = max(a.last, g)
			}
		}
	}
	group := a.groups[mate]
	if group == 0 {
		if all[mate].Server == all[i].Server {
			return false
		}
		a.last++
		group = a.last
		a.groups[mate], a.members[group] = group, []int{mate}
	} else if slices.ContainsFunc(a.members[group], func(d int) bool { return d != i && all[d].Server == all[i].Server }) {
		return false
	}
	if old := a.groups[i]; old != group {
		if old != 0 {
			a.members[old] = slices.DeleteFunc(a.members[old], func(d int) bool { return d == i })
		}
		a.groups[i], a.members[group] = group, append(a.members[group], i)
	}
	return true
}

// markCopied marks the documents of some servers that are near copies of similar tools, and adds them to their groups.
func (a *addition) markCopied(copiers map[string]bool, similar map[int]bool) bool {
	if len(similar) == 0 {
		return true
	}
	var some []int
	for i, t := range a.set.All() {
		if copiers[t.Server] || similar[i] {
			some = append(some, i)
		}
	}
	if len(some) > mostCompared {
		return false
	}
	tools := make([]entry, len(some))
	for k, i := range some {
		tools[k] = a.entry(i)
	}
	for _, c := range findCopies(tools, newSketches(tools), a.x.params) {
		if i := some[c.copy]; copiers[tools[c.copy].tool.Server] {
			a.copies[i] = true
			a.join(i, some[c.of])
		}
	}
	return true
}

// newDescriptionAnalyzer returns a function that returns the words of a tool's description as they are in the index.
func newDescriptionAnalyzer() func(*tool.Tool) []index.Term {
	an := new(knowledge.Analyzer)
	return func(t *tool.Tool) []index.Term { return an.Count(knowledge.ToolText(t).Description) }
}
