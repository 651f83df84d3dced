package catalog

import (
	"slices"
	"strings"
	"sync"

	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
)

// The thresholds at which the tools of two servers count as one. They were checked on catalogues of real servers:
// forks, versions and second accounts of one server pass, namesakes of other services do not. Only the two tools
// matter, so that the rest of the catalogue cannot change the result.
const (
	leastParams = .5 // of the names of both tools' parameters, those that both have
	leastWords  = .75
	leastShared = 6 // words and parameters that two tools have in common, where their texts differ
	leastCopied = 3 // the same where text and schema agree
	leastStem   = 3 // letters that stay of a name without its server's
)

// comparedTool is a tool prepared for comparison. A large catalogue needs one for nearly every tool, so it is kept
// small. params and copied are safe for concurrent use.
type comparedTool struct {
	tool    *tool.Tool
	hash    *tool.Hash
	names   []string // those of comparableNames that tools of other servers have
	text    []int32  // words of its description
	service []int32  // words of its server's name; shared by the tools of the server
	at      int32    // its place among all tools
	server  int32    // the number of its server
	number  int32    // of the group that it is the first of
	members []int32  // the servers in that group

	parsed, normalized sync.Once
	parameters         []int32        // numbers of their names; see params
	description        store.TextHash // see copied
	known              *parameterNames
}

// params returns the numbers of the names of the tool's parameters. It parses the schema on first use.
func (a *comparedTool) params() []int32 {
	a.parsed.Do(func() { a.parameters = a.known.of(a.tool, *a.hash) })
	return a.parameters
}

// copied returns the hash of the tool's description, normalized. It computes it on first use.
func (a *comparedTool) copied() store.TextHash {
	a.normalized.Do(func() { a.description = store.HashText(normalizeName(a.tool.Description)) })
	return a.description
}

// duplicateFinder finds out which tools are one, from the words of those that may be.
type duplicateFinder struct {
	tools  []*tool.Tool
	shared map[string]string // names that more than one server has; each maps to the one copy that all tools share
	twins  []*comparedTool   // nil at the index of tools that nothing can be a duplicate of, which are most
	words  wordNumbers
	params *parameterNames
	an     knowledge.Analyzer
	// servers has numbers of servers, and sizes the numbers of their tools.
	servers map[string]int32
	sizes   []int32
	// service has the words of the name of the server whose tool was noted last.
	server  string
	service []int32
}

func newDuplicateFinder(tools []*tool.Tool, params *parameterNames) *duplicateFinder {
	f := &duplicateFinder{
		tools: tools, shared: sharedNames(tools), twins: make([]*comparedTool, len(tools)), words: wordNumbers{},
		params: params, servers: map[string]int32{},
	}
	for _, t := range tools {
		n, ok := f.servers[t.Server]
		if !ok {
			n = int32(len(f.sizes))
			f.servers[t.Server], f.sizes = n, append(f.sizes, 0)
		}
		f.sizes[n]++
	}
	return f
}

// isShared reports whether more than one server has a name.
func (f *duplicateFinder) isShared(name string) bool {
	_, ok := f.shared[name]
	return ok
}

// note takes the words of a tool's description, and its content hash. It keeps the pointer, so the hash must not
// change.
func (f *duplicateFinder) note(i int, hash *tool.Hash, text []index.Term) {
	t := f.tools[i]
	var names []string
	for _, k := range comparableNames(t) {
		if shared, ok := f.shared[k]; ok {
			names = append(names, shared)
		}
	}
	if names == nil {
		return
	}
	words := make([]string, len(text))
	for k, w := range text {
		words[k] = w.Text
	}
	if f.service == nil || f.server != t.Server {
		f.server, f.service = t.Server, f.words.of(f.an.Terms(nil, t.Server))
	}
	f.twins[i] = &comparedTool{
		tool: t, at: int32(i), server: f.servers[t.Server], hash: hash, names: names, text: f.words.of(words), service: f.service, known: f.params,
	}
}

