package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tooldex/catalog/sources"
	"tooldex/tool"
)

// checker validates a YAML document against a schema, and records the lines of its keys.
type checker struct {
	file  string
	lines map[string]int // of each key that was checked, by its path; from 1
}

// checkNode returns an Invalid error for the first value in n, in the order of the file, that the schema does not
// allow. path is the key of n, "" for the document.
func (c *checker) checkNode(n *yaml.Node, s schema, path string) error {
	if n.Kind == yaml.AliasNode { // it ends: decoding has rejected recursive and exploding aliases
		return c.checkNode(n.Alias, s, path)
	}
	kind, _ := s["type"].(string)
	if s["pattern"] == boolPattern { // YAML reads some spellings of a truth value as texts or numbers
		if _, ok := ParseBool(n.Value); ok && n.Kind == yaml.ScalarNode {
			return nil
		}
		kind = "boolean"
	}
	if kind == "" || kindOf(n) == "null" { // no constraint, or a key without a value, which sets nothing
		return nil
	}
	// a whole number is also a number
	if got := kindOf(n); got != kind && (got != "integer" || kind != "number") {
		return c.invalidAt(n, "write "+wanted[kind], "%s is %s, not %s", path, wanted[got], wanted[kind])
	}
	if choices, ok := s["enum"].([]string); ok && !slices.Contains(choices, n.Value) {
		return c.invalidAt(n, "use one of "+strings.Join(choices, ", "), "%s cannot be %q", path, n.Value)
	}
	if most, ok := s["maximum"].(int); ok {
		least, _ := s["minimum"].(int)
		var x float64
		if err := n.Decode(&x); err != nil || x < float64(least) || x > float64(most) {
			return c.invalidAt(n, fmt.Sprintf("give a number from %d to %d", least, most), "%s cannot be %s", path,
				n.Value)
		}
	}
	switch kind {
	case "object":
		return c.checkObject(n, s, path)
	case "array":
		items, _ := s["items"].(schema)
		for i, e := range n.Content {
			if err := c.checkNode(e, items, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkObject checks the members of a mapping. Unknown keys are mistakes, reported with the nearest known key; secrets
// are rejected, with the variable to set instead.
func (c *checker) checkObject(n *yaml.Node, s schema, path string) error {
	properties := s.properties()
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			if err := c.checkNode(value, s, path); err != nil { // "<<": its members count as members of this mapping
				return err
			}
			continue
		}
		// Mappings with free keys, such as servers and profiles, describe their values by additionalProperties.
		next, ok := properties[key.Value]
		if !ok {
			next, ok = s["additionalProperties"].(schema)
		}
		if !ok {
			where := path
			if where == "" {
				where = "the configuration"
			}
			if env := secretVariable(strings.TrimPrefix(path+"."+key.Value, ".")); env != "" {
				return c.invalidAt(key, "give it in the environment, as "+env,
					"%s.%s is a secret, and stands in no file", path, key.Value)
			}
			hint := "the nearest known key is " + sources.Nearest(key.Value, slices.Sorted(maps.Keys(properties)))
			if elsewhere := settingNamed(key.Value); elsewhere != "" {
				hint = "its place is " + elsewhere
			}
			return c.invalidAt(key, hint, "%s has no key %q", where, key.Value)
		}
		inner := strings.TrimPrefix(path+"."+key.Value, ".")
		// recorded before the value is checked, so that also a faulty key has its line
		c.lines[inner] = key.Line
		if err := c.checkNode(value, next, inner); err != nil {
			return err
		}
	}
	return nil
}

// settingNamed returns the full key of the first setting whose last step is this, "" if there is none. It serves hints
// for keys in the wrong place.
func settingNamed(step string) string {
	for _, s := range Settings() {
		if !s.Secret && (s.Key == step || strings.HasSuffix(s.Key, "."+step)) {
			return s.Key
		}
	}
	return ""
}

// secretVariable returns the environment variable of a secret, "" for a key that is no secret.
func secretVariable(key string) string {
	for _, s := range Settings() {
		if s.Secret && s.Key == key {
			return s.Env
		}
	}
	return ""
}

// invalidAt returns an Invalid error with the file and the line of n.
func (c *checker) invalidAt(n *yaml.Node, hint, format string, args ...any) error {
	return &tool.Error{Code: tool.Invalid, Op: "read configuration", Msg: fmt.Sprintf("%s:%d: ", c.file, n.Line) +
		fmt.Sprintf(format, args...), Hint: hint}
}

// wanted is what messages call the types of the schema.
var wanted = map[string]string{
	"object": "a mapping", "array": "a list", "string": "a text", "boolean": "true or false",
	"integer": "a whole number", "number": "a number",
}

// kindOf returns the JSON Schema type of a node, by the tag that YAML resolves it to.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "object"
	case yaml.SequenceNode:
		return "array"
	}
	switch n.ShortTag() {
	case "!!bool":
		return "boolean"
	case "!!int":
		return "integer"
	case "!!float":
		return "number"
	case "!!null":
		return "null"
	}
	return "string"
}
