package sources

import (
	"encoding/json"
	"strings"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// catalogueVersion is the only version of the format that this program reads.
const catalogueVersion = "1"

// group is one server of a catalogue file with its tools. Title, description and category of the server are read, but
// only the category is used: tools without one get it.
type group struct {
	name, title, description, category string
	borrow                             *bool // the default of its tools; nil means true
	tools                              []*tool.Tool
}

// readCatalogue reads a catalogue file: the servers and tools of docs/reference/catalogue-file.md, and an overlay. A
// list at the top is a list of tools.
func (d *document) readCatalogue(top node) (*Content, error) {
	// A bare list has no place for the name of its server, so the file's name serves.
	if top.isList() {
		g := group{name: d.baseName()}
		list, err := top.list()
		if err == nil {
			err = d.toolList(list, &g, nil)
		}
		return &Content{Sources: d.sourcesByServer([]*group{&g})}, err
	}
	content := &Content{}
	own := &group{name: d.baseName()} // of the tools at the top
	var groups []*group
	var tools []node
	err := fields{
		"catalogue":   d.checkVersion,
		"server":      text(&own.name),
		"title":       text(&own.title),
		"description": text(&own.description),
		"category":    text(&own.category),
		"borrow":      boolean(&own.borrow),
		"servers": func(n node) error {
			list, err := n.list()
			for _, e := range list {
				g := &group{}
				if err == nil {
					err = d.readServer(e, g)
				}
				groups = append(groups, g)
			}
			return err
		},
		// These are read after all other keys, since they depend on category and server.
		"tools":   func(n node) (err error) { tools, err = n.list(); return err },
		"overlay": func(n node) (err error) { content.Overlay, err = d.readOverlay(n); return err },
	}.readMapping(top, "a catalogue file")
	// readMapping reports unknown keys, so that a misspelt one is an error and not ignored.
	if err == nil {
		err = d.toolList(tools, own, &groups)
	}
	if err != nil {
		return nil, err
	}
	if len(own.tools) > 0 {
		// The tools at the top come first, in the order in which a reader of the file meets them.
		groups = append([]*group{own}, groups...)
	}
	if len(groups) == 0 && content.Overlay == nil {
		return nil, top.invalidHere(kinds, "holds neither tools nor servers")
	}
	content.Sources = d.sourcesByServer(groups)
	return content, nil
}

// checkVersion refuses a file of a version of the format that is not known.
func (d *document) checkVersion(n node) error {
	v := string(n.json.raw)
	// YAML reads 1 as a number and "1" as text; both are accepted.
	if n.yaml != nil {
		v, _ = n.text() // what is no text is not the version either
	}
	if v != catalogueVersion {
		return n.invalidHere("write catalogue: "+catalogueVersion, "version %.20q of the format is not known", v)
	}
	return nil
}

// readServer reads one element of servers into g.
func (d *document) readServer(n node, g *group) error {
	var tools []node
	err := fields{
		"name": text(&g.name), "title": text(&g.title), "description": text(&g.description),
		"category": text(&g.category),
		"borrow":   boolean(&g.borrow),
		"tools":    func(n node) (err error) { tools, err = n.list(); return err },
	}.readMapping(n, "a server")
	if err != nil {
		return err
	}
	if err := CheckName(g.name); err != nil {
		return n.invalidHere("give it a name, such as github", "the server has no usable name: %q", g.name)
	}
	return d.toolList(tools, g, nil)
}

// toolList reads tools into g. A tool that names another server goes into its group in others; if others is nil, such a
// tool is an error. Defaults of the group apply here, and IDs in related without a server get that of the tool.
func (d *document) toolList(list []node, g *group, others *[]*group) error {
	for _, n := range list {
		t, server, own, err := d.readTool(n)
		if err != nil {
			return err
		}
		into := g
		if server != "" && server != g.name {
			if others == nil {
				return n.invalidHere("leave server out, or move the tool",
					"the tool names server %q, but belongs to %q", server, g.name)
			}
			into = groupNamed(server, others)
		}
		if err := CheckName(into.name); err != nil {
			return n.invalidHere("name the server, such as server: github", "the tool's server has no usable name: %q",
				into.name)
		}
		t.Server = into.name
		if t.Category == "" {
			t.Category = into.category
		}
		// A tool's own borrow has precedence over that of its server.
		if own.Borrow == nil && into.borrow != nil {
			t.NoBorrow = !*into.borrow
		}
		for i, id := range t.Related {
			if !strings.Contains(string(id), "/") {
				t.Related[i] = tool.MakeID(t.Server, string(id))
			}
		}
		into.tools = append(into.tools, t)
	}
	return nil
}

// groupNamed returns the first group of this name, and appends one if there is none.
func groupNamed(name string, groups *[]*group) *group {
	for _, g := range *groups {
		if g.name == name {
			return g
		}
	}
	g := &group{name: name}
	*groups = append(*groups, g)
	return g
}

// sourcesByServer returns a source for each server; groups of one name are merged.
func (d *document) sourcesByServer(groups []*group) []Source {
	var out []Source
	seen := map[string]*group{}
	for _, g := range groups {
		if first, ok := seen[g.name]; ok {
			first.tools = append(first.tools, g.tools...)
			continue
		}
		seen[g.name] = g
		// Parsing has been done; a File with data and parse behaves like one that reads its tools when it is asked.
		out = append(out, &File{name: g.name, data: [][]byte{d.data}, parse: func() ([]*tool.Tool, []sanitize.Finding, error) {
			tools := make([]*tool.Tool, len(g.tools))
			for i, t := range g.tools { // the caller may change them, and may ask again
				one := *t
				tools[i] = &one
			}
			return tools, nil, nil
		}})
	}
	return out
}

// readTool reads one tool and the server that it names, if any. The patch has the keys that a tool shares with an
// overlay, as far as the tool sets them.
func (d *document) readTool(n node) (t *tool.Tool, server string, p *Patch, err error) {
	t, p = &tool.Tool{}, &Patch{}
	f := fields{
		"server": text(&server), "name": text(&t.Name), "description": text(&t.Description), "title": text(&t.Title),
		"inputSchema": raw(&t.InputSchema), "outputSchema": raw(&t.OutputSchema), "_meta": raw(&t.Meta),
		"icons":       raw(&t.Icons),
		"annotations": func(n node) (err error) { t.Annotations, err = readAnnotations(n); return err },
	}
	// The keys that overlays have too are read by the patch, so that both accept the same spellings.
	p.fields(f)
	if err := f.readMapping(n, "a tool"); err != nil {
		return nil, "", nil, err
	}
	p.Apply(t)
	if t.Name == "" {
		return nil, "", nil, n.invalidHere("write name: and what the tool is called", "a tool has no name")
	}
	return t, server, p, nil
}

// raw reads any value as JSON; null leaves the field empty.
func raw(into *json.RawMessage) func(node) error {
	return func(n node) (err error) {
		if !n.isNull() {
			*into, err = n.raw()
		}
		return err
	}
}

// readAnnotations reads annotations strictly: unknown keys and wrong types are errors, unlike in a dump.
func readAnnotations(n node) (*tool.Annotations, error) {
	a := &tool.Annotations{}
	err := fields{
		"title": text(&a.Title), "readOnlyHint": boolean(&a.ReadOnlyHint),
		"destructiveHint": boolean(&a.DestructiveHint),
		"idempotentHint":  boolean(&a.IdempotentHint), "openWorldHint": boolean(&a.OpenWorldHint),
	}.readMapping(n, "annotations")
	return a, err
}

// readExamples returns a reader that appends the examples of a tool to its argument.
func readExamples(into *[]tool.Example) func(node) error {
	return func(n node) error {
		list, err := n.list()
		if err != nil {
			return err
		}
		for _, e := range list {
			var one tool.Example
			if err := (fields{
				"description": text(&one.Description), "invocation": raw(&one.Invocation),
				"expectedOutput": text(&one.Output),
			}).readMapping(e, "an example"); err != nil {
				return err
			}
			*into = append(*into, one)
		}
		return nil
	}
}

// readUtterances accepts each utterance as a text, or as a mapping with its provenance.
func readUtterances(into *[]tool.Utterance) func(node) error {
	return func(n node) error {
		list, err := n.list()
		if err != nil {
			return err
		}
		for _, e := range list {
			var from string
			var u tool.Utterance
			if e.isMapping() {
				err = fields{"text": text(&u.Text), "from": text(&from)}.readMapping(e, "an utterance")
			} else {
				u.Text, err = e.text()
			}
			// The provenance is checked before err, so that a wrong one is named at its own line.
			switch u.From = tool.Provenance(from); u.From {
			case "", tool.Declared, tool.Borrowed, tool.Learned, tool.Generated:
			default:
				return e.invalidHere("use declared, borrowed, learned or generated", "an utterance cannot be from %q",
					from)
			}
			if err != nil {
				return err
			}
			*into = append(*into, u)
		}
		return nil
	}
}

// readRelated reads IDs of tools. Those without a server are completed later, when the server is known.
func readRelated(into *[]tool.ID) func(node) error {
	return func(n node) error {
		var list []string
		err := texts(&list)(n)
		for _, s := range list {
			*into = append(*into, tool.ID(s))
		}
		return err
	}
}

// readDeprecated accepts a text that says what to use instead, or true if there is nothing to say.
func readDeprecated(into **string) func(node) error {
	return func(n node) error {
		s, err := n.text()
		// true and false are texts in YAML, too, so the boolean is tried second and decides.
		if v, boolErr := n.boolean(); boolErr == nil {
			err = nil
			if s = ""; v {
				s = "deprecated"
			}
		}
		*into = &s
		return err
	}
}
