package sources

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// node is one value of a catalogue file, in YAML or in JSON. Its methods hide which of them it is. Both forms keep what
// an error needs: the line in YAML, the offset in JSON, from which lineNumber computes the line.
type node struct {
	d    *document
	yaml *yaml.Node // nil in JSON; may be an alias, which target follows
	json span
}

// member is one key of a mapping with its value.
type member struct {
	key   string
	line  int
	value node
}

// Limits of a YAML file with its aliases followed: the number of values and their depth. A few lines of aliases of
// aliases could stand for billions of values.
const (
	maxNodes = 2_000_000
	maxDepth = 200
)

// readYAML reads a catalogue file, an overlay or an mcpServers file in YAML.
func (d *document) readYAML() (*Content, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(d.data, &root); err != nil {
		return nil, d.invalidAt(0, err, "a YAML checker shows what is wrong; indentation and tabs are the usual cause",
			"malformed YAML")
	}
	if len(root.Content) == 0 {
		return nil, d.invalidAt(0, nil, kinds, "the file is empty")
	}
	// The size is checked before anything is read, since every reader below follows aliases.
	left := maxNodes
	if err := d.checkSize(root.Content[0], 0, &left); err != nil {
		return nil, err
	}
	top := node{d: d, yaml: root.Content[0]}
	// An mcpServers file in YAML is converted to JSON, so that one parser reads both.
	for _, m := range top.optionalMembers() {
		if m.key == "mcpServers" || m.key == "servers" && m.value.isMapping() {
			raw, err := top.raw()
			if err != nil {
				return nil, err
			}
			list, err := ParseServers(raw)
			return &Content{Servers: list}, d.nameFile(err)
		}
	}
	return d.readCatalogue(top)
}

