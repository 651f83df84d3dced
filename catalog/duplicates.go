package catalog

import (
	"slices"
	"strings"

	"tooldex/index"
	"tooldex/knowledge"
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

// comparedTool is a tool prepared for comparison.
type comparedTool struct {
	tool    *tool.Tool
	names   []string        // as comparableNames returns them
	text    map[string]bool // words of its description
	service []string        // words of its server's name
	params  map[string]bool // nil until parameterNames is called
	number  int32           // of the group that it is the first of
	members []string        // the servers in that group
}

// markDuplicates gives the same number to documents that are one tool, offered by several servers. Two tools of one
// server are never one. Documents and tools have the same order.
func markDuplicates(tools []*tool.Tool, docs []index.Doc) {
	twins := duplicateCandidates(tools, docs)
	kin := copiedServers(tools, twins)
	heads := map[string][]*comparedTool{} // the first of each family, by name
	var last int32
	for i, t := range twins {
		if t == nil {
			continue
		}
		if head := t.findGroup(heads, kin); head != nil {
			head.members = append(head.members, t.tool.Server)
			docs[i].DuplicateGroup = head.number
			continue
		}
		last++
		t.number, t.members, docs[i].DuplicateGroup = last, []string{t.tool.Server}, last
		for _, k := range t.names {
			heads[k] = append(heads[k], t)
		}
	}
}

// duplicateCandidates prepares the tools with a name that more than one server has. The result is nil at the index of
// the others, which are most.
func duplicateCandidates(tools []*tool.Tool, docs []index.Doc) []*comparedTool {
	var an knowledge.Analyzer
	shared := sharedNames(tools)
	out := make([]*comparedTool, len(tools))
	for i, t := range tools {
		names := comparableNames(t)
		if !slices.ContainsFunc(names, func(k string) bool { return shared[k] }) {
			continue
		}
		text := docs[i].Fields[index.Text]
		out[i] = &comparedTool{
			tool: t, names: names, text: make(map[string]bool, len(text)), service: an.Terms(nil, t.Server),
		}
		for _, w := range text {
			out[i].text[w.Text] = true
		}
	}
	return out
}

// pair is two servers in alphabetical order.
type pair [2]string

// pairOf returns the pair of two servers, whatever their order.
func pairOf(a, b string) pair { return pair{min(a, b), max(a, b)} }

// minCommonShare is the share of the smaller server's tools that two servers must have in common before any of them
// count as one tool. Servers that share only a text of their framework have few tools in common.
const minCommonShare = .4

// maxCompared bounds how many tools of one name each other tool of that name is compared with, so that the time stays
// linear. A name of that many different tools is no evidence.
const maxCompared = 64

// copiedServers returns the pairs of servers that have so many tools in common that one may be a copy of the other.
func copiedServers(tools []*tool.Tool, twins []*comparedTool) map[pair]bool {
	sizes, common := map[string]int{}, map[pair]int{}
	for _, t := range tools {
		sizes[t.Server]++
	}
	byName := map[string][]*comparedTool{}
	for _, t := range twins {
		if t == nil {
			continue
		}
		met := map[string]bool{t.tool.Server: true}
		for _, k := range t.names {
			for _, other := range byName[k] {
				if !met[other.tool.Server] && other.isSameTool(t) {
					met[other.tool.Server] = true
					common[pairOf(other.tool.Server, t.tool.Server)]++
				}
			}
			if len(byName[k]) < maxCompared {
				byName[k] = append(byName[k], t)
			}
		}
	}
	kin := map[pair]bool{}
	for p, n := range common {
		kin[p] = float64(n) >= minCommonShare*float64(min(sizes[p[0]], sizes[p[1]]))
	}
	return kin
}

// findGroup returns the first tool of the group that t belongs to, nil if there is none.
func (t *comparedTool) findGroup(heads map[string][]*comparedTool, kin map[pair]bool) *comparedTool {
	for _, k := range t.names {
		for _, head := range heads[k][:min(len(heads[k]), maxCompared)] {
			if kin[pairOf(head.tool.Server, t.tool.Server)] && !slices.Contains(head.members, t.tool.Server) &&
				head.isSameTool(t) {
				return head
			}
		}
	}
	return nil
}

// sharedNames returns the names that more than one server has.
func sharedNames(tools []*tool.Tool) map[string]bool {
	server := make(map[string]string, len(tools))
	shared := map[string]bool{}
	for _, t := range tools {
		for _, k := range comparableNames(t) {
			if first, ok := server[k]; !ok {
				server[k] = t.Server
			} else if first != t.Server {
				shared[k] = true
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
	copied := normalizeName(a.tool.Description) == normalizeName(b.tool.Description)
	if float64(shared) < leastWords*float64(min(len(a.text), len(b.text))) && !copied {
		return false
	}
	pa, pb := a.parameterNames(), b.parameterNames()
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
	return slices.ContainsFunc(a.service, func(w string) bool {
		return a.text[w] && !b.text[w] && !slices.Contains(b.service, w)
	})
}

// countCommon returns the size of the intersection.
func countCommon(a, b map[string]bool) (n int) {
	for k := range a {
		if b[k] {
			n++
		}
	}
	return n
}

// parameterNames parses the schema on first use, which most tools never need.
func (a *comparedTool) parameterNames() map[string]bool {
	if a.params == nil {
		a.params = map[string]bool{}
		for _, p := range a.tool.Parameters() {
			a.params[normalizeName(p.Name)] = true
		}
	}
	return a.params
}
