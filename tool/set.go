package tool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

// Set is an immutable snapshot of all known tools with the names clients see. It is safe for concurrent use; its slices
// and tools are shared and must not be changed. The zero Set is empty.
type Set struct {
	tools   []*Tool // by ID
	byID    map[ID]int
	exposed []string // parallel to tools
	byName  map[string]int
	plain   map[string][]int // by own name, folded
	full    map[string][]int // by server and name, folded
	version string
	held    []heldTool // known, and kept back
	// signatures remembers what was asked for, since reading a schema costs more than a search.
	signatures []atomic.Pointer[string]
}

// Catalog gives the set of tools that exist now. It may return another Set at any time, so code that answers a request
// asks once and keeps the answer; nil means that no catalogue is loaded yet. Implementations are safe for concurrent use.
type Catalog interface{ Set() *Set }

// Count pairs a category or server with its number of enabled tools.
type Count struct {
	Name  string `json:"name"`
	Tools int    `json:"tools"`
}

// NewSet makes a Set of tools. Of two tools with one ID the later wins. Template makes exposed names, as described at
// [ExposedNames]; "" means DefaultTemplate.
func NewSet(tools []*Tool, template string) *Set {
	last := make(map[ID]*Tool, len(tools))
	for _, t := range tools {
		last[t.ID()] = t
	}
	sorted := make([]*Tool, 0, len(last))
	for _, id := range slices.Sorted(maps.Keys(last)) {
		sorted = append(sorted, last[id])
	}
	return newSet(sorted, ExposedNames(sorted, template))
}

// newSet makes a Set of tools that are sorted by ID and their exposed names.
func newSet(tools []*Tool, exposed []string) *Set {
	s := &Set{
		tools: tools, exposed: exposed, signatures: make([]atomic.Pointer[string], len(tools)),
		byID: make(map[ID]int, len(tools)), byName: make(map[string]int, len(tools)),
		plain: make(map[string][]int, len(tools)), full: make(map[string][]int, len(tools)),
	}
	h := sha256.New()
	for i, t := range s.tools {
		s.byID[t.ID()] = i
		s.byName[s.exposed[i]] = i
		key := Fold(t.Name)
		s.plain[key] = append(s.plain[key], i)
		key = Fold(t.Server) + key
		s.full[key] = append(s.full[key], i)
		hash := t.Hash()
		h.Write(hash[:])
		hashBytes(h, []byte(s.exposed[i]+t.Warning))
	}
	s.version = hex.EncodeToString(h.Sum(nil)[:8])
	return s
}

// Subset returns the set of what show returns for each tool, under the names that the tools have in s. Show returns the
// tool itself, a changed copy with the same ID, or nil to leave the tool out.
func (s *Set) Subset(show func(*Tool) *Tool) *Set {
	var tools []*Tool
	var exposed []string
	for i, t := range s.tools {
		if shown := show(t); shown != nil {
			tools = append(tools, shown)
			exposed = append(exposed, s.exposed[i])
		}
	}
	out := newSet(tools, exposed)
	for _, h := range s.held {
		if show(h.tool) != nil {
			out.held = append(out.held, h)
		}
	}
	return out
}

// All returns every tool, by ID.
func (s *Set) All() []*Tool { return s.tools }

// Len returns the number of tools.
func (s *Set) Len() int { return len(s.tools) }

// Version identifies the content: equal sets have equal versions.
func (s *Set) Version() string { return s.version }

// Get returns the tool with this ID.
func (s *Set) Get(id ID) (*Tool, bool) {
	i, ok := s.byID[id]
	if !ok {
		return nil, false
	}
	return s.tools[i], true
}

// Exposed returns the name under which clients see a tool, or "" if the tool is not in the set.
func (s *Set) Exposed(id ID) string {
	i, ok := s.byID[id]
	if !ok {
		return ""
	}
	return s.exposed[i]
}

// Signature returns the signature of the i-th tool of All. The set remembers it.
func (s *Set) Signature(i int) string {
	if p := s.signatures[i].Load(); p != nil {
		return *p
	}
	sig := s.tools[i].Signature()
	s.signatures[i].Store(&sig)
	return sig
}

// Categories counts the enabled tools of each category, by name. Tools without one count under "other".
func (s *Set) Categories() []Count {
	return s.countBy(func(t *Tool) string { return cmp.Or(t.Category, "other") })
}

// Servers counts the enabled tools of each server, by name.
func (s *Set) Servers() []Count { return s.countBy(func(t *Tool) string { return t.Server }) }

// countBy counts the enabled tools by a key, and sorts the counts by it.
func (s *Set) countBy(key func(*Tool) string) []Count {
	n := map[string]int{}
	for _, t := range s.tools {
		if !t.Disabled {
			n[key(t)]++
		}
	}
	out := make([]Count, 0, len(n))
	for k, c := range n {
		out = append(out, Count{k, c})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Fold makes names comparable across spellings: without what separates words, and with ASCII letters in lower case.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == '_' || r == '-' || r == ' ' || r == '.' || r == '/' || r == ':':
			return -1
		}
		return r
	}, s)
}
