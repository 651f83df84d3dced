package catalog

import (
	"bytes"
	"encoding/json"
	"slices"

	"tooldex/tool"
)

// Overlay adds to, or overrides, what is known about tools of any source. It stays in force when a source is synced
// again, and for tools that come later.
type Overlay struct {
	Name string `json:"-"` // the base name of its file; an overlay of the same name takes its place
	// Tools holds a patch for each tool that the overlay speaks of. Under the name "*" stands one for all tools of a
	// server; that of the tool itself applies after it.
	Tools map[tool.ID]*Patch `json:"tools"`
	// Pending keeps it out of force: it is stored, and changes no tool.
	Pending bool `json:"pending,omitempty"`
}

// everyTool stands for all tools of a server in the IDs of an Overlay.
const everyTool = "*"

// Patch is what an Overlay says of one tool. What is nil or empty changes nothing. Lists are added to the tool's own;
// everything else takes its place.
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
	By         []string         `json:"by,omitempty"` // who generated it, where that is known; no file says so
}

// fields adds to f how each part of the patch is read.
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

// overlay reads the mapping under overlay. A summary that is too long is refused here, where its line is known.
func (d *document) overlay(n node) (*Overlay, error) {
	out := &Overlay{Name: d.base(), Tools: map[tool.ID]*Patch{}}
	members, err := n.members()
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		id, err := tool.ParseID(m.key)
		if err != nil {
			return nil, d.bad(m.line, nil, "write it as server/name, for example github/create_issue, or github/* for all of them", "%q is not the ID of a tool", m.key)
		}
		p, f := &Patch{}, fields{}
		p.fields(f)
		if err := f.read(m.value, "an overlay"); err != nil {
			return nil, err
		}
		if p.Summary != nil {
			if err := tool.CheckSummary(id, *p.Summary); err != nil {
				return nil, d.bad(m.line, err, "shorten it", "the summary is too long")
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

// apply changes t. Lists are replaced, not written to.
func (p *Patch) apply(t *tool.Tool) {
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
	t.Keywords = plus(t.Keywords, p.Keywords, equal)
	t.Synonyms = plus(t.Synonyms, p.Synonyms, equal)
	t.Related = plus(t.Related, p.Related, equal)
	t.Examples = plus(t.Examples, p.Examples, func(a, b tool.Example) bool {
		return a.Description == b.Description && a.Output == b.Output && bytes.Equal(a.Invocation, b.Invocation)
	})
	t.Utterances = plus(t.Utterances, p.Utterances, func(a, b tool.Utterance) bool { return a.Text == b.Text })
}

func equal[T comparable](a, b T) bool { return a == b }

// plus returns a new list of own and those of more that it does not have yet.
func plus[T any](own, more []T, same func(a, b T) bool) []T {
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

func (o *Overlay) encode() ([]byte, error) { return json.Marshal(o) }

func decodeOverlay(name string, b []byte) (*Overlay, error) {
	o := &Overlay{Name: name}
	err := json.Unmarshal(b, o)
	return o, err
}