// groups gives the same number to tools that are one, offered by several servers, and 0 to the others. Two tools of one
// server are never one.
func (f *duplicateFinder) groups() []int32 {
	out := make([]int32, len(f.tools))
	kin := f.copiedServers()
	heads := map[string][]*comparedTool{} // the first of each family, by name
	var last int32
	for i, t := range f.twins {
		if t == nil {
			continue
		}
		if head := f.findGroup(t, heads, kin); head != nil {
			head.members = append(head.members, t.server)
			out[i] = head.number
			continue
		}
		last++
		t.number, t.members, out[i] = last, []int32{t.server}, last
		for _, k := range t.names {
			heads[k] = append(heads[k], t)
		}
	}
	return out
}

// wordNumbers gives words numbers, which need less memory and are compared faster.
type wordNumbers map[string]int32

// of returns the numbers of words, sorted, each once.
func (w wordNumbers) of(words []string) []int32 {
	out := make([]int32, 0, len(words))
	for _, word := range words {
		n, ok := w[word]
		if !ok {
			n = int32(len(w))
			w[strings.Clone(word)] = n
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// parameterNames has the names of tools' parameters by the content of the tools, so that schemas are parsed once and
// not at each change of the catalogue. It is safe for concurrent use, except for dropUnused.
type parameterNames struct {
	mu    sync.Mutex
	words wordNumbers
	known map[tool.Hash][]int32
}

func newParameterNames() *parameterNames {
	return &parameterNames{words: wordNumbers{}, known: map[tool.Hash][]int32{}}
}

// of returns the numbers of the names of a tool's parameters. It is never nil.
func (p *parameterNames) of(t *tool.Tool, hash tool.Hash) []int32 {
	p.mu.Lock()
	known, ok := p.known[hash]
	p.mu.Unlock()
	if ok && hash != (tool.Hash{}) {
		return known
	}
	var names []string
	for _, one := range t.Parameters() { // without the lock: parsing is what takes the time
		names = append(names, normalizeName(one.Name))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.words.of(names)
	p.known[hash] = out
	return out
}

// dropUnused forgets what is known, once it is of many more tools than there are.
func (p *parameterNames) dropUnused(tools int) {
	if len(p.known) > mostDerived(tools) {
		p.words, p.known = wordNumbers{}, map[tool.Hash][]int32{}
	}
}

// pair is the numbers of two servers, the lower one first.
type pair [2]int32

// pairOf returns the pair of two servers, whatever their order.
func pairOf(a, b int32) pair { return pair{min(a, b), max(a, b)} }

// minCommonShare is the share of the smaller server's tools that two servers must have in common before any of them
// count as one tool. Servers that share only a text of their framework have few tools in common.
const minCommonShare = .4

// maxCompared bounds how many tools of one name each other tool of that name is compared with, so that the time stays
// linear. A name of that many different tools is no evidence.
const maxCompared = 64

// copiedServers returns the pairs of servers with enough tools in common that one may be a copy of the other. It
// compares on all processors.
func (f *duplicateFinder) copiedServers() map[pair]bool {
	common := map[pair]int32{}
	byName := map[string][]*comparedTool{} // the first tools of each name
	for _, t := range f.twins {
		if t == nil {
			continue
		}
		for _, k := range t.names {
			if len(byName[k]) < maxCompared {
				byName[k] = append(byName[k], t)
			}
		}
	}
	// Of a part of the tools at a time, since each may have the same tool as many servers.
	const atOnce = 4096
	like := make([][]int32, min(len(f.twins), atOnce)) // by tool: servers that have the same tool, of those before it
	for part := range slices.Chunk(f.twins, atOnce) {
		inParallel(len(part), func() func(i int) {
			return func(i int) {
				if part[i] != nil {
					like[i] = part[i].sameBefore(like[i][:0], byName)
				}
			}
		})
		for i, t := range part {
			for _, server := range like[i] {
				common[pairOf(server, t.server)]++
			}
			like[i] = like[i][:0]
		}
	}
	kin := map[pair]bool{}
	for p, n := range common {
		if float64(n) >= minCommonShare*float64(min(f.sizes[p[0]], f.sizes[p[1]])) {
			kin[p] = true
		}
	}
	return kin
}

// sameBefore returns the other servers that have this tool, among the tools of byName before it. It uses the memory of
// servers, which is empty.
func (t *comparedTool) sameBefore(servers []int32, byName map[string][]*comparedTool) []int32 {
	for _, k := range t.names {
		for _, other := range byName[k] {
			if other.at >= t.at {
				break
			}
			if s := other.server; s != t.server && !slices.Contains(servers, s) && other.isSameTool(t) {
				servers = append(servers, s)
			}
		}
	}
	return servers
}

// findGroup returns the first tool of the group that t belongs to, nil if there is none.
func (f *duplicateFinder) findGroup(t *comparedTool, heads map[string][]*comparedTool, kin map[pair]bool) *comparedTool {
	for _, k := range t.names {
		for _, head := range heads[k][:min(len(heads[k]), maxCompared)] {
			if kin[pairOf(head.server, t.server)] && !slices.Contains(head.members, t.server) &&
				head.isSameTool(t) {
				return head
			}
		}
	}
	return nil
}

// sharedNames returns the names that more than one server has. Each maps to itself: see duplicateFinder.
func sharedNames(tools []*tool.Tool) map[string]string {
	server := make(map[string]string, len(tools))
	shared := map[string]string{}
	for _, t := range tools {
		for _, k := range comparableNames(t) {
			if first, ok := server[k]; !ok {
				server[k] = t.Server
			} else if first != t.Server {
				shared[k] = k
			}
		}
	}
	return shared
}

// comparableNames returns the forms in which a tool's name is compared: without case and separators, and also without
// the name of the server, which some servers put in front.
func comparableNames(t *tool.Tool) []string {
	full := normalizeName(t.Name)
	if bare, ok := strings.CutPrefix(full, normalizeName(t.Server)); ok && bare != full && len(bare) >= leastStem {
		return []string{full, bare}
	}
	return []string{full}
}

// normalizeName returns s in lower case without blanks and separators. Other characters stay, since they distinguish
// names: "c" and "c++".
func normalizeName(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-./: ,;!\n\t\r", r) {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// isSameTool reports whether two tools are one, by their descriptions and the names of their parameters.
func (a *comparedTool) isSameTool(b *comparedTool) bool {
	shared := countCommon(a.text, b.text)
	if shared == 0 || a.namesOwnService(b) || b.namesOwnService(a) {
		return false
	}
	copied := a.copied() == b.copied()
	if float64(shared) < leastWords*float64(min(len(a.text), len(b.text))) && !copied {
		return false
	}
	pa, pb := a.params(), b.params()
	both := countCommon(pa, pb)
	all := len(pa) + len(pb) - both
	switch {
	case all == 0:
		return copied && shared >= leastCopied
	case copied && both == all:
		return shared+both >= leastCopied
	}
	return float64(both) >= leastParams*float64(all) && shared+both >= leastShared
}

// namesOwnService reports whether the text of a names its own service, and neither b's text nor its server does.
func (a *comparedTool) namesOwnService(b *comparedTool) bool {
	return slices.ContainsFunc(a.service, func(w int32) bool {
		return hasNumber(a.text, w) && !hasNumber(b.text, w) && !hasNumber(b.service, w)
	})
}

// hasNumber reports whether a sorted list has a number.
func hasNumber(list []int32, n int32) bool {
	_, ok := slices.BinarySearch(list, n)
	return ok
}

// countCommon returns how many numbers two sorted lists have in common.
func countCommon[T int32 | uint64](a, b []T) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			n++
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return n
}
