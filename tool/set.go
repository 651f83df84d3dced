package tool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Set is an immutable snapshot of all known tools with the names clients see. It is safe for concurrent use; its slices
// and tools are shared and must not be changed. The zero Set is empty.
type Set struct {
	tools   []*Tool  // by ID
	exposed []string // parallel to tools
	held    []heldTool
	// signatures remembers what was asked for, since reading a schema costs more than a search.
	signatures []atomic.Pointer[string]
	lazy       *lazySet // nil in the zero Set
}

// lazySet is what a set makes of its tools when it is first asked for.
type lazySet struct {
	version func() string
	names   func() setNames
}

// setNames are the names by which the tools of a set are found.
type setNames struct {
	exposed *nameTable
	plain   *nameTable // by own name, folded
	full    *nameTable // by server and name, folded
}

// Catalog gives the set of tools that exist now. It may return another Set at any time, so code that answers a request
// asks once and keeps the answer; nil means that no catalogue is loaded yet. Implementations are safe for concurrent
// use.
type Catalog interface{ Set() *Set }

// Count pairs a category or server with its number of enabled tools.
type Count struct {
	Name  string `json:"name"`
	Tools int    `json:"tools"`
}

// NewSet makes a Set of tools. Of two tools with one ID the later wins. Template makes exposed names, as described at
// [ExposedNames]; "" means DefaultTemplate.
func NewSet(tools []*Tool, template string) *Set {
	if !slices.IsSortedFunc(tools, compareTools) {
		tools = slices.Clone(tools)
		slices.SortStableFunc(tools, compareTools)
	}
	sorted := make([]*Tool, 0, len(tools))
	for _, t := range tools {
		if n := len(sorted); n > 0 && sorted[n-1].Server == t.Server && sorted[n-1].Name == t.Name {
			sorted[n-1] = t
			continue
		}
		sorted = append(sorted, t)
	}
	return newSet(sorted, ExposedNames(sorted, template))
}

// newSet makes a Set of tools that are sorted by ID and their exposed names.
func newSet(tools []*Tool, exposed []string) *Set {
	s := &Set{tools: tools, exposed: exposed, signatures: make([]atomic.Pointer[string], len(tools))}
	s.lazy = &lazySet{version: sync.OnceValue(s.makeVersion), names: sync.OnceValue(s.makeNames)}
	return s
}

func (s *Set) makeVersion() string {
	h := sha256.New()
	for i, t := range s.tools {
		hash := t.Hash()
		h.Write(hash[:])
		hashBytes(h, []byte(s.exposed[i]+t.Warning))
		if t.CategoryDerived {
			hashBytes(h, []byte(t.Category))
		}
		if t.ServerText != "" && (i == 0 || s.tools[i-1].ServerText != t.ServerText) {
			hashBytes(h, []byte(t.ServerText))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (s *Set) makeNames() setNames {
	keys, n := s.nameKeys(), len(s.tools)
	return setNames{newNameTable(n, keys[0]), newNameTable(n, keys[1]), newNameTable(n, keys[2])}
}

// nameKeys returns what appends the key of a tool in each table of setNames, in their order.
func (s *Set) nameKeys() [3]func(dst []byte, i int) []byte {
	return [...]func(dst []byte, i int) []byte{
		func(dst []byte, i int) []byte { return append(dst, s.exposed[i]...) },
		func(dst []byte, i int) []byte { return appendFolded(dst, s.tools[i].Name) },
		func(dst []byte, i int) []byte {
			return appendFolded(appendFolded(dst, s.tools[i].Server), s.tools[i].Name)
		},
	}
}

// find returns the position of the tool with this ID.
func (s *Set) find(id ID) (int, bool) {
	return slices.BinarySearchFunc(s.tools, string(id), (*Tool).compareID)
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
func (s *Set) Version() string {
	if s.lazy == nil {
		return ""
	}
	return s.lazy.version()
}

// Get returns the tool with this ID.
func (s *Set) Get(id ID) (*Tool, bool) {
	i, ok := s.find(id)
	if !ok {
		return nil, false
	}
	return s.tools[i], true
}

// Exposed returns the name under which clients see a tool, or "" if the tool is not in the set.
func (s *Set) Exposed(id ID) string {
	i, ok := s.find(id)
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

// foldedAway separates the words of names.
const foldedAway = "_- ./:"

// Fold makes names comparable across spellings: without what separates words, and with ASCII letters in lower case.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case strings.ContainsRune(foldedAway, r):
			return -1
		}
		return r
	}, s)
}