// checkSize refuses a file that exceeds maxDepth or the number of values in left, with aliases followed.
func (d *document) checkSize(y *yaml.Node, depth int, left *int) error {
	if *left--; *left < 0 || depth > maxDepth {
		return d.invalidAt(y.Line, nil, "write it without aliases of aliases",
			"the file is nested too deeply or stands for too many values")
	}
	if y.Kind == yaml.AliasNode {
		return d.checkSize(y.Alias, depth+1, left)
	}
	for _, c := range y.Content {
		if err := d.checkSize(c, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// lineNumber returns the line at which the value begins, from 1.
func (n node) lineNumber() int {
	if n.yaml != nil {
		return n.yaml.Line
	}
	return n.d.lineAt(n.json.off)
}

// invalidHere returns an Invalid error at the line of the value.
func (n node) invalidHere(hint, format string, args ...any) error {
	return n.d.invalidAt(n.lineNumber(), nil, hint, format, args...)
}

// followAlias returns the YAML node with aliases followed.
func (n node) followAlias() *yaml.Node {
	y := n.yaml
	for y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	return y
}

// isMapping reports whether the value is an object or a YAML mapping, with aliases followed.
func (n node) isMapping() bool {
	if n.yaml != nil {
		return n.followAlias().Kind == yaml.MappingNode
	}
	return n.json.kind() == '{'
}

// isList reports whether the value is an array or a YAML sequence, with aliases followed.
func (n node) isList() bool {
	if n.yaml != nil {
		return n.followAlias().Kind == yaml.SequenceNode
	}
	return n.json.kind() == '['
}

// isText reports whether the value is a string, or in YAML any scalar but null.
func (n node) isText() bool {
	if n.yaml != nil {
		y := n.followAlias()
		return y.Kind == yaml.ScalarNode && y.ShortTag() != "!!null"
	}
	return n.json.kind() == '"'
}

// isNull reports whether the value is null. An empty value is null in YAML.
func (n node) isNull() bool {
	if n.yaml != nil {
		y := n.followAlias()
		return y.Kind == yaml.ScalarNode && y.ShortTag() == "!!null"
	}
	return n.json.kind() == 'n'
}

// optionalMembers returns the members of a mapping, and none for other values.
func (n node) optionalMembers() []member {
	members, err := n.members()
	if err != nil {
		return nil
	}
	return members
}

// members returns the members of a mapping in order. Null counts as an empty mapping. In YAML, keys must be plain and
// must not repeat.
func (n node) members() ([]member, error) {
	if n.isNull() {
		return nil, nil
	}
	if !n.isMapping() {
		return nil, n.invalidHere("write it as key: value", "a mapping is expected here")
	}
	var out []member
	if n.yaml == nil {
		err := n.json.eachMember(func(k string, v span) error {
			out = append(out, member{k, n.d.lineAt(v.off), node{d: n.d, json: v}})
			return nil
		})
		return out, err
	}
	seen := map[string]int{}
	content := n.followAlias().Content
	for i := 0; i+1 < len(content); i += 2 {
		k := content[i]
		// Merge keys (<<) are refused instead of being read as a key of that name.
		if k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge" {
			return nil, n.d.invalidAt(k.Line, nil, "write the keys out", "only plain keys are read here")
		}
		if first, twice := seen[k.Value]; twice {
			return nil, n.d.invalidAt(k.Line, nil, "leave one out", "the key %q is already at line %d", k.Value, first)
		}
		seen[k.Value] = k.Line
		out = append(out, member{k.Value, k.Line, node{d: n.d, yaml: content[i+1]}})
	}
	return out, nil
}

// list returns the elements of a list. Null counts as an empty list.
func (n node) list() ([]node, error) {
	if n.isNull() {
		return nil, nil
	}
	if !n.isList() {
		return nil, n.invalidHere("write it as [one, two], or one to a line behind a hyphen", "a list is expected here")
	}
	var out []node
	if n.yaml == nil {
		err := n.json.eachElement(func(v span) error {
			out = append(out, node{d: n.d, json: v})
			return nil
		})
		return out, err
	}
	for _, c := range n.followAlias().Content {
		out = append(out, node{d: n.d, yaml: c})
	}
	return out, nil
}

// text returns a string. In YAML it accepts numbers and dates, too, as they are written. Null is "".
func (n node) text() (string, error) {
	switch {
	case n.isNull():
		return "", nil
	case !n.isText():
		return "", n.invalidHere("write it as text", "text is expected here")
	case n.yaml == nil:
		return unquoteString(n.json.raw), nil
	}
	return n.followAlias().Value, nil
}

// boolean returns a boolean, and an error for any other value, null included.
func (n node) boolean() (bool, error) {
	if n.yaml == nil {
		if k := n.json.kind(); k == 't' || k == 'f' {
			return k == 't', nil
		}
	} else if y := n.followAlias(); y.Kind == yaml.ScalarNode && y.ShortTag() == "!!bool" {
		var v bool
		return v, y.Decode(&v)
	}
	return false, n.invalidHere("write true or false", "true or false is expected here")
}

// raw returns the value as JSON: in a JSON file a copy of its bytes, otherwise converted with the order of keys kept.
func (n node) raw() (json.RawMessage, error) {
	if n.yaml == nil {
		return json.RawMessage(slices.Clone(n.json.raw)), nil
	}
	return n.appendJSON(nil)
}

// appendJSON appends the value as JSON, with the members of mappings in order.
func (n node) appendJSON(out []byte) ([]byte, error) {
	switch {
	case n.isMapping():
		members, err := n.members()
		if err != nil {
			return nil, err
		}
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendJSONString(out, m.key), ':')
			if out, err = m.value.appendJSON(out); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case n.isList():
		list, err := n.list()
		if err != nil {
			return nil, err
		}
		out = append(out, '[')
		for i, e := range list {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = e.appendJSON(out); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	}
	return n.appendScalar(out)
}

// appendScalar appends a YAML scalar as JSON. Dates become strings; other tags are refused.
func (n node) appendScalar(out []byte) ([]byte, error) {
	y := n.followAlias()
	switch y.ShortTag() {
	case "!!null":
		return append(out, "null"...), nil
	case "!!bool":
		v, err := n.boolean()
		return strconv.AppendBool(out, v), err
	case "!!int", "!!float":
		return n.appendNumber(out, y)
	case "!!str", "!!timestamp":
		return appendJSONString(out, y.Value), nil
	}
	return nil, n.invalidHere("write it as text, a number, true or false", "a value tagged %s cannot be JSON",
		y.ShortTag())
}

// appendNumber keeps a number as it is written if that is JSON; 0x1F, 1_000 and .5 are converted.
func (n node) appendNumber(out []byte, y *yaml.Node) ([]byte, error) {
	if json.Valid([]byte(y.Value)) {
		return append(out, y.Value...), nil
	}
	var i int64
	if y.ShortTag() == "!!int" && y.Decode(&i) == nil {
		return strconv.AppendInt(out, i, 10), nil
	}
	var f float64
	if err := y.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, n.invalidHere("write it as JSON would", "%s is no number that JSON has", y.Value)
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("number at line %d: %w", n.lineNumber(), err)
	}
	return append(out, b...), nil
}
