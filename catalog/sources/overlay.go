package sources

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Overlay adds to, or overrides, what sources say about tools. It stays in force when a source is synced again, and
// applies to tools that come later.
type Overlay struct {
	Name string `json:"-"` // the base name of its file; an overlay of the same name replaces it
	// Tools holds the patches by tool. The name "*" stands for all tools of a server; the patch of the tool itself
	// applies after that one.
	Tools map[tool.ID]*Patch `json:"tools"`
	// Pending means that the overlay is stored and not in force: it changes no tool.
	Pending bool `json:"pending,omitempty"`
}

// AllTools stands for all tools of a server in the IDs of an [Overlay].
const AllTools = "*"

// Patch is the part of an Overlay for one tool. Fields that are nil or empty change nothing. Lists are added to the
// tool's own; all other fields replace the tool's.
type Patch struct {
	Summary    *string          `json:"summary,omitempty"`
	Category   *string          `json:"category,omitempty"`
	Deprecated *string          `json:"deprecated,omitempty"`
	Enabled    *bool            `json:"enabled,omitempty"`
	Always     *bool            `json:"alwaysInclude,omitempty"`
	Borrow     *bool            `json:"borrow,omitempty"`
	Keywords   []string         `json:"keywords,omitempty"`
	Synonyms   []string         `json:"synonyms,omitempty"`
	Examples   []tool.Example   `json:"examples,omitempty"`
	Utterances []tool.Utterance `json:"utterances,omitempty"`
	Related    []tool.ID        `json:"related,omitempty"`
	By         []string         `json:"by,omitempty"` // who generated it, if known; catalogue files cannot set it
}

// fields adds to f the readers of all keys of a patch.
func (p *Patch) fields(f fields) {
	optional := func(into **string) func(node) error {
		return func(n node) error {
			s, err := n.text()
			*into = &s
			return err
		}
	}
	f["summary"], f["category"], f["deprecated"] = optional(&p.Summary), optional(&p.Category),
		readDeprecated(&p.Deprecated)
	f["enabled"], f["alwaysInclude"], f["borrow"] = boolean(&p.Enabled), boolean(&p.Always), boolean(&p.Borrow)
	f["keywords"], f["synonyms"] = texts(&p.Keywords), texts(&p.Synonyms)
	f["examples"], f["utterances"], f["related"] = readExamples(&p.Examples), readUtterances(&p.Utterances),
		readRelated(&p.Related)
}

// readOverlay reads the mapping under the key overlay. A summary that is too long is refused here, while its line is
// known.
func (d *document) readOverlay(n node) (*Overlay, error) {
	out := &Overlay{Name: d.baseName(), Tools: map[tool.ID]*Patch{}}
	members, err := n.members()
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		id, err := tool.ParseID(m.key)
		if err != nil {
			return nil, d.invalidAt(m.line, nil, "write it as server/name, for example github/create_issue, "+
				"or github/* for all of them", "%q is not the ID of a tool", m.key)
		}
		p, f := &Patch{}, fields{}
		p.fields(f)
		if err := f.readMapping(m.value, "an overlay"); err != nil {
			return nil, err
		}
		if p.Summary != nil {
			if err := sanitize.CheckSummary(id, *p.Summary); err != nil {
				return nil, d.invalidAt(m.line, err, "shorten it", "the summary is too long")
			}
		}
		for i, r := range p.Related {
			if r.Server() == "" {
				p.Related[i] = tool.MakeID(id.Server(), string(r))
			}
		}
		out.Tools[id] = p
	}
	return out, nil
}

// Apply changes t. It replaces lists instead of writing to them, so that t may share them with other tools.
func (p *Patch) Apply(t *tool.Tool) {
	set := func(into *string, s *string) {
		if s != nil {
			*into = *s
		}
	}
	set(&t.Summary, p.Summary)
	set(&t.Category, p.Category)
	set(&t.Deprecated, p.Deprecated)
	if p.Enabled != nil {
		t.Disabled = !*p.Enabled
	}
	if p.Always != nil {
		t.Always = *p.Always
	}
	if p.Borrow != nil {
		t.NoBorrow = !*p.Borrow
	}
	t.Keywords = appendNew(t.Keywords, p.Keywords, equal)
	t.Synonyms = appendNew(t.Synonyms, p.Synonyms, equal)
	t.Related = appendNew(t.Related, p.Related, equal)
	t.Examples = appendNew(t.Examples, p.Examples, func(a, b tool.Example) bool {
		return a.Description == b.Description && a.Output == b.Output && bytes.Equal(a.Invocation, b.Invocation)
	})
	t.Utterances = appendNew(t.Utterances, p.Utterances, func(a, b tool.Utterance) bool { return a.Text == b.Text })
}

// Union returns a patch with the utterances, synonyms and authors of both, and nothing else of either. If p is nil, it
// returns other itself.
func (p *Patch) Union(other *Patch) *Patch {
	if p == nil {
		return other
	}
	return &Patch{
		Utterances: appendNew(p.Utterances, other.Utterances,
			func(x, y tool.Utterance) bool { return x.Text == y.Text }),
		Synonyms: appendNew(p.Synonyms, other.Synonyms, equal),
		By:       appendNew(p.By, other.By, equal),
	}
}

// Clone returns a deep copy of p in the form in which it is stored: empty fields are nil. The error is Invalid, for an
// example whose invocation is not JSON.
func (p *Patch) Clone() (*Patch, error) {
	out := &Patch{}
	b, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(b, out)
	}
	if err != nil {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "edit overlay",
			Msg: "what is said of the tool cannot be stored", Hint: "the invocations of examples must be JSON",
			Err: err,
		}
	}
	for i, e := range out.Examples {
		out.Examples[i].Invocation = bytes.Clone(e.Invocation)
	}
	return out, nil
}

func equal[T comparable](a, b T) bool { return a == b }

// appendNew returns a new list of own and those elements of more that it does not have yet. If more is empty, it
// returns own itself.
func appendNew[T any](own, more []T, same func(a, b T) bool) []T {
	if len(more) == 0 {
		return own
	}
	out := slices.Clone(own)
	for _, m := range more {
		if !slices.ContainsFunc(out, func(o T) bool { return same(o, m) }) {
			out = append(out, m)
		}
	}
	return out
}

// Clone returns a copy of o with a map of its own; the patches are shared.
func (o *Overlay) Clone() *Overlay {
	return &Overlay{Name: o.Name, Pending: o.Pending, Tools: maps.Clone(o.Tools)}
}

// IDs returns the keys of Tools, sorted.
func (o *Overlay) IDs() []tool.ID { return slices.Sorted(maps.Keys(o.Tools)) }

// Encode returns o as it is stored. The name is not included.
func (o *Overlay) Encode() ([]byte, error) { return json.Marshal(o) }

// DecodeOverlay decodes what Encode returned, for an overlay of this name.
func DecodeOverlay(name string, b []byte) (*Overlay, error) {
	o := &Overlay{Name: name}
	err := json.Unmarshal(b, o)
	return o, err
}
